import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Context } from "./context.ts";
import { exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";
import type { Text } from "./text.ts";

const stackFile = new URL("../../stack/main.js", import.meta.url);

/** Servers that live as long as this process lets them, and end with it however it dies. */
export type OwnStack = {
  /** By the name of the server, as the flags of `serve` take them. */
  readonly urls: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

export async function startOwnStack(
  { text }: Context,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<OwnStack> {
  if (!existsSync(stackFile)) throw absent(text);
  const only = servers.join(",");
  const args = [fileURLToPath(stackFile), "--json", "--while-stdin-open", "--only", only];
  // Not of our process group: a Ctrl-C is for us, and it ends when its input does.
  const stdio = ["pipe", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, args, { stdio: [...stdio], detached: true });
  const ended = once(child, "close");
  const end = (): void => void child.stdin.end();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const line = await firstLine(child);
  // From here on the caller says when: what it has begun may need its servers a little longer.
  signal.removeEventListener("abort", end);
  if (line === null) {
    await ended;
    throw failed(text, {
      only,
      exitCode: signal.aborted ? exitCodes.interrupted : exitCodes.failed,
    });
  }
  const urls: Record<string, string> = JSON.parse(line);
  const stop = async (): Promise<void> => {
    end();
    await ended;
  };
  return { urls, stop };
}

/** Null where it ended without one. */
function firstLine({ stdout }: ChildProcess): Promise<string | null> {
  if (stdout === null) return Promise.resolve(null);
  const lines = createInterface({ input: stdout });
  return new Promise((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(null));
  });
}

function absent(text: Text): CliError {
  return new CliError({
    code: "NO_STACK",
    what: text("stack.absent.what"),
    why: text("stack.absent.why"),
    next: text("stack.absent.next"),
    exitCode: exitCodes.failed,
  });
}

function failed(text: Text, facts: { only: string; exitCode: number }): CliError {
  return new CliError({
    code: "STACK_FAILED",
    what: text("stack.failed.what"),
    why: text("stack.failed.why"),
    next: text("stack.failed.next", { servers: facts.only }),
    exitCode: facts.exitCode,
  });
}
