import { afterAll } from "vitest";
import { PrivateRabbitmq } from "../../stack/rabbitmq.ts";

let running: Promise<PrivateRabbitmq> | null = null;

/** One server for all tests of a file; each test has queues of its own. */
export function sharedRabbitmq(): Promise<PrivateRabbitmq> {
  running ??= PrivateRabbitmq.start();
  return running;
}

afterAll(async () => {
  await (await running)?.stop();
  running = null;
});
