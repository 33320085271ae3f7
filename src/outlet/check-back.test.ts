import { beforeEach, describe, expect, it } from "vitest";
import { Stage } from "../../test/support/stepped.ts";
import { Fault } from "../domain/fault.ts";
import type { EntryRow, Ledger } from "../ledger/ledger.ts";
import { checkBack } from "./check-back.ts";

let ledger: Ledger;
let entry: EntryRow;

beforeEach(async () => {
  const stage = await Stage.open();
  await (await stage.started()).reserved("k1");
  ledger = stage.ledger;
  const rows = await ledger.unpublished(10);
  const found = rows.find(({ version }) => version === 2);
  if (found === undefined) throw new Error("no entry");
  entry = found;
});

const asked = (change: object = {}): Buffer => Buffer.from(JSON.stringify({ ...entry, ...change }));

describe("the broker asks what became of an event", () => {
  it("whose entry the ledger has: commit", async () => {
    expect(await checkBack(ledger, asked())).toBe("commit");
  });

  it.each([
    ["a version that is not there yet", { version: 3 }],
    ["a SKU that nobody knows", { sku: "unknown" }],
    ["another hash at that version", { hash: "0".repeat(64) }],
    ["a version that is none", { version: 0 }],
    ["a SKU that is none", { sku: "a b" }],
    ["no hash", { hash: null }],
  ])("of %s: rollback", async (_, change) => {
    expect(await checkBack(ledger, asked(change))).toBe("rollback");
  });

  it.each(["", "{", "null", "[]", '"text"'])("that is none (%j): rollback", async (body) => {
    expect(await checkBack(ledger, Buffer.from(body))).toBe("rollback");
  });

  it("while the ledger is away: unknown", async () => {
    const away = { balancesAt: () => Promise.reject(new Fault("LEDGER_UNAVAILABLE", "away")) };
    expect(await checkBack(away, asked())).toBe("unknown");
  });
});
