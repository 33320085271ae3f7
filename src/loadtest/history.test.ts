import { describe, expect, it } from "vitest";
import { type AnswerKind, endingOf, idsOf, type KeyRecord } from "./history.ts";

type Told = readonly [kind: AnswerKind, askedMs: number, toldMs: number, id?: string];

function notes(...told: readonly Told[]): KeyRecord {
  const answers = told.map(([kind, askedMs, toldMs, id]) => ({
    kind,
    what: kind,
    id: id ?? null,
    askedMs,
    toldMs,
  }));
  return {
    key: "k",
    buyer: "b",
    sku: "s",
    quantity: 1,
    answers,
    settled: null,
    settledAgain: null,
  };
}

describe("what a key came to", () => {
  it.each<[string, KeyRecord, ReturnType<typeof endingOf>]>([
    ["nobody answered", notes(), "pending"],
    ["the ledger said yes", notes(["held", 0, 5]), "reserved"],
    ["yes, after a no that took nothing", notes(["refused", 0, 1], ["held", 2, 5]), "reserved"],
    ["it had run out when asked again", notes(["over", 0, 9]), "reserved"],
    ["only noes", notes(["refused", 0, 1], ["refused", 2, 3]), "rejected"],
    ["undecided to the end", notes(["pending", 0, 1, "r"]), "pending"],
    ["no answer, and nobody asked again", notes(["unknown", 0, 1]), "pending"],
    ["no answer, then a no", notes(["unknown", 0, 1], ["refused", 2, 3]), "rejected"],
    [
      "a no that came while another click was open",
      notes(["refused", 0, 1], ["unknown", 0, 4]),
      "pending",
    ],
    ["undecided, then decided", notes(["pending", 0, 1, "r"], ["refused", 2, 3, "r"]), "rejected"],
    ["sent away, never back", notes(["later", 0, 1]), "pending"],
  ])("%s", (_, record, ending) => {
    expect(endingOf(record)).toBe(ending);
  });

  it("names every reservation it was ever told of once", () => {
    expect(idsOf(notes(["pending", 0, 1, "r"], ["held", 2, 3, "r"], ["held", 2, 3, "s"]))).toEqual([
      "r",
      "s",
    ]);
  });
});
