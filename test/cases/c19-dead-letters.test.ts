import { expect } from "vitest";
import type { CommandResult } from "../../src/domain/command.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import { units } from "../support/at-rest.ts";
import { bent } from "../support/bent-ports.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** A ledger that cannot make sense of the first buyer's order, as long as the fault is in. */
class Broken {
  isIn = true;

  ledgerOf = (stores: Stores): Stores => {
    const { ledger } = stores;
    const commit: typeof ledger.commit = async (commands) => {
      const told = await ledger.commit(
        commands.filter((each) => !this.isIn || each.kind !== "ticket"),
      );
      const decided = [...told.results];
      const results = commands.map((each): CommandResult => {
        if (this.isIn && each.kind === "ticket") return { status: "poison", reason: "a fault" };
        return decided.shift() ?? { status: "unknown" };
      });
      return { ...told, results };
    };
    return { ...stores, ledger: bent(ledger, { commit }) };
  };
}

async function lettersOf({ ledger }: Shop): Promise<readonly number[]> {
  const all = { state: null, lane: null, reason: null, itemId: null, after: 0, limit: 100 };
  return (await ledger.deadLetters(all)).map(({ id }) => id);
}

/** Until the ledger writer has given the order up. */
async function theLetter(shop: Shop): Promise<number> {
  for (;;) {
    const [letter] = await lettersOf(shop);
    if (letter !== undefined) return letter;
    await shop.passes(1);
  }
}

test("C19 (a) a dead letter whose fault is gone is decided by its replay, once", async () => {
  const broken = new Broken();
  const shop = await openShop({ stock: { A: 3 }, stores: broken.ledgerOf });
  const request = { key: "o1", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id, state } = await shop.reserveAt(shop.first, request);
  expect(state).toBe("pending");
  const letter = await theLetter(shop);
  broken.isIn = false;
  const outcomes = [
    await shop.replay(letter),
    await shop.replay(letter),
    await shop.replay(letter),
  ];
  expect(outcomes).toEqual(["replayed", "already-settled", "already-settled"]);
  expect((await shop.view(id)).state).toBe("reserved");
  await shop.atRest({ A: units({ A: 2, R: 1, T: 3 }) }, { calls: 1 });
  expect(await lettersOf(shop)).toEqual([letter]);
});

test("C19 (a) without a replay the order is sent again from hot stock, and decided", async () => {
  const broken = new Broken();
  const shop = await openShop({ stock: { A: 3 }, stores: broken.ledgerOf });
  const request = { key: "o1", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  await theLetter(shop);
  broken.isIn = false;
  await shop.passes(2_000);
  expect((await shop.view(id)).state).toBe("reserved");
  await shop.atRest({ A: units({ A: 2, R: 1, T: 3 }) }, { repairs: 1, calls: 1 });
});

test("C19 (b) a replay after the order has expired is stale, and revives nothing", async () => {
  const broken = new Broken();
  const shop = await openShop({ stock: { A: 3 }, holdSeconds: 60, stores: broken.ledgerOf });
  const request = { key: "o1", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  const letter = await theLetter(shop);
  broken.isIn = false;
  await shop.passes(2_000);
  expect((await shop.view(id)).state).toBe("reserved");
  await shop.later(60_200);
  expect(await shop.levels("A")).toEqual(units({ A: 3, T: 3 }));
  expect(await shop.replay(letter)).toBe("stale");
  expect(await shop.replay(letter)).toBe("already-settled");
  expect((await shop.view(id)).state).toBe("expired");
  await shop.atRest({ A: units({ A: 3, T: 3 }) }, { repairs: 1, calls: 1 });
});

test("C19 (b) an order that is never decided ends as void; its replay is stale", async () => {
  const broken = new Broken();
  const shop = await openShop({ stock: { A: 3 }, stores: broken.ledgerOf });
  const request = { key: "o1", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  await shop.passes(30_000);
  expect((await shop.view(id)).state).toBe("void");
  broken.isIn = false;
  for (const letter of await lettersOf(shop)) expect(await shop.replay(letter)).toBe("stale");
  const again = await shop.reserve("o1", "u1", ["A", 1]);
  expect(again).toMatchObject({ answer: "VOID", state: "void" });
  await shop.atRest({ A: units({ A: 3, T: 3 }) }, { repairs: 3, calls: 4, voids: 1 });
});

test("C19 (c) a replay a day and a restart later decides it, once", async () => {
  const broken = new Broken();
  const shop = await openShop({ stock: { A: 3 }, stores: broken.ledgerOf });
  const request = { key: "o1", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  const letter = await theLetter(shop);
  await shop.kill({ hot: "is lost" });
  await shop.time.pass(dayMs);
  broken.isIn = false;
  await shop.addProcess();
  await shop.isOpen();
  const outcomes = [
    await shop.replay(letter),
    await shop.replay(letter),
    await shop.replay(letter),
  ];
  expect(outcomes).toEqual(["replayed", "already-settled", "already-settled"]);
  expect((await shop.view(id)).state).toBe("reserved");
  expect((await shop.reserve("o1", "u1", ["A", 1])).answer).toBe("replayed");
  await shop.atRest({ A: units({ A: 2, R: 1, T: 3 }) }, { calls: 1 });
});
