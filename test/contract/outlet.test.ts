import { beforeEach, describe, expect, it } from "vitest";
import type { CloudEvent, Outlet } from "../../src/outlet/outlet.ts";
import { NotAllTold } from "../../src/outlet/outlet.ts";
import { Publisher } from "../../src/workers/publisher.ts";
import { expectFirstInOrder, idsOf, soldEvents, statusesOf } from "../support/events.ts";
import { type OutletSubject, outletAdapters } from "../support/outlet-adapters.ts";
import { Stage } from "../support/stepped.ts";

/** Longer than any deadline of an adapter. */
const boundMs = 20_000;
const triesMax = 40;

/** As the publisher does: again, until the broker has confirmed all. */
async function deliverUntilTold(outlet: Outlet, events: readonly CloudEvent[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await outlet.deliver(events);
    } catch (error) {
      if (tries === triesMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** What every outlet promises: confirmed is told, and nothing else is. */
describe.each(outletAdapters)("outlet $name", ({ open }) => {
  let subject: OutletSubject;
  let events: readonly CloudEvent[];
  beforeEach(async () => {
    subject = await open();
    events = await soldEvents({ A: 12, B: 7 });
    return () => subject.close();
  });

  it("gives its readers every event whole, those of a SKU in their order", async () => {
    await subject.outlet.deliver(events.slice(0, 9));
    await subject.outlet.deliver([]);
    await subject.outlet.deliver(events.slice(9));
    const seen = await subject.seen(idsOf(events));
    for (const event of events) expect(seen.find(({ id }) => id === event.id)).toEqual(event);
    expect(seen).toHaveLength(events.length);
    if (subject.isOrdered) expectFirstInOrder(seen);
  });

  it("takes an event again: it is the same for whoever reads it twice", async () => {
    await subject.outlet.deliver(events);
    await subject.outlet.deliver(events.slice(0, 2));
    await subject.outlet.deliver(events.slice(-1));
    const seen = await subject.seen(idsOf(events));
    expect(new Set(seen.map(({ source, id }) => `${source} ${id}`)).size).toBe(events.length);
  });

  it("calls nothing told that was not confirmed by a deadline, and takes it again", async () => {
    await subject.outlet.deliver(events.slice(0, 3));
    await subject.silence(true);
    const from = performance.now();
    const refused: unknown = await subject.outlet.deliver(events.slice(3)).then(
      () => null,
      (error: unknown) => error,
    );
    expect(performance.now() - from).toBeLessThan(boundMs);
    expect(refused).toBeInstanceOf(Error);
    if (refused instanceof NotAllTold) expect(refused.told.size).toBe(0);
    await subject.silence(false);
    await deliverUntilTold(subject.outlet, events.slice(3));
    const seen = await subject.seen(idsOf(events));
    if (subject.isOrdered) expectFirstInOrder(seen);
  });

  it("lets the publisher mark what its readers have, and nothing else", async () => {
    const stage = await Stage.open();
    const process = await stage.started({ stock: { A: 5, B: 5 } });
    await process.reserved("k1", { A: 1, B: 1 });
    const publisher = stage.leased(new Publisher(process.parts, subject.outlet));
    await subject.silence(true);
    await expect(publisher.step()).rejects.toThrow();
    expect(await statusesOf(stage.ledger)).toEqual({ pending: 4, success: 0 });
    await subject.silence(false);
    for (let tries = 0; (await statusesOf(stage.ledger)).pending > 0; tries += 1) {
      expect(tries).toBeLessThan(triesMax);
      stage.clock.advance(2_000);
      await publisher.step().catch(() => new Promise((resolve) => setTimeout(resolve, 250)));
    }
    const ids = ["A@1", "A@2", "B@1", "B@2"];
    const seen = await subject.seen(ids);
    expect([...new Set(seen.map(({ id }) => id))].sort()).toEqual(ids);
    if (subject.isOrdered) expectFirstInOrder(seen);
  });
});
