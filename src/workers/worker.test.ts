import { describe, expect, it } from "vitest";
import { quiet } from "../../test/support/stepped.ts";
import { ManualClock } from "../clock.ts";
import { silentEvents } from "../events.ts";
import { runWorker } from "./worker.ts";

describe("the loop of a worker", () => {
  it("steps while there is work, idles when there is none, and ends with the signal", async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const work = [3, 1, 0];
    const worker = {
      name: "w",
      step: async () => {
        const next = work.shift() ?? 0;
        done.push(`step ${next}`);
        return next;
      },
      idle: async () => {
        done.push("idle");
        stop.abort();
      },
    };
    const random = { next: () => 0.5, bytes: (length: number) => Buffer.alloc(length) };
    const tools = { clock: new ManualClock(), random, events: silentEvents };
    await runWorker(worker, tools, stop.signal);
    expect(done).toEqual(["step 3", "step 1", "step 0", "idle"]);
  });

  it("pauses after a failure, longer each time, up to a bound; a step ends that", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const pauses: number[] = [];
    let failing = 12;
    const failed: string[] = [];
    const worker = {
      name: "w",
      step: async () => {
        failing -= 1;
        if (failing >= 0 || failing === -2) throw new Error("away");
        return 1;
      },
      idle: async () => {},
    };
    const slow = {
      now: () => clock.now(),
      mono: () => clock.mono(),
      sleep: async (ms: number) => {
        pauses.push(ms);
        if (pauses.length === 13) stop.abort();
        await quiet();
      },
    };
    const events = { ...silentEvents, workerFailed: (name: string) => failed.push(name) };
    const random = { next: () => 0.5, bytes: (length: number) => Buffer.alloc(length) };
    await runWorker(worker, { clock: slow, random, events }, stop.signal);
    expect(pauses.slice(0, 7)).toEqual([20, 40, 80, 160, 320, 640, 1_280]);
    expect(pauses.slice(7, 12)).toEqual([2_000, 2_000, 2_000, 2_000, 2_000]);
    expect(pauses[12]).toBe(20);
    expect(failed).toHaveLength(13);
  });
});
