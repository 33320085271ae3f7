import { expect, it } from "vitest";
import { Stage } from "../../test/support/stepped.ts";

const acting = { actor: "ops", reason: "nobody can read it" };

it("whoever settles a dead letter is in the audit log, and only who was first", async () => {
  const process = await (await Stage.open()).started({ stock: { A: 1 } });
  const { ledger } = process.parts;
  const { oversight } = process.engine;
  const letter = { lane: 0, reason: "bad signature", body: Buffer.from("x"), tries: 3 };
  const id = await ledger.addDeadLetter({ ...letter, kind: null, itemId: null, sku: null });
  expect(await oversight.replayDeadLetter(id, acting)).toMatchObject({ outcome: "failed" });
  const both = await Promise.all([
    oversight.discardDeadLetter(id, acting),
    oversight.discardDeadLetter(id, { ...acting, actor: "late" }),
  ]);
  const outcomes = both.map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === "discarded")).toHaveLength(1);
  const filter = { actor: null, subject: `dead-letter:${id}`, from: null, to: null };
  const records = await oversight.auditLog({ ...filter, action: null, before: null, limit: 10 });
  expect(records).toMatchObject([
    { actor: "ops", action: "dead-letter.discard", reason: acting.reason },
  ]);
  expect(records[0]).toMatchObject({ before: { state: "open" }, after: { state: "discarded" } });
});
