import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { someEntry, someLevel, someReservation, someSale } from "../../test/support/fake-engine.ts";
import { entryBody, levelBody, reservationBody, saleBody, stockChangedBody } from "./bodies.ts";
import { EntryBody, LevelBody, ReservationBody, SaleBody, StockChangedBody } from "./contract.ts";

const imports = /^import [^;]*?from "([^"]+)"/gms;

/** Every file that a module brings with it, and every package. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, target = ""] of readFileSync(path, "utf8").matchAll(imports)) {
    if (target.startsWith(".")) reach(resolve(dirname(path), target), seen);
    else seen.add(target);
  }
  return seen;
}

describe("the contract", () => {
  it("can be imported by a browser: it reaches no module of Node", () => {
    const reached = [...reach(fileURLToPath(new URL("contract.ts", import.meta.url)))];
    expect(reached.filter((path) => !path.startsWith("/"))).toEqual(["typebox"]);
    expect(reached.some((path) => path.endsWith("/src/domain/values.ts"))).toBe(true);
  });

  it.each([
    ["a reservation", ReservationBody, reservationBody(someReservation("reserved"))],
    ["a pending reservation", ReservationBody, reservationBody(someReservation("pending"))],
    ["a level", LevelBody, levelBody(someLevel())],
    ["a level while hot stock is closed", LevelBody, levelBody(someLevel("a", { hot: null }))],
    ["an entry", EntryBody, entryBody(someEntry(1))],
    ["an entry that moves nothing", EntryBody, entryBody(someEntry(1, { operation: "reject" }))],
    ["a sale", SaleBody, saleBody(someSale())],
    [
      "a change of stock",
      StockChangedBody,
      stockChangedBody({ level: someLevel(), entries: [someEntry(1), someEntry(2)] }),
    ],
  ])("describes %s as it is sent, field for field", (_name, schema, body) => {
    expect(Check(schema, body)).toBe(true);
  });
});
