import { describe, expect, it } from "vitest";
import { type Process, Stage } from "../../test/support/stepped.ts";
import { linesOf } from "../../test/support/tickets.ts";
import { buyerId, operationId, quantity, skuId } from "../domain/values.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const by = (requestId: string) => {
  return { actor: "shop", reason: "", origin: { requestId, traceId } };
};

/** Which call made each step. */
async function calls(process: Process, id: string): Promise<readonly string[]> {
  const steps = (await process.engine.buyers.timeline(id)) ?? [];
  return steps.map(({ step, origin }) => `${step} ${origin?.requestId ?? "-"}`);
}

function requestOf(process: Process, key: string, units: number) {
  return {
    saleId: process.sale,
    buyerId: buyerId("ann"),
    idempotencyKey: operationId(key),
    lines: linesOf({ A: units }),
    origin: { requestId: `reserve-${key}`, traceId },
  };
}

async function reserved(process: Process, key: string, units = 2): Promise<string> {
  const request = requestOf(process, key, units);
  const outcome = await process.drive(process.engine.buyers.reserve(request, { waitMs: 1_000 }));
  if (!outcome.ok) throw new Error(outcome.code);
  return outcome.value.id;
}

function pay(process: Process, id: string, { payment, call }: { payment: string; call: string }) {
  const paid = { paymentId: operationId(payment), paidAt: null };
  return process.drive(process.engine.settlement.confirm(id, paid, by(call)));
}

describe("the timeline says by which call", () => {
  it("an order was reserved, held for longer, paid and given back", async () => {
    const process = await (await Stage.open()).started();
    const { settlement } = process.engine;
    const id = await reserved(process, "k1");
    await settlement.extend(id, { operationId: operationId("x"), seconds: 5 }, by("extend"));
    await pay(process, id, { payment: "p1", call: "pay" });
    await pay(process, id, { payment: "p1", call: "pay-again" });
    await pay(process, id, { payment: "p2", call: "pay-twice" });
    const units = { kind: "units", refundId: operationId("p1"), lines: null } as const;
    await settlement.refund(id, { ...units, restock: true }, by("refund"));
    // The refund has the id of the payment: they are not mixed up.
    expect((await calls(process, id)).toSorted()).toEqual([
      "admitted reserve-k1",
      "confirm pay",
      "extend extend",
      "payment due pay-twice",
      "payment taken pay",
      "refund refund",
      "refund refund",
      "reserve reserve-k1",
      "sent reserve-k1",
    ]);
  });

  it("an order was cancelled, also one that was still on its way", async () => {
    const process = await (await Stage.open()).started();
    const id = await reserved(process, "k1", 1);
    await process.engine.settlement.cancel(id, { ...by("cancel"), waitMs: 0 });
    expect(await calls(process, id)).toContain("cancel cancel");

    const asked = process.ask("k2", { A: 1 }, 0);
    const pending = await asked;
    if (!pending.ok) throw new Error(pending.code);
    expect(pending.value.state).toBe("pending");
    const early = { ...by("early"), waitMs: 1_000 };
    await process.drive(process.engine.settlement.cancel(pending.value.id, early));
    // The second was asked for by no call: only its end came by one.
    expect(await calls(process, pending.value.id)).toEqual([
      "admitted -",
      "sent -",
      "reserve -",
      "cancel early",
    ]);
  });

  it("a late payment was taken, the buyers' way", async () => {
    const process = await (await Stage.open()).started();
    const id = await reserved(process, "k1");
    process.stage.clock.advance(60_000);
    await process.expirer.step();
    await pay(process, id, { payment: "p1", call: "late" });
    const steps = await calls(process, id);
    expect(steps).toContain("expire -");
    expect(steps).toContain("revive late");
    expect(steps).toContain("payment taken late");
  });

  it("a ticket in flight came", async () => {
    const process = await (await Stage.open()).started();
    const request = requestOf(process, "k1", 1);
    const pending = await process.engine.buyers.reserve(request, { waitMs: 0 });
    if (!pending.ok) throw new Error(pending.code);
    expect(await calls(process, pending.value.id)).toEqual(["admitted reserve-k1"]);
  });
});

describe("a search finds what a call changed", () => {
  it("of an order, of stock, of a sale, of a dead letter", async () => {
    const process = await (await Stage.open()).started();
    const { merchandising, oversight } = process.engine;
    const id = await reserved(process, "k1");
    const sku = skuId("A");
    const change = { sku, operationId: operationId("o1"), quantity: quantity(1) };
    await process.drive(merchandising.changeStock({ ...change, kind: "freeze" }, by("freeze")));
    await merchandising.stopSku(sku, operationId("o2"), by("stop"));
    const move = { to: "paused", operationId: null } as const;
    await merchandising.moveSale(process.sale, move, by("pause"));
    const letter = { lane: 0, reason: "bad signature", body: Buffer.from("x"), tries: 3 };
    const lost = { ...letter, kind: null, itemId: null, sku: null };
    const dead = await process.parts.ledger.addDeadLetter(lost);
    await oversight.discardDeadLetter(dead, by("discard"));
    const found = async (text: string) => {
      const { hits } = await oversight.search(text);
      return hits.map((hit) => `${hit.matched} ${hit.type} ${hit.id} ${hit.state}`);
    };
    expect(await found("reserve-k1")).toEqual([`requestId reservation ${id} reserved`]);
    expect(await found("freeze")).toEqual(["requestId sku A freeze"]);
    expect(await found("stop")).toEqual(["requestId sku A stopped"]);
    expect(await found("pause")).toEqual([`requestId sale ${process.sale} paused`]);
    expect(await found("discard")).toEqual([`requestId dead-letter ${dead} dead-letter.discard`]);
    expect(await found(traceId)).toHaveLength(5);
    const { hits, looked } = await oversight.search("nowhere");
    expect(hits).toEqual([]);
    expect(looked).toContain("requests and traces");
  });
});
