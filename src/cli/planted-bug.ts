import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Context } from "./context.ts";
import { exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";

/** Runs this command line again in a process whose engine is broken on purpose. */
export async function runWithBug({ text }: Context, bug: string): Promise<number> {
  const plant = new URL("../../sim/plant.js", import.meta.url);
  if (!existsSync(plant)) {
    throw new CliError({
      code: "NO_PLANTED_BUGS",
      what: text("bug.absent.what"),
      why: text("bug.absent.why"),
      next: text("bug.absent.next"),
      exitCode: exitCodes.failed,
    });
  }
  plant.searchParams.set("bug", bug);
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const args = ["--import", plant.href, main, ...withoutBug(process.argv.slice(2))];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? exitCodes.failed));
  });
}

function withoutBug(argv: readonly string[]): string[] {
  return argv.filter((word, at) => !/^--bug(=|$)/.test(word) && argv[at - 1] !== "--bug");
}
