import fc from "fast-check";
import type { Command } from "../../src/domain/command.ts";
import { epoch, operationId, reservationId, saleId, skuId } from "../../src/domain/values.ts";
import {
  cancel,
  confirm,
  createSale,
  expire,
  give,
  moveSale,
  refund,
  reserve,
  revive,
  take,
} from "./ledger-fixtures.ts";

/** What is told to a ledger, or what happens around it. */
export type Step =
  | { readonly kind: "commit"; readonly commands: readonly Command[] }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "publish"; readonly sku: string; readonly version: number };

const sale = fc.constantFrom("s1", "s2");
const sku = fc.constantFrom("a", "b", "c");
const order = fc.constantFrom("r1", "r2", "r3", "r4", "r5", "r6");
const buyer = fc.constantFrom("u1", "u2");
const act = fc.constantFrom("x1", "x2", "x3");
const units = fc.integer({ min: 1, max: 4 });
const cart = fc.dictionary(sku, units, { minKeys: 1, maxKeys: 3 });

/** Few names, so that commands meet; `p` makes the names of one run its own. */
function command(p: string): fc.Arbitrary<Command> {
  return fc.oneof(
    { weight: 16, arbitrary: orderCommand(p) },
    { weight: 5, arbitrary: paymentCommand(p) },
    { weight: 4, arbitrary: stockCommand(p) },
    { weight: 2, arbitrary: saleCommand(p) },
  );
}

const acting = { actor: "op", reason: "because" };

function named(p: string, all: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(all).map(([name, n]) => [p + name, n]));
}

function orderCommand(p: string): fc.Arbitrary<Command> {
  const reserving = fc.tuple(order, cart, buyer, sale).map(([id, all, who, of]) => {
    return reserve(p + id, { lines: named(p, all), buyer: p + who, sale: p + of });
  });
  const extending = fc.tuple(order, act, units).map(
    ([id, x, n]): Command => ({
      kind: "extend",
      id: reservationId(p + id),
      operationId: operationId(p + x),
      seconds: n,
      actor: "op",
    }),
  );
  const voiding = order.map(
    (id): Command => ({
      kind: "void",
      stamp: { lane: 0, epoch: epoch(1) },
      id: p + id,
      ticket: null,
      reason: "lost",
    }),
  );
  return fc.oneof(
    { weight: 6, arbitrary: reserving },
    { weight: 3, arbitrary: fc.tuple(order, act).map(([id, x]) => confirm(p + id, p + x)) },
    { weight: 2, arbitrary: order.map((id) => cancel(p + id)) },
    { weight: 2, arbitrary: order.map((id) => expire(p + id)) },
    extending,
    voiding,
  );
}

function paymentCommand(p: string): fc.Arbitrary<Command> {
  const refunding = fc
    .tuple(order, act, fc.option(cart), fc.boolean())
    .map(([id, x, all, restock]) =>
      refund(p + id, { id: p + x, restock, ...(all === null ? {} : { lines: named(p, all) }) }),
    );
  const reviving = fc.tuple(order, act, cart, buyer, sale).map(([id, x, all, who, of]) => {
    return revive(p + id, p + x, { lines: named(p, all), buyer: p + who, sale: p + of });
  });
  const refusing = fc.tuple(order, act).map(
    ([id, x]): Command => ({
      kind: "refuse-late",
      id: reservationId(p + id),
      paymentId: operationId(p + x),
      paidAt: 5,
      actor: "shop",
    }),
  );
  const settling = fc.tuple(order, act, act).map(
    ([id, x, y]): Command => ({
      kind: "settle-payment",
      id: reservationId(p + id),
      refundId: operationId(p + x),
      paymentId: operationId(p + y),
      ...acting,
    }),
  );
  return fc.oneof({ weight: 2, arbitrary: refunding }, reviving, refusing, settling);
}

function stockCommand(p: string): fc.Arbitrary<Command> {
  const giving = fc
    .tuple(fc.constantFrom("restock", "unfreeze", "adjust_up"), sku, act, units)
    .map(([what, of, x, n]) => give(what, p + of, { id: p + x, quantity: n }));
  const taking = fc
    .tuple(fc.constantFrom("withdraw", "freeze", "adjust_down"), sku, act, units)
    .map(([what, of, x, n]) => take(what, p + of, { id: p + x, quantity: n }));
  const counting = fc.tuple(sku, act, fc.integer({ min: 0, max: 5 })).map(
    ([of, x, found]): Command => ({
      kind: "count",
      sku: skuId(p + of),
      found,
      operationId: operationId(p + x),
      ...acting,
    }),
  );
  const stopping = fc.tuple(sku, fc.constantFrom("normal", "stopped"), act).map(
    ([of, to, x]): Command => ({
      kind: "sku-status",
      sku: skuId(p + of),
      to,
      operationId: operationId(p + x),
      ...acting,
    }),
  );
  return fc.oneof(giving, taking, counting, stopping);
}

function saleCommand(p: string): fc.Arbitrary<Command> {
  const moving = fc
    .tuple(sale, fc.constantFrom("open", "paused", "closed"))
    .map(([of, to]) => moveSale(p + of, to));
  const creating = fc.tuple(sale, fc.option(units)).map(([of, limit]) => {
    return createSale({ id: p + of, items: named(p, { c: 3 }), limit });
  });
  return fc.oneof(moving, creating);
}

export function steps(p: string): fc.Arbitrary<readonly Step[]> {
  const commit = fc
    .array(command(p), { minLength: 1, maxLength: 6 })
    .map((commands): Step => ({ kind: "commit", commands }));
  const pass = fc.constantFrom(1, 1_000, 60_000).map((ms): Step => ({ kind: "pass", ms }));
  const publish = fc.tuple(sku, units).map(
    ([of, version]): Step => ({
      kind: "publish",
      sku: p + of,
      version,
    }),
  );
  return fc.array(
    fc.oneof({ weight: 8, arbitrary: commit }, { weight: 1, arbitrary: pass }, publish),
    { minLength: 1, maxLength: 14 },
  );
}

/** The names of one run: with these everything about it can be read. */
export function namesOf(p: string) {
  return {
    skus: ["a", "b", "c"].map((name) => skuId(p + name)),
    orders: ["r1", "r2", "r3", "r4", "r5", "r6"].map((name) => reservationId(p + name)),
    sales: ["s1", "s2"].map((name) => saleId(p + name)),
    acts: ["x1", "x2", "x3"].map((name) => operationId(p + name)),
  };
}

export function firstSale(p: string): Command {
  const items = { [`${p}a`]: 6, [`${p}b`]: 4 };
  return createSale({ id: `${p}s1`, items, limit: 5, holdMs: 2_000 });
}
