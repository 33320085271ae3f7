import { describe, expect, it } from "vitest";
import { quiet, Stage } from "../../test/support/stepped.ts";

describe("buyers who come in one turn of the event loop", () => {
  it("are admitted by one call, though each socket is read by itself", async () => {
    const turns: (() => void)[] = [];
    const turn = (): Promise<void> => new Promise((resolve) => turns.push(resolve));
    const stage = await Stage.open();
    const process = await stage.started({}, turn);
    const calls: number[] = [];
    process.bends.hot.admit = (fence, tickets) => {
      calls.push(tickets.length);
      return stage.memory.admit(fence, tickets);
    };
    const asked = [process.ask("k1")];
    await quiet();
    asked.push(process.ask("k2"), process.ask("k3"));
    await quiet();
    expect(calls).toEqual([]);
    expect(turns).toHaveLength(1);
    turns[0]?.();
    await quiet();
    expect(calls).toEqual([3]);
    await process.drive(Promise.all(asked));
  });

  it("hold up nobody who comes later: theirs is the next turn", async () => {
    let turns = 0;
    const turn = async (): Promise<void> => {
      turns += 1;
    };
    const process = await (await Stage.open()).started({}, turn);
    for (const key of ["k1", "k2"]) await process.reserve(key);
    expect(turns).toBe(2);
  });
});
