import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Running, spawnCommand } from "../support/command-line.ts";

let folder: string;
let first: Running | undefined;
let second: Running | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-dev-"));
});
afterEach(async () => {
  await first?.end("SIGKILL");
  await second?.end("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function dev(...more: readonly string[]): Running {
  return spawnCommand(["dev", "--stock", "30", "--buyers", "200", ...more], { cwd: folder });
}

/** What a reader does with the printed lines: one after the other, in one shell. */
function pasteInto(story: string): string[] {
  const lines = story.split("\n").filter((line) => /^ {2}(\w+=\$\()?curl /.test(line));
  const shell = spawnSync("sh", ["-c", lines.join("\n")], { encoding: "utf8" });
  return `${shell.stdout}${shell.stderr}`.split("\n").filter((line) => line !== "");
}

it("dev shows a rush, the proof, and lines that really buy", async () => {
  first = dev();
  await first.said("Ctrl-C");
  expect(first.out()).toContain("= 30 stocked");
  expect(first.out()).not.toContain("✖");
  const answers = pasteInto(first.out()).join("\n");
  for (const state of ["reserved", "confirmed", "refunded", "cancelled"]) {
    expect(answers).toContain(`"state":"${state}"`);
  }
  expect(answers).toContain('"ok":true');
  expect(answers).not.toContain('"code":"INVALID"');
});

it("dev brings units in first where the crowd has left none", async () => {
  first = spawnCommand(["dev", "--stock", "1", "--buyers", "20"], { cwd: folder });
  await first.said("Ctrl-C");
  expect(first.out()).toContain("/restock");
  expect(pasteInto(first.out()).join("\n")).toContain('"state":"confirmed"');
});

it("dev again on the same ledger opens the next sale; a taken port is left alone", async () => {
  first = dev();
  await first.said("Ctrl-C");
  expect(await first.end("SIGINT")).toBe(0);
  second = dev();
  await second.said("Ctrl-C");
  expect(second.out()).toContain("demo-2");
  first = spawnCommand(["dev", "--stock", "5", "--buyers", "20", "--ledger", "sqlite:x.db"], {
    cwd: folder,
  });
  await first.said("Ctrl-C");
  expect(first.out()).toMatch(/Port 8787 is taken, so this is \d+/);
});
