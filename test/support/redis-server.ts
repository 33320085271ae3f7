import { afterAll } from "vitest";
import { PrivateRedis } from "../../stack/redis.ts";

let running: Promise<PrivateRedis> | null = null;
let prefixes = 0;

/** One server for all tests of a file; each test has keys of its own. */
export function sharedRedis(): Promise<PrivateRedis> {
  running ??= PrivateRedis.start(["--enable-debug-command", "yes"]);
  return running;
}

export function ownPrefix(): string {
  prefixes += 1;
  return `test-${prefixes}`;
}

afterAll(async () => {
  await (await running)?.stop();
  running = null;
});
