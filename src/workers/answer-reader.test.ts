import { expect, it } from "vitest";
import { quiet, Stage } from "../../test/support/stepped.ts";
import { AnswerReader } from "./answer-reader.ts";

/** A process that admits, and another one that decides. */
async function apart() {
  const stage = await Stage.open();
  const one = await stage.started({ stock: { A: 1 } });
  const two = await stage.process();
  return { stage, one, two, reader: new AnswerReader(one.parts) };
}

it("wakes whoever waits for what another process has decided", async () => {
  const { stage, one, two, reader } = await apart();
  const asked = one.ask("k1", { A: 1 }, 60_000);
  await quiet();
  await two.carry();
  expect(one.parts.decisions.waiting).toBe(1);
  stage.clock.advance(50);
  await reader.step();
  expect(one.parts.decisions.waiting).toBe(0);
  expect(await asked).toMatchObject({ ok: true, value: { state: "reserved" } });
});

it("asks once for all who wait, and wakes none before the ledger has decided", async () => {
  const { stage, one, reader } = await apart();
  let questions = 0;
  one.bends.ledger.settled = (...asked) => {
    questions += 1;
    return stage.ledger.settled(...asked);
  };
  await reader.step();
  expect(questions).toBe(0);
  const asked = [one.ask("k1", { A: 1 }, 100), one.ask("k1", { A: 1 }, 100)];
  await quiet();
  stage.clock.advance(50);
  await reader.step();
  expect(questions).toBe(1);
  expect(one.parts.decisions.waiting).toBe(1);
  stage.clock.advance(50);
  for (const each of asked) expect(await each).toMatchObject({ value: { state: "pending" } });
});

it("does not answer a cancellation with the decision of its ticket", async () => {
  const { stage, one, two, reader } = await apart();
  const admitted = await one.ask("k1", { A: 1 }, 0);
  if (!admitted.ok) throw new Error(admitted.code);
  await one.relay.step();
  const acting = { actor: "shop", reason: "asked for", waitMs: 60_000 };
  const cancelled = one.engine.settlement.cancel(admitted.value.id, acting);
  await quiet();
  await two.write();
  stage.clock.advance(50);
  await reader.step();
  await quiet();
  await two.carry();
  stage.clock.advance(50);
  await reader.step();
  expect(await cancelled).toMatchObject({ ok: true, value: { state: "cancelled" } });
});
