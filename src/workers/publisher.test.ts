import { beforeEach, describe, expect, it } from "vitest";
import { expectFirstInOrder, idsOf, statusesOf } from "../../test/support/events.ts";
import { type Process, Stage } from "../../test/support/stepped.ts";
import { type CloudEvent, NotAllTold, type Outlet } from "../outlet/outlet.ts";
import { Publisher } from "./publisher.ts";

let stage: Stage;
let process: Process;
let given: CloudEvent[];
let outlet: { -readonly [Key in keyof Outlet]: Outlet[Key] };
let step: () => Promise<number>;

beforeEach(async () => {
  stage = await Stage.open();
  process = await stage.started({ stock: { A: 9, B: 9 } });
  given = [];
  outlet = { deliver: async (events) => void given.push(...events) };
  step = stage.leased(new Publisher(process.parts, outlet)).step;
});

describe("an event", () => {
  it("says who, what and when in the words of CloudEvents, and holds the entry", async () => {
    const { id } = await process.reserved("k1", { A: 2 });
    await step();
    const event = given.find((each) => each.id === "A@2");
    const [, entry] = await stage.ledger.entries(event?.data.sku ?? ("" as never), everything);
    expect(event).toMatchObject({
      specversion: "1.0",
      source: expect.stringMatching(/^\/holdfast\/[\w-]{12}$/),
      type: "dev.holdfast.stock.reserve.v1",
      subject: "A",
      datacontenttype: "application/json",
      dataschema: "urn:holdfast:schema:stock-entry:v1",
      data: { from: "available", to: "reserved", quantity: 2, reservationId: id, buyerId: "k1" },
    });
    expect(event?.data.hash).toBe(entry?.hash);
    expect(event?.time).toBe(new Date(entry?.at ?? 0).toISOString());
    expect(event?.data).not.toHaveProperty("publication");
  });

  it("of another ledger has another source", async () => {
    const other = await Stage.open();
    const elsewhere = await other.started();
    const outlet = { deliver: async (events: readonly CloudEvent[]) => void given.push(...events) };
    await other.leased(new Publisher(elsewhere.parts, outlet)).step();
    await step();
    expect(new Set(given.filter(({ id }) => id === "A@1").map(({ source }) => source)).size).toBe(
      2,
    );
  });
});

describe("what the outlet has confirmed", () => {
  it("is marked, up to the first of a SKU that it has not, and told again from there", async () => {
    for (const key of ["k1", "k2", "k3"]) await process.reserved(key, { A: 1, B: 1 });
    const deliver = outlet.deliver;
    outlet.deliver = async (events) => {
      await deliver(events);
      const told = events.filter(({ id }) => id !== "A@2");
      throw new NotAllTold(new Set(told), new Error("one was refused"));
    };
    await expect(step()).rejects.toThrow("one was refused");
    expect(await statusesOf(stage.ledger, ["A"])).toEqual({ pending: 3, success: 1 });
    expect(await statusesOf(stage.ledger, ["B"])).toEqual({ pending: 0, success: 4 });
    given.length = 0;
    outlet.deliver = deliver;
    stage.clock.advance(1_000);
    await step();
    expect(idsOf(given)).toEqual(["A@2", "A@3", "A@4"]);
    expect(await statusesOf(stage.ledger)).toEqual({ pending: 0, success: 8 });
  });

  it("is nothing where all failed, whatever the outlet took", async () => {
    outlet.deliver = () => Promise.reject(new Error("away"));
    await expect(step()).rejects.toThrow("away");
    expect(await statusesOf(stage.ledger)).toEqual({ pending: 2, success: 0 });
  });
});

describe("a broker that is away", () => {
  it("stops no buyer: what they do waits, and is told when it is back", async () => {
    const deliver = outlet.deliver;
    outlet.deliver = () => Promise.reject(new Error("away"));
    for (const key of ["k1", "k2"]) {
      await expect(step()).rejects.toThrow("away");
      expect((await process.reserved(key)).state).toBe("reserved");
      stage.clock.advance(2_000);
    }
    await process.expectCoherent();
    expect(given).toEqual([]);
    outlet.deliver = deliver;
    await step();
    expect(idsOf(given)).toEqual(["A@1", "A@2", "A@3", "B@1"]);
    expectFirstInOrder(given);
  });
});

describe("the pace", () => {
  it("gathers for a second, and goes on at once while there is more", async () => {
    outlet.batchMax = 2;
    expect(await step()).toBe(2);
    expect(await step()).toBe(0);
    await process.reserved("k1");
    stage.clock.advance(1_000);
    await process.reserved("k2");
    expect(await step()).toBe(2);
    await process.reserved("k3");
    expect(await step()).toBe(1);
    await process.reserved("k4");
    expect(await step()).toBe(0);
    stage.clock.advance(1_000);
    expect(await step()).toBe(1);
  });
});

const everything = { after: 0, limit: 100, from: null, to: null };
