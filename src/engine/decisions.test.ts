import { describe, expect, it } from "vitest";
import { quiet } from "../../test/support/stepped.ts";
import { ManualClock } from "../clock.ts";
import type { CommandResult } from "../domain/command.ts";
import { Decisions } from "./decisions.ts";

const result: CommandResult = { status: "unknown" };

async function settled(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 25) {
    clock.advance(25);
    await quiet();
  }
}

describe("who waits for a decision", () => {
  it("is told it, all of them, and none of another id", async () => {
    const clock = new ManualClock();
    const decisions = new Decisions(clock);
    const both = [decisions.wait("a", 1_000), decisions.wait("a", 9_000)];
    const other = decisions.wait("b", 500);
    decisions.tell("a", result);
    expect(await Promise.all(both)).toEqual([result, result]);
    await settled(clock, 550);
    expect(await other).toBeNull();
    expect(decisions.waiting).toBe(0);
  });

  it("is woken by another process's word to read for himself, if it is the decision", async () => {
    const decisions = new Decisions(new ManualClock());
    const decision = decisions.expect("a", 1_000);
    const change = decisions.wait("b", 1_000);
    decisions.wakeDecided(["a", "b", "c"]);
    expect(await decision.result).toBeNull();
    // Of what comes after the decision nobody has said anything.
    expect(decisions.waiting).toBe(1);
    decisions.releaseAll();
    expect(await change).toBeNull();
  });

  it("is let go when the time is up, not before, and then nothing is kept", async () => {
    const clock = new ManualClock();
    const decisions = new Decisions(clock);
    let told: CommandResult | null | undefined;
    void decisions.wait("a", 1_000).then((value) => {
      told = value;
    });
    await settled(clock, 975);
    expect(told).toBeUndefined();
    await settled(clock, 50);
    expect(told).toBeNull();
    expect(decisions.waiting).toBe(0);
    const again = decisions.wait("a", 100);
    await settled(clock, 150);
    expect(await again).toBeNull();
  });

  it("does not wait at all for no time, or once the signal is given", async () => {
    const decisions = new Decisions(new ManualClock());
    expect(await decisions.wait("a", 0)).toBeNull();
    expect(await decisions.wait("a", -5)).toBeNull();
    expect(await decisions.wait("a", 1_000, AbortSignal.abort())).toBeNull();
    expect(decisions.waiting).toBe(0);
  });

  it("stops when the signal is given, when it is forgotten, when the process stops", async () => {
    const decisions = new Decisions(new ManualClock());
    const stop = new AbortController();
    const signalled = decisions.wait("a", 1_000, stop.signal);
    const expectation = decisions.expect("a", 1_000);
    const last = decisions.wait("b", 1_000);
    stop.abort();
    expect(await signalled).toBeNull();
    expect(decisions.waiting).toBe(2);
    expectation.forget();
    expect(await expectation.result).toBeNull();
    expect(decisions.waiting).toBe(1);
    decisions.releaseAll();
    expect(await last).toBeNull();
    expect(decisions.waiting).toBe(0);
  });

  it("leaves nothing with a signal that lives on", async () => {
    const decisions = new Decisions(new ManualClock());
    const { signal } = new AbortController();
    const added: string[] = [];
    const count = { addEventListener: signal.addEventListener.bind(signal) };
    signal.addEventListener = (...args: Parameters<typeof count.addEventListener>) => {
      added.push("+");
      count.addEventListener(...args);
    };
    const remove = signal.removeEventListener.bind(signal);
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      added.push("-");
      remove(...args);
    };
    const waits = [decisions.wait("a", 1_000, signal), decisions.wait("a", 1_000, signal)];
    decisions.tell("a", result);
    await Promise.all(waits);
    decisions.expect("b", 1_000, signal).forget();
    expect(added).toEqual(["+", "+", "-", "-", "+", "-"]);
  });
});
