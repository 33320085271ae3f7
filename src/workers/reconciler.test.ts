import { describe, expect, it, vi } from "vitest";
import { type Process, Stage } from "../../test/support/stepped.ts";
import { reserveTicket } from "../../test/support/tickets.ts";
import { operationId, quantity, skuId } from "../domain/values.ts";
import { Reconciler } from "./reconciler.ts";

const A = skuId("A");

function tamper(process: Process, by: number): void {
  process.stage.memory.tamper(0, (state) => {
    const sku = state.skus.get(A);
    if (sku !== undefined) sku.available += by;
  });
}

describe("the reconciler", () => {
  it("finds nothing to do under traffic, at any moment of the line", async () => {
    const process = await (await Stage.open()).started({ stock: { A: 50 } });
    const report = async () => process.engine.oversight.reconciliation();
    for (let n = 0; n < 10; n += 1) {
      await process.ask(`k${n}`, { A: 2 }, 0);
      expect(await report()).toMatchObject({ drift: 0, inFlight: 2 });
      await process.reconciler.step();
      await process.relay.step();
      expect(await report()).toMatchObject({ drift: 0, inFlight: 2 });
      await process.carry();
      expect(await report()).toMatchObject({ drift: 0, inFlight: 0, behind: 0, repairs: 0 });
    }
    expect(process.parts.fences.cause(0)).toBeNull();
  });

  it.each([3, -3])("mends a hot stock that is off by %d with one rebuild", async (by) => {
    const process = await (await Stage.open()).started();
    await process.reserved("k1", { A: 2 });
    tamper(process, by);
    expect(await process.engine.oversight.reconciliation()).toMatchObject({ drift: 3 });
    for (let n = 0; n < 3; n += 1) await process.reconciler.step();
    await process.rebuild();
    for (let n = 0; n < 3; n += 1) {
      await process.reconciler.step();
      await process.rebuild();
    }
    expect(await process.repairs()).toBe(1);
    expect(await process.levels()).toMatchObject({ hot: { available: 3 }, drift: 0 });
    await process.expectCoherent();
  });

  it("lets everybody else run after every two hundred SKUs", async () => {
    let turns = 0;
    const stock = Object.fromEntries(Array.from({ length: 450 }, (_, n) => [`S${n}`, 1]));
    const turn = async () => {
      turns += 1;
    };
    const process = await (await Stage.open()).started({ stock }, turn);
    turns = 0;
    await process.reconciler.step();
    // Two to compare them, two to look at their status.
    expect(turns).toBe(4);
    expect(await process.engine.oversight.reconciliation()).toMatchObject({ skus: 450, drift: 0 });
    expect(turns).toBe(6);
  });

  it.each([
    [10, 500],
    [1_000, 4_000],
    [9_000, 5_000],
  ])("that has looked for %d ms rests for %d", async (lookMs, restMs) => {
    const process = await (await Stage.open()).started();
    const { stage, parts, bends } = process;
    const reconciler = new Reconciler(parts);
    bends.ledger.lanes = () => {
      stage.clock.advance(lookMs);
      return stage.ledger.lanes();
    };
    await reconciler.step(await stage.lease("reconciler"));
    const sleep = vi.spyOn(stage.clock, "sleep");
    await reconciler.idle(AbortSignal.abort());
    expect(sleep.mock.calls.map(([ms]) => ms)).toEqual([restMs]);
  });

  it("brings a stopped SKU what the ledger has decided all the same", async () => {
    const process = await (await Stage.open()).started();
    const acting = { actor: "test", reason: "look" };
    await process.engine.merchandising.stopSku(A, operationId("stop"), acting);
    const told = { operationId: operationId("in"), fingerprint: "restock 2", ...acting };
    const restock = { kind: "give", operation: "restock", sku: A, ifVersion: null } as const;
    await process.parts.ledger.commit([{ ...restock, quantity: quantity(2), ...told }]);
    expect(await process.levels()).toMatchObject({ behind: 1 });
    await process.reconciler.step();
    expect(await process.levels()).toMatchObject({ behind: 0, drift: 0, status: "stopped" });
  });

  it.each<[string, (process: Process) => void]>([
    [
      "has another hash at the same version",
      ({ stage }) =>
        stage.memory.tamper(0, (state) => {
          const sku = state.skus.get(A);
          if (sku !== undefined) sku.hash = "f".repeat(64);
        }),
    ],
    [
      "is at a version that the ledger does not have",
      ({ stage }) =>
        stage.memory.tamper(0, (state) => {
          const sku = state.skus.get(A);
          if (sku !== undefined) sku.version += 5;
        }),
    ],
  ])("stops a SKU that %s, once, and repairs nothing", async (_, befall) => {
    const process = await (await Stage.open()).started();
    befall(process);
    for (let n = 0; n < 3; n += 1) await process.reconciler.step();
    const stops = process.happened.filter((each) => each.startsWith("skuStopped A"));
    expect(stops).toHaveLength(1);
    expect((await process.levels()).status).toBe("stopped");
    expect(process.parts.fences.cause(0)).toBeNull();
    expect(await process.reserve("k1")).toMatchObject({ ok: false, code: "SALE_PAUSED" });
  });

  it("has a SKU that hot stock alone has stopped opened by a rebuild", async () => {
    const process = await (await Stage.open()).started();
    process.stage.memory.tamper(0, (state) => {
      const sku = state.skus.get(A);
      if (sku !== undefined) sku.stopped = true;
    });
    const { items } = await process.engine.oversight.reconciliation();
    expect(items).toMatchObject([{ sku: "A", status: "halted" }]);
    await process.reconciler.step();
    expect(process.parts.fences.cause(0)).toContain("A is stopped in hot stock alone");
    await process.rebuild();
    expect(await process.reserve("k1")).toMatchObject({ ok: true });
    await process.expectCoherent();
  });

  it("has a SKU that hot stock lost brought back by a rebuild", async () => {
    const process = await (await Stage.open()).started({ stock: { A: 5, B: 5 } });
    process.stage.memory.tamper(0, (state) => state.skus.delete(A));
    await process.reconciler.step();
    expect(process.parts.fences.cause(0)).toContain("A is missing");
    await process.rebuild();
    expect(await process.reserve("k1")).toMatchObject({ ok: true });
  });

  it("tells hot stock a policy and a status that it did not hear of", async () => {
    const process = await (await Stage.open()).started();
    const commit = process.stage.ledger.commit.bind(process.stage.ledger);
    const acting = { actor: "op", reason: "" };
    await commit([
      { kind: "sku-status", sku: A, to: "stopped", operationId: null, ...acting },
      { kind: "sale-state", saleId: process.sale, to: "paused", operationId: null, actor: "op" },
      { kind: "sale-state", saleId: process.sale, to: "open", operationId: null, actor: "op" },
    ]);
    await process.reconciler.step();
    const { skus, policies } = await process.stage.memory.observe(0, null);
    expect(skus).toMatchObject([{ stopped: true, statusRevision: 1 }]);
    expect(policies).toEqual([{ saleId: "s", revision: 4 }]);
  });

  it("forgets a sale once it is closed and its last hold has ended, not before", async () => {
    const process = await (await Stage.open()).started();
    const { id } = await process.reserved("k1");
    const { merchandising, settlement } = process.engine;
    await merchandising.moveSale(
      process.sale,
      { to: "closed", operationId: null },
      { actor: "op" },
    );
    await process.reconciler.step();
    expect((await process.stage.memory.lookup(0, id)).kind).toBe("decided");
    await settlement.confirm(
      id,
      { paymentId: operationId("p1"), paidAt: null },
      {
        actor: "shop",
        reason: "",
      },
    );
    await process.reconciler.step();
    expect((await process.stage.memory.lookup(0, id)).kind).toBe("unknown");
    expect(await process.reserve("k1")).toMatchObject({ ok: true, replayed: true });
    expect(await process.reserve("k2")).toMatchObject({ ok: false, code: "SALE_ENDED" });
  });

  it("puts a marker in only while something is in flight", async () => {
    const process = await (await Stage.open()).started();
    await process.reconciler.step();
    expect((await process.stage.memory.outbox(0, 9)).length).toBe(0);
    await process.ask("k1", { A: 1 }, 0);
    await process.reconciler.step();
    const kinds = (await process.stage.memory.outbox(0, 9)).items.map(({ item }) => item.kind);
    expect(kinds).toEqual(["ticket", "marker"]);
  });
});

describe("a repair that is asked for", () => {
  it("says first what it would do; then it is done, with actor and reason", async () => {
    const process = await (await Stage.open()).started();
    tamper(process, 4);
    const acting = { actor: "eve", reason: "a look" };
    const { oversight } = process.engine;
    const plan = await oversight.repair({ dryRun: true, sku: null }, acting);
    expect(plan.actions).toMatchObject([{ action: "rebuild", subject: "A", done: false }]);
    expect(process.parts.fences.cause(0)).toBeNull();
    await oversight.repair({ dryRun: false, sku: null }, acting);
    expect(process.parts.fences.cause(0)).toContain("eve: a look");
    await process.rebuild();
    expect(await process.levels()).toMatchObject({ drift: 0, hot: { available: 5 } });
  });
});

describe("a dead letter", () => {
  it("that is replayed is decided once, then stale", async () => {
    const process = await (await Stage.open()).started();
    const { messageKeys, fences, ledger } = process.parts;
    const { sealEnvelope } = await import("../domain/message.ts");
    const epoch = fences.get(0)?.epoch ?? (0 as never);
    const ticket = reserveTicket("r1");
    const items = [{ kind: "ticket", ticket, admittedAt: 1 } as const];
    const body = sealEnvelope({ lane: 0, epoch, sentAt: 1, items }, messageKeys);
    const letter = { lane: 0, reason: "", body, kind: "ticket", itemId: "r1", sku: "A", tries: 3 };
    const [first, second] = [
      await ledger.addDeadLetter(letter),
      await ledger.addDeadLetter(letter),
    ];
    const acting = { actor: "eve", reason: "mended" };
    const { oversight } = process.engine;
    expect(await oversight.replayDeadLetter(first, acting)).toMatchObject({ outcome: "replayed" });
    expect(await oversight.replayDeadLetter(first, acting)).toMatchObject({
      outcome: "already-settled",
    });
    expect(await oversight.replayDeadLetter(second, acting)).toMatchObject({ outcome: "stale" });
    expect(await process.levels()).toMatchObject({ balances: { reserved: 1 }, drift: 0 });
    expect(await oversight.replayDeadLetter(99, acting)).toMatchObject({ outcome: "not-found" });
  });
});
