import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nearest } from "../config-values.ts";
import { type Context, exitCodes } from "./context.ts";
import { CliError, usageError } from "./failure.ts";
import type { Text } from "./text.ts";

const simulator = new URL("../../sim/main.js", import.meta.url);
const register = new URL("../../sim/plant-register.js", import.meta.url);
const main = new URL("./main.js", import.meta.url);

/** Runs this command line again in a process whose engine is broken on purpose. */
export async function runWithBug({ text, stopping }: Context, bug: string): Promise<number> {
  refuseUnknown(bug, plantedBugs(text), text);
  const plant = new URL(register);
  plant.searchParams.set("bug", bug);
  const args = ["--import", plant.href, fileURLToPath(main), ...withoutBug(process.argv.slice(2))];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  stopping().addEventListener("abort", () => child.kill("SIGINT"), { once: true });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? exitCodes.failed));
  });
}

/** The names in the simulator's bank, which only a checkout has. */
function plantedBugs(text: Text): readonly string[] {
  if (!existsSync(simulator)) {
    throw new CliError({
      code: "NO_PLANTED_BUGS",
      what: text("bug.absent.what"),
      why: text("bug.absent.why"),
      next: text("bug.absent.next"),
      exitCode: exitCodes.failed,
    });
  }
  const args = [fileURLToPath(simulator), "--bugs", "--json"];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const { bugs }: { bugs: string[] } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}");
  return bugs;
}

function refuseUnknown(bug: string, bugs: readonly string[], text: Text): void {
  if (bugs.includes(bug)) return;
  const suggestion = nearest(bug, bugs);
  const meant = suggestion === undefined ? "" : ` ${text("config.meant", { suggestion })}`;
  const next = "npm run sim -- --bugs --json";
  throw usageError(text("bug.unknown", { bug }) + meant, "", next);
}

function withoutBug(argv: readonly string[]): string[] {
  return argv.filter((word, at) => !/^--bug(=|$)/.test(word) && argv[at - 1] !== "--bug");
}
