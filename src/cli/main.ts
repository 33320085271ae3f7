#!/usr/bin/env node
import { createInterface } from "node:readline/promises";
import { run, type World } from "./run.ts";

// The process around a command: streams, signals, the exit code.

/** One key press reaches a process twice when npm passes it on. */
const doubleMs = 200;

const stop = new AbortController();
let isGentle = false;
let firstAt = Number.NEGATIVE_INFINITY;

const world: World = {
  argv: process.argv.slice(2),
  env: process.env,
  isOutTerminal: process.stdout.isTTY === true,
  isErrTerminal: process.stderr.isTTY === true,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  ask: async (question) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await reader.question(question);
    } finally {
      reader.close();
    }
  },
  stopping: () => {
    isGentle = true;
    return stop.signal;
  },
};

function onSignal(signal: NodeJS.Signals): void {
  const isDouble = performance.now() - firstAt < doubleMs;
  if (isDouble) return;
  if (!isGentle || stop.signal.aborted) process.exit(signal === "SIGTERM" ? 143 : 130);
  firstAt = performance.now();
  stop.abort(signal);
}

process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// A reader that went away (`| head`) is no reason for a stack trace.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit(0);
});

const exitCode = await run(world);
// What is left (an idle connection, a timer) must not hold up the end of a command.
process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
