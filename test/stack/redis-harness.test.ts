import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";

const stackFile = fileURLToPath(new URL("../../dist/stack/main.js", import.meta.url));
const patienceMs = 20_000;

let stack: ChildProcess;
afterEach(() => void stack.kill("SIGKILL"));

type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

function run(...args: readonly string[]): { readonly ended: Promise<Ran>; out(): string } {
  stack = spawn(process.execPath, [stackFile, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  const heard = { out: "", err: "" };
  stack.stdout?.on("data", (chunk) => {
    heard.out += String(chunk);
  });
  stack.stderr?.on("data", (chunk) => {
    heard.err += String(chunk);
  });
  const ended = once(stack, "close").then(([code]) => ({ code: Number(code), ...heard }));
  return { ended, out: () => heard.out };
}

/** The port and folder of the Redis that the stack has started. */
async function running(...more: readonly string[]) {
  const stack = run("--json", "--only", "redis", ...more);
  await until(async () => stack.out().endsWith("}\n"));
  const { redis }: { redis: string } = JSON.parse(stack.out());
  const client = new Redis(redis);
  const [, folder] = await client.config("GET", "dir").then((found) => found as string[]);
  client.disconnect();
  return { ended: stack.ended, port: Number(new URL(redis).port), folder: folder ?? "" };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const untilMs = systemClock.mono() + patienceMs;
  while (!(await holds())) {
    if (systemClock.mono() > untilMs) throw new Error("not in time");
    await systemClock.sleep(50);
  }
}

function isGone({ port, folder }: { port: number; folder: string }): () => Promise<boolean> {
  return async () => {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    return isOpen === false && !existsSync(folder);
  };
}

describe("npm run stack", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends in order on %s, and leaves nothing",
    async (how) => {
      const server = await running();
      expect(existsSync(server.folder)).toBe(true);
      stack.kill(how);
      const { code, err } = await server.ended;
      expect(code).toBe(0);
      expect(err).toContain("redis");
      expect(await isGone(server)()).toBe(true);
    },
  );

  it("ends when its input does, if it is told to watch it", async () => {
    const server = await running("--while-stdin-open");
    stack.stdin?.end();
    expect((await server.ended).code).toBe(0);
    expect(await isGone(server)()).toBe(true);
  });

  it("is outlived by nothing when it is killed without a word", async () => {
    const server = await running();
    stack.kill("SIGKILL");
    await server.ended;
    await until(isGone(server));
  });

  it("refuses a server that it does not have, and an option that it does not know", async () => {
    const named = await run("--only", "redis,oracle").ended;
    expect(named.code).toBe(2);
    expect(named.err).toContain('"oracle"');
    expect((await run("--nosuch").ended).code).toBe(2);
  });
});
