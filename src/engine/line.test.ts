import { describe, expect, it } from "vitest";
import { bent } from "../../test/support/bent-ports.ts";
import { commands, wordOf } from "../../test/support/commands.ts";
import { type Process, quiet, Stage } from "../../test/support/stepped.ts";
import { systemRandom } from "../clock.ts";
import type { Command } from "../domain/command.ts";
import { Fault } from "../domain/fault.ts";
import { InvariantError } from "../domain/invariant.ts";
import { reservationId } from "../domain/values.ts";
import type { Commit } from "../ledger/ledger.ts";
import { Line } from "./line.ts";

const restock = (name: string): Command => commands.give("restock", name, 1);

/** A process whose commits are noted; `hold` keeps the next one under way until it is let go. */
async function noting(): Promise<{
  process: Process;
  batches: Command[][];
  hold: () => () => void;
}> {
  const stage = await Stage.open();
  const process = await stage.started();
  const batches: Command[][] = [];
  let gate: Promise<void> = Promise.resolve();
  process.bends.ledger.commit = async (asked): Promise<Commit> => {
    batches.push([...asked]);
    const held = gate;
    gate = Promise.resolve();
    await held;
    return stage.ledger.commit(asked);
  };
  const hold = (): (() => void) => {
    let release = (): void => {};
    gate = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  };
  return { process, batches, hold };
}

it("tells other processes what is decided, once a batch, never before the commit", async () => {
  const stage = await Stage.open();
  const { parts } = await stage.started({ stock: { A: 5 } });
  const told: (readonly string[])[] = [];
  const { decisions, projector, clock, events } = parts;
  let isAway = true;
  const ledger = bent(stage.ledger, {
    commit: async (asked) => {
      if (isAway) throw new Fault("STOPPING", "the ledger is away");
      return stage.ledger.commit(asked);
    },
  });
  const news = { tell: (ids: readonly string[]) => void told.push(ids) };
  const line = new Line({
    ledger,
    projector,
    decisions,
    clock,
    events,
    random: systemRandom,
    news,
  });
  const tickets = ["o1", "o2"].map((name) => ({
    ...commands.cancel(true),
    id: reservationId(name),
  })) as Command[];
  await expect(line.run(tickets)).rejects.toThrow("away");
  expect(told).toEqual([]);
  isAway = false;
  const here = decisions.expect("o2", 1_000);
  await line.run(tickets);
  // Who waits here is told here.
  expect(told).toEqual([["o1"]]);
  expect(await here.result).toMatchObject({ status: "accepted" });
});

describe("the group commit", () => {
  it("lets a lone command wait for nobody", async () => {
    const { process, batches } = await noting();
    expect(wordOf(await process.one(restock("o1")))).toBe("accepted");
    expect(batches.map(({ length }) => length)).toEqual([1]);
  });

  it("decides together what came while a transaction was under way", async () => {
    const { process, batches, hold } = await noting();
    const release = hold();
    const all = ["o1", "o2", "o3", "o2"].map((name) => process.one(restock(name)));
    await quiet();
    expect(batches.map(({ length }) => length)).toEqual([1]);
    release();
    const words = (await Promise.all(all)).map(wordOf);
    expect(words).toEqual(["accepted", "accepted", "accepted", "accepted again"]);
    expect(batches.map(({ length }) => length)).toEqual([1, 3]);
    expect(await process.levels()).toMatchObject({ balances: { available: 8 }, behind: 0 });
    await process.expectCoherent();
  });

  it("bounds a transaction, and keeps the order of those who wait", async () => {
    const { process, batches, hold } = await noting();
    const release = hold();
    const runs = [1, 300, 300, 100].map((length, run) =>
      process.parts.line.run(Array.from({ length }, (_, n) => restock(`o${run}-${n}`))),
    );
    await quiet();
    release();
    await Promise.all(runs);
    expect(batches.map(({ length }) => length)).toEqual([1, 300, 400]);
  });

  it("gives what nobody waits for a share of each transaction, all of an idle one", async () => {
    const { process, batches, hold } = await noting();
    const release = hold();
    const buyers = [1, 100, 450].map((length, run) =>
      process.parts.line.run(Array.from({ length }, (_, n) => restock(`o${run}-${n}`))),
    );
    const swept = process.parts.line.runGivingWay(
      Array.from({ length: 800 }, () => commands.expire()),
    );
    await quiet();
    release();
    await Promise.all(buyers);
    expect(await process.drive(swept)).toHaveLength(800);
    const kinds = batches.map((batch) => {
      const expired = batch.filter(({ kind }) => kind === "expire").length;
      return [batch.length - expired, expired];
    });
    // A quarter of what others wait for, in a transaction of the usual size; then as much as it
    // holds.
    expect(kinds).toEqual([
      [1, 0],
      [100, 25],
      [450, 50],
      [0, 500],
      [0, 225],
    ]);
  });

  it("lets those come back that were there a moment ago, and waits for nobody else", async () => {
    const { process, batches } = await noting();
    const { clock } = process.stage;
    const sweep = Array.from({ length: 40 }, () => commands.expire());
    expect(await process.drive(process.parts.line.runGivingWay(sweep))).toHaveLength(40);
    expect(batches.map(({ length }) => length)).toEqual([40]);
    await process.one(restock("o1"));
    const swept = process.parts.line.runGivingWay(sweep);
    await quiet();
    // They are back: one transaction for both.
    const back = process.one(restock("o2"));
    await back;
    await quiet();
    expect(batches.map(({ length }) => length)).toEqual([40, 1, 17]);
    // They are not: the rest is done without them.
    clock.advance(5);
    await swept;
    expect(batches.map(({ length }) => length)).toEqual([40, 1, 17, 24]);
  });

  it("tells again a batch whose outcome is unknown, and nothing is done twice", async () => {
    const { process, batches } = await noting();
    let answers = 0;
    process.bends.ledger.commit = async (asked) => {
      batches.push([...asked]);
      const done = await process.stage.ledger.commit(asked);
      answers += 1;
      if (answers < 3) throw new Fault("LEDGER_UNKNOWN", "the answer was lost");
      return done;
    };
    const told = process.drive(process.one(restock("o1")));
    expect(wordOf(await told)).toBe("accepted again");
    expect(batches).toHaveLength(3);
    expect(process.happened.filter((each) => each === "unknownOutcome commit")).toHaveLength(2);
    expect((await process.levels()).balances.available).toBe(6);
  });

  it("gives up after four tries, and the next command is decided", async () => {
    const { process } = await noting();
    let tries = 0;
    process.bends.ledger.commit = async () => {
      tries += 1;
      throw new Fault("LEDGER_UNAVAILABLE", "away");
    };
    await expect(process.drive(process.one(restock("o1")))).rejects.toThrow("away");
    expect(tries).toBe(4);
    delete process.bends.ledger.commit;
    expect(wordOf(await process.one(restock("o2")))).toBe("accepted");
  });

  it("sets aside the one command that cannot be, and decides the others in order", async () => {
    const { process } = await noting();
    process.bends.ledger.commit = async (asked) => {
      const bad = asked.some((each) => "operationId" in each && each.operationId === "bad");
      if (bad) throw new InvariantError("a row that cannot be");
      return process.stage.ledger.commit(asked);
    };
    const names = ["o1", "o2", "bad", "o3", "o4"];
    const { results } = await process.parts.line.run(names.map(restock));
    const said = ["accepted", "accepted", "broken", "accepted", "accepted"];
    expect(results.map(wordOf)).toEqual(said);
    expect(results[2]).toMatchObject({ reason: "a row that cannot be" });
    expect(process.happened).toContain("alarm broken a row that cannot be");
    expect(await process.levels()).toMatchObject({ balances: { available: 9 }, behind: 0 });
  });

  it("answers what was committed though hot stock did not hear, and says so", async () => {
    const { process } = await noting();
    process.bends.hot.project = async () => {
      throw new Fault("HOT_UNKNOWN", "no answer");
    };
    const { results, projected } = await process.parts.line.run([restock("o1")]);
    expect(results.map(wordOf)).toEqual(["accepted"]);
    expect(projected).toBe("later");
    expect(await process.levels()).toMatchObject({ drift: 0, behind: 1 });
  });

  it("turns callers away once too many wait", async () => {
    const { process, hold } = await noting();
    const release = hold();
    const first = process.one(restock("o1"));
    await quiet();
    const many = Array.from({ length: 20_000 }, () => commands.expire());
    const waiting = process.parts.line.run(many);
    await expect(process.one(restock("o2"))).rejects.toMatchObject({ code: "OVERLOADED" });
    release();
    await Promise.all([first, waiting]);
    expect(wordOf(await process.one(restock("o2")))).toBe("accepted");
  });
});
