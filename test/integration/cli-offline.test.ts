import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../support/command-line.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-offline-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(["audit verify", "reconcile"])("%s on a ledger without a server", (command) => {
  const run = (file: string) =>
    runCommand([...command.split(" "), "--ledger", `sqlite:${file}`, "--json"], { cwd: folder });

  it("never migrates: a file without a ledger stays as it is", async () => {
    writeFileSync(join(folder, "empty.db"), "");
    const { code, lines } = await run("empty.db");
    expect(code).toBe(1);
    const { error } = JSON.parse(lines.at(-1) ?? "");
    expect(error).toMatchObject({ code: "LEDGER_SCHEMA" });
    expect(error.next).toContain("holdfast migrate");
    expect(readFileSync(join(folder, "empty.db"))).toHaveLength(0);
  });

  it("reads one that is there, and says where none is", async () => {
    await runCommand(["migrate", "--ledger", "sqlite:ledger.db"], { cwd: folder });
    const before = readFileSync(join(folder, "ledger.db"));
    expect((await run("ledger.db")).code).toBe(0);
    expect(readFileSync(join(folder, "ledger.db"))).toEqual(before);
    const missing = await run("nosuch.db");
    expect(missing.code).toBe(1);
    expect(missing.err).toContain("sqlite:nosuch.db");
  });
});
