import { Worker } from "node:worker_threads";
import type { CrowdProgress, CrowdResult } from "./crowd.ts";
import type { ThreadMessage, ThreadOrder } from "./crowd-thread-messages.ts";
import type { CrowdPlan } from "./plan.ts";

export type Sending = {
  /** Aborted: the crowd goes home, and the result is what was heard so far. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CrowdProgress) => void;
};

/** Runs a crowd in a thread of its own, apart from any server in this process. */
export function sendCrowd(plan: CrowdPlan, { signal, onProgress }: Sending): Promise<CrowdResult> {
  const order: ThreadOrder = { plan };
  // Nothing that was loaded into this process (a planted bug) belongs into the crowd's thread.
  const thread = new Worker(new URL("./crowd-thread.js", import.meta.url), {
    workerData: order,
    execArgv: [],
  });
  const stop = (): void => thread.postMessage("stop");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return new Promise<CrowdResult>((resolve, reject) => {
    thread.on("message", (message: ThreadMessage) => {
      if (message.type === "progress") onProgress(message.progress);
      else resolve(message.result);
    });
    thread.once("error", reject);
    thread.once("exit", (code) => reject(new Error(`the crowd's thread ended early (${code})`)));
  }).finally(() => signal.removeEventListener("abort", stop));
}
