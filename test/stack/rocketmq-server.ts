import type { TestProject } from "vitest/node";
import { PrivateRocketmq } from "../../stack/rocketmq.ts";
import { impatient } from "../support/rocketmq.ts";

/** One for the whole project; each test has lanes of its own in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await PrivateRocketmq.start(impatient).catch(leftOut);
  const told = server === null ? null : { url: server.url, brokerPort: server.brokerPort };
  project.provide("rocketmq", told);
  return async () => server?.stop();
}

/** Said loudly: what is not tested is not known. */
function leftOut(error: unknown): null {
  if (process.env["CI"] !== undefined) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\nLEFT OUT: the bus's tests on RocketMQ: ${reason}\n\n`);
  return null;
}
