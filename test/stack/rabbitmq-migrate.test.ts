import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { sharedRabbitmq } from "../support/rabbitmq-server.ts";

it("migrate declares the queues of every lane, and again changes nothing", async () => {
  const rabbitmq = await sharedRabbitmq();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-migrate-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const queues = async (): Promise<readonly string[]> => {
    const told = await rabbitmq.ctl("list_queues", "name", "type", "--no-table-headers");
    return told.trim().split("\n").filter(Boolean).sort();
  };
  const migrate = (...more: readonly string[]) =>
    runCommand(["migrate", "--json", "--ledger", "sqlite:m.db", "--bus", rabbitmq.url, ...more], {
      cwd: folder,
    });

  expect((await migrate("--dry-run")).code).toBe(0);
  expect(await queues()).toEqual([]);
  expect((await migrate()).code).toBe(0);
  const made = await queues();
  expect(made).toEqual([
    expect.stringMatching(/^holdfast-[\w-]{12}\.dead-letters\tquorum/),
    expect.stringMatching(/^holdfast-[\w-]{12}\.lane-0\tquorum/),
  ]);
  expect((await migrate()).code).toBe(0);
  expect(await queues()).toEqual(made);
});
