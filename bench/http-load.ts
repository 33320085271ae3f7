import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { HttpOrder, HttpTally } from "./http-order.ts";
import { BrokenInvariant } from "./world.ts";

/** Loads a server of this thread from a thread of its own. */
export async function httpLoad(order: HttpOrder): Promise<HttpTally> {
  const thread = new Worker(new URL("./http-thread.js", import.meta.url), { workerData: order });
  const [tally]: HttpTally[] = await once(thread, "message");
  await thread.terminate();
  if (tally === undefined) throw new Error("the load thread said nothing");
  if (tally.strange > 0) {
    throw new BrokenInvariant(`${tally.strange} answers like this one: ${tally.example}`);
  }
  return tally;
}
