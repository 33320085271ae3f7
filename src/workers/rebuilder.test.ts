import { describe, expect, it } from "vitest";
import { type Bends, type Process, Stage } from "../../test/support/stepped.ts";
import { Fault } from "../domain/fault.ts";
import type { HotStock } from "../hot-stock/hot-stock.ts";
import type { Ledger } from "../ledger/ledger.ts";

const killed = async (): Promise<never> => {
  throw new Fault("STOPPING", "killed");
};

/** One is in flight, one is decided, and hot stock has lost everything. */
async function lost(): Promise<Process> {
  const process = await (await Stage.open()).started({ limit: 3 });
  await process.reserved("k1", { A: 2 });
  await process.ask("k2", { A: 1 }, 0);
  process.stage.memory.flush();
  return process;
}

async function expectWhole(process: Process): Promise<void> {
  expect(await process.levels()).toMatchObject({
    balances: { available: 3, reserved: 2 },
    hot: { available: 3, inFlight: 0 },
    drift: 0,
    behind: 0,
  });
  expect(await process.reserve("k3")).toMatchObject({ ok: true });
  await process.expectCoherent();
}

describe("a rebuild", () => {
  it("of an empty hot stock is a start, not a repair; of a lost one it is a repair", async () => {
    const process = await (await Stage.open()).process();
    await process.rebuild();
    expect(await process.repairs()).toBe(0);
    process.stage.memory.flush();
    await process.rebuild();
    expect(await process.repairs()).toBe(1);
    const query = { actor: "rebuilder", action: null, subject: null, from: null, to: null };
    const log = await process.stage.ledger.auditLog({ ...query, before: null, limit: 9 });
    expect(log).toMatchObject([{ action: "hot-stock.rebuild", subject: "lane:0" }]);
  });

  it("of a lane does not wait for the server of another, which is away", async () => {
    const process = await (await Stage.open(2)).process();
    const { memory, ledger } = process.stage;
    process.bends.hot.observe = async (lane, skus) =>
      lane === 0 ? killed() : memory.observe(lane, skus);
    await process.rebuilder.step();
    expect((await ledger.lanes()).map(({ epoch }) => epoch)).toEqual([0, 1]);
    process.bends.hot.observe = killed;
    await expect(process.rebuilder.step()).rejects.toThrow("killed");
  });

  it.each<[string, (process: Process) => void]>([
    ["is flushed", ({ stage }) => stage.memory.flush()],
    [
      "lives on under another incarnation",
      ({ stage }) => stage.memory.restart(stage.memory.copy()),
    ],
    ["is restarted empty", ({ stage }) => stage.memory.restart()],
    [
      "carries another epoch",
      ({ stage }) =>
        stage.memory.tamper(0, (state) => {
          state.epoch = (state.epoch - 1) as typeof state.epoch;
        }),
    ],
    [
      "was marked by a process that died",
      ({ stage }) =>
        stage.memory.tamper(0, (state) => {
          state.rebuilding = true;
        }),
    ],
  ])("follows when hot stock %s", async (_, befall) => {
    const process = await (await Stage.open()).started();
    await process.reserved("k1", { A: 2 });
    befall(process);
    expect(await process.ask("k2")).toMatchObject({ ok: false, code: "STOCK_CLOSED" });
    await process.rebuild();
    await expectWhole(process);
  });

  const steps: readonly [string, { hot?: keyof HotStock; ledger?: keyof Ledger }][] = [
    ["before the ledger gives out the epoch", { ledger: "nextEpoch" }],
    ["after the ledger gave out the epoch", { hot: "beginRebuild" }],
    ["before the barrier is sent", { hot: "outbox" }],
    ["after the barrier was sent", { hot: "forward" }],
    ["before the barrier is met", { ledger: "commit" }],
    ["before the snapshot", { ledger: "snapshot" }],
    ["before the load", { hot: "load" }],
  ];
  it.each(steps)("whose process was killed %s is carried on by another", async (_, at) => {
    const one = await lost();
    const hot = one.bends.hot as Bends<Record<string, unknown>>;
    const ledger = one.bends.ledger as Bends<Record<string, unknown>>;
    if (at.hot !== undefined) hot[at.hot] = killed;
    if (at.ledger !== undefined) ledger[at.ledger] = killed;
    let died = false;
    for (let turn = 0; turn < 6 && !died; turn += 1) {
      try {
        await one.rebuilder.step();
        await one.carry();
      } catch (error) {
        died = true;
        expect(error).toBeInstanceOf(Fault);
      }
    }
    expect(died).toBe(true);
    const two = await one.stage.process();
    await two.rebuild();
    await expectWhole(two);
  });

  it("whose load was done though nobody heard is done", async () => {
    const one = await lost();
    one.bends.hot.load = async (fence, snapshot) => {
      await one.stage.memory.load(fence, snapshot);
      throw new Fault("HOT_UNKNOWN", "no answer");
    };
    await expect(one.rebuild()).rejects.toThrow("no answer");
    const two = await one.stage.process();
    await two.rebuild();
    const [lane] = await two.stage.ledger.lanes();
    expect(lane?.epoch).toBe(2);
    await expectWhole(two);
  });

  it("that was overtaken has no effect", async () => {
    const one = await lost();
    const two = await one.stage.process();
    const snapshots: Parameters<HotStock["load"]>[] = [];
    one.bends.hot.load = async (fence, snapshot) => {
      snapshots.push([fence, snapshot]);
      throw new Fault("HOT_UNKNOWN", "paused");
    };
    await expect(one.rebuild()).rejects.toThrow("paused");
    await two.rebuild();
    await two.reserved("k9", { A: 2 });
    two.parts.fences.doubt(0, "another doubt");
    await two.rebuilder.step();
    const [late] = snapshots;
    if (late === undefined) throw new Error("it came to the load");
    expect(await one.stage.memory.load(...late)).toEqual({ closed: true, why: "epoch" });
    await two.rebuild();
    expect(await two.levels()).toMatchObject({ balances: { available: 1 }, drift: 0, behind: 0 });
    await two.expectCoherent();
  });

  it("puts a barrier that the broker lost in again, once patience is over", async () => {
    const process = await lost();
    await process.rebuilder.step();
    await process.relay.step();
    const gone = await process.stage.queue.receive(0, { max: 9, waitMs: 0 });
    await process.stage.queue.acknowledge(0, gone);
    await process.rebuilder.step();
    await process.carry();
    const closed = async () => !(await process.stage.memory.observe(0, [])).open;
    expect(await closed()).toBe(true);
    process.stage.clock.advance(3_000);
    await process.rebuilder.step();
    await process.carry();
    await process.rebuilder.step();
    expect(await closed()).toBe(false);
    await expectWhole(process);
  });

  it("forgets no doubt when the ledger is away", async () => {
    const process = await (await Stage.open()).started();
    process.parts.fences.doubt(0, "asked for by op");
    process.bends.ledger.nextEpoch = killed;
    await expect(process.rebuilder.step()).rejects.toThrow("killed");
    expect(process.parts.fences.cause(0)).toBe("asked for by op");
    delete process.bends.ledger.nextEpoch;
    await process.rebuild();
    expect(process.parts.fences.cause(0)).toBeNull();
  });

  it("for one doubt of two processes is one", async () => {
    const stage = await Stage.open();
    const one = await stage.started();
    const two = await stage.process();
    for (const each of [one, two]) each.parts.fences.doubt(0, "drift");
    await one.rebuilder.step();
    await two.rebuilder.step();
    await one.rebuild();
    await two.rebuild();
    const [lane] = await stage.ledger.lanes();
    expect(lane?.epoch).toBe(2);
  });

  it("makes what was stamped before it decide nothing", async () => {
    const process = await (await Stage.open()).started();
    const first = await process.ask("k1", { A: 2 }, 0);
    await process.relay.step();
    const late = await process.stage.queue.receive(0, { max: 9, waitMs: 0 });
    process.stage.memory.flush();
    await process.rebuild();
    await process.stage.queue.release(0, late);
    await process.carry();
    if (!first.ok) throw new Error(first.code);
    expect(await process.stage.ledger.order(first.value.id)).toBeNull();
    expect(await process.levels()).toMatchObject({ balances: { available: 5 }, version: 1 });
  });
});
