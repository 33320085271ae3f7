import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, runCommand, spawnCommand } from "../support/command-line.ts";

const root = new URL("../../", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, root), "utf8");
const readmes = ["README.md", "README.zh-CN.md"] as const;

function firstPurchase(readme: string): string {
  const block = /<!-- first-purchase -->\n```sh\n([\s\S]*?)```/.exec(read(readme))?.[1];
  if (block === undefined) throw new Error(`${readme} has no first purchase`);
  return block;
}

const code = (readme: string): string =>
  firstPurchase(readme)
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");

let folder: string;
let dev: Running;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-readme-"));
  dev = spawnCommand(["dev", "--stock", "200", "--buyers", "100", "--json"], { cwd: folder });
  await dev.said("}\n");
  ({ url } = JSON.parse(dev.out()));
});
afterAll(async () => {
  await dev.end("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

describe("the README", () => {
  it("shows the same lines in both languages", () => {
    expect(code(readmes[1])).toBe(code(readmes[0]));
  });

  it.each(readmes)("%s: its first purchase works as it stands there", (readme) => {
    const lines = firstPurchase(readme)
      .replace("http://127.0.0.1:8787", url)
      .replaceAll("click-1", `click-${readme}`);
    const { stdout, status } = spawnSync("sh", ["-e"], {
      cwd: folder,
      input: lines,
      encoding: "utf8",
    });
    expect(status).toBe(0);
    for (const state of ["reserved", "confirmed", "refunded"]) {
      expect(stdout).toContain(`"state":"${state}"`);
    }
    expect(stdout).toContain('{"ok":true');
    expect(stdout).toContain('"drift":0');
    expect(stdout).not.toContain('"status":4');
  });

  it.each(readmes)("%s: its backend reserves and pays as it stands there", (readme) => {
    const [, code = ""] = /<!-- client -->\n```ts\n([\s\S]*?)```/.exec(read(readme)) ?? [];
    const program = code
      .replace("holdfast/client", new URL("dist/src/client/client.js", root).href)
      .replace("http://127.0.0.1:8787", url)
      .replace("cart-4711", `cart-${readme}`);
    const file = join(folder, `${readme}.mjs`);
    writeFileSync(file, program);
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    expect({ stdout, stderr, status }).toEqual({ stdout: "confirmed\n", stderr: "", status: 0 });
  });

  it.each([...readmes, "docs/operations.md"])("%s links only to what is there", (name) => {
    const links = [...read(name).matchAll(/\]\((?!http)([^)#]+)\)/g)].map(
      (match) => match[1] ?? "",
    );
    const missing = links.filter((link) => !existsSync(new URL(link, new URL(name, root))));
    expect(missing).toEqual([]);
  });

  it.each([...readmes, "docs/operations.md"])("%s names only commands that exist", async (name) => {
    const named = [...read(name).matchAll(/holdfast ((?:[a-z-]+ )?[a-z-]+)[^\n`]*/g)];
    const commands = new Set(named.map((match) => match[1] ?? ""));
    for (const command of commands) {
      const [first = "", second = ""] = command.split(" ");
      const path = ["sale", "stock", "dead-letters", "config", "audit"].includes(first)
        ? [first, second]
        : [first];
      const { code: exit } = await runCommand([...path, "--help"], { cwd: folder });
      expect({ command, exit }).toEqual({ command, exit: 0 });
    }
  });
});
