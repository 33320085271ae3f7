import { expect, test } from "vitest";
import type { Lease } from "../../src/domain/lease.ts";
import { operationId } from "../../src/domain/values.ts";
import { Expirer } from "../../src/workers/expirer.ts";
import { type Process, Stage } from "../support/stepped.ts";

const termMs = 10_000;

async function leaseFor(stage: Stage, holder: string): Promise<Lease> {
  const [lease] = await stage.ledger.hold(holder, [{ name: "expirer", forMs: termMs }]);
  if (lease === undefined) throw new Error(`${holder} is not given the lease`);
  return lease;
}

/** Its commits wait for the gate: a process that is stopped just before its write. */
function stopBeforeWrite({ bends, stage }: Process): () => void {
  let wake = (): void => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  bends.ledger.commit = async (commands) => {
    await woken;
    return stage.ledger.commit(commands);
  };
  return wake;
}

async function overdue() {
  const stage = await Stage.open();
  const one = await stage.started({ stock: { A: 1 } });
  const two = await stage.process();
  const { id } = await one.reserved("o1");
  stage.clock.advance(60_000);
  return { stage, one, two, id };
}

test("C17 (a) a sweep stopped before its write changes nothing when it wakes", async () => {
  const { stage, one, two } = await overdue();
  const wake = stopBeforeWrite(one);
  const sweeping = new Expirer(one.parts).step(await leaseFor(stage, "one"));
  stage.clock.advance(termMs);
  expect(await new Expirer(two.parts).step(await leaseFor(stage, "two"))).toBe(1);
  const next = await two.reserved("o2");
  const before = await two.levels();
  expect(before.balances).toMatchObject({ available: 0, reserved: 1 });
  wake();
  expect(await sweeping).toBe(0);
  expect(await two.levels()).toEqual(before);
  expect((await two.engine.buyers.reservation(next.id, { waitMs: 0 }))?.state).toBe("reserved");
  await two.expectCoherent();
});

test("C17 (a) nothing is written under a lease that another only has", async () => {
  const { stage, one, two } = await overdue();
  const wake = stopBeforeWrite(one);
  const sweeping = new Expirer(one.parts).step(await leaseFor(stage, "one"));
  stage.clock.advance(termMs);
  const lease = await leaseFor(stage, "two");
  wake();
  expect(await sweeping).toBe(0);
  expect(await two.levels()).toMatchObject({ balances: { available: 0, reserved: 1 }, version: 2 });
  expect(await new Expirer(two.parts).step(lease)).toBe(1);
  expect(await two.levels()).toMatchObject({ balances: { available: 1, reserved: 0 }, version: 3 });
});

test("C17 (b) a deadline put off after the sweep looked is kept, and ends the hold", async () => {
  const stage = await Stage.open();
  const process = await stage.started({ stock: { A: 1 } });
  const { id } = await process.reserved("o1");
  stage.clock.advance(59_000);
  const expirer = new Expirer(process.parts);
  const lease = await leaseFor(stage, "one");
  expect(await expirer.step(lease)).toBe(0);
  const extension = { operationId: operationId("e1"), seconds: 30 };
  const acting = { actor: "shop", reason: "asked for" };
  await process.drive(process.engine.settlement.extend(id, extension, acting));
  stage.clock.advance(25_000);
  expect(await expirer.step(lease)).toBe(0);
  expect(await process.levels()).toMatchObject({ balances: { available: 0, reserved: 1 } });
  stage.clock.advance(30_000);
  expect(await expirer.step(lease)).toBe(1);
  expect(await process.levels()).toMatchObject({ balances: { available: 1, reserved: 0 } });
  await process.expectCoherent();
});
