import { describe, expect, it } from "vitest";
import { type Host, Scheduler, VirtualClock } from "./scheduler.ts";

const forEver = 1e9;
const never = (): boolean => false;

function host(): { alive: boolean; pausedUntil: number } & Host {
  return { alive: true, pausedUntil: 0 };
}

describe("virtual time", () => {
  it("runs events by time, and those of one time in the order they were made", async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    for (const [name, ms] of [
      ["c", 5],
      ["a", 1],
      ["d", 5],
      ["b", 2],
    ] as const) {
      scheduler.after(ms, null, () => seen.push(`${name}@${scheduler.now}`));
    }
    await scheduler.run(never, forEver);
    expect(seen).toEqual(["a@1", "b@2", "c@5", "d@5"]);
  });

  it("lets every promise settle before the next event", async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    scheduler.after(1, null, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => seen.push("settled"));
    });
    scheduler.after(1, null, () => seen.push("next"));
    await scheduler.run(never, forEver);
    expect(seen).toEqual(["settled", "next"]);
  });

  it("keeps the events of one that stands still, and drops those of one that died", async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    const zombie = host();
    const dead = host();
    scheduler.after(2, zombie, () => seen.push(`zombie@${scheduler.now}`));
    scheduler.after(2, dead, () => seen.push("dead"));
    zombie.pausedUntil = 9;
    dead.alive = false;
    await scheduler.run(never, forEver);
    expect(seen).toEqual(["zombie@9"]);
  });

  it("ends a sleep early and for good when its signal aborts", async () => {
    const scheduler = new Scheduler();
    const clock = new VirtualClock(scheduler, null, { skewMs: 7, laziness: 1 });
    const stop = new AbortController();
    const slept = clock.sleep(100, stop.signal);
    stop.abort();
    await slept;
    await scheduler.run(never, forEver);
    expect([scheduler.now, clock.sleeping, scheduler.waiting]).toEqual([0, 0, 0]);
  });
});
