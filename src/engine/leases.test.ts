import { describe, expect, it } from "vitest";
import { ManualClock } from "../clock.ts";
import { Leases } from "./leases.ts";

/** The ledger's side, as far as one name at a time needs it. */
function opened() {
  const clock = new ManualClock();
  const asked: string[][] = [];
  let isFree = true;
  let token = 1;
  const ledger = {
    hold: async (_: string, wishes: readonly { readonly name: string }[]) => {
      asked.push(wishes.map(({ name }) => name));
      return isFree ? wishes.map(({ name }) => ({ name, token })) : [];
    },
    release: async (leases: readonly { readonly name: string }[]) => {
      asked.push(["released", ...leases.map(({ name }) => name)]);
    },
  };
  const leases = new Leases({ ledger, clock, holder: "p" });
  const taken = (): void => {
    isFree = false;
    token += 1;
  };
  return { clock, leases, asked, taken };
}

describe("the leases of a process", () => {
  it("are asked for once wished for, and prolonged at a third of their term", async () => {
    const { clock, leases, asked } = opened();
    await leases.keep();
    expect(leases.held("expirer")).toBeNull();
    await leases.keep();
    expect(leases.held("expirer")).toEqual({ name: "expirer", token: 1 });
    clock.advance(3_000);
    await leases.keep();
    clock.advance(400);
    await leases.keep();
    expect(asked).toEqual([["expirer"], ["expirer"]]);
  });

  it("are not acted on after their time, whatever the ledger would say", async () => {
    const { clock, leases } = opened();
    leases.held("expirer");
    await leases.keep();
    clock.advance(9_999);
    expect(leases.held("expirer")).not.toBeNull();
    clock.advance(1);
    expect(leases.held("expirer")).toBeNull();
  });

  it("end when another has them, by a refusal or by the next look", async () => {
    const { clock, leases, taken } = opened();
    leases.held("expirer");
    await leases.keep();
    const lease = leases.held("expirer");
    if (lease !== null) leases.lost(lease);
    expect(leases.held("expirer")).toBeNull();
    await leases.keep();
    expect(leases.held("expirer")).toEqual(lease);
    taken();
    clock.advance(4_000);
    await leases.keep();
    expect(leases.held("expirer")).toBeNull();
  });

  it("are given up at the end, and not taken again", async () => {
    const { leases, asked } = opened();
    for (const name of ["expirer", "relay 0"]) leases.held(name);
    await leases.keep();
    await leases.release();
    expect(leases.held("expirer")).toBeNull();
    await leases.keep();
    expect(asked).toEqual([
      ["expirer", "relay 0"],
      ["released", "expirer", "relay 0"],
    ]);
  });
});
