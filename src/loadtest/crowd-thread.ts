import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../clock.ts";
import { Crowd } from "./crowd.ts";
import type { ThreadMessage, ThreadOrder } from "./crowd-thread-messages.ts";
import { openShop } from "./shop.ts";

// The crowd's own thread: the server keeps its event loop, and latencies are the client's.

const progressMs = 100;

async function main(order: ThreadOrder): Promise<void> {
  const stop = new AbortController();
  parentPort?.on("message", () => stop.abort());
  const shop = openShop(order.plan);
  const crowd = new Crowd(order.plan, { shop, clock: systemClock, signal: stop.signal });
  const timer = setInterval(
    () => say({ type: "progress", progress: crowd.progress() }),
    progressMs,
  );
  const result = await crowd.run();
  clearInterval(timer);
  await shop.close();
  say({ type: "done", result });
  parentPort?.close();
}

function say(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

await main(workerData);
