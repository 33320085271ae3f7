import { describe, expect, it } from "vitest";
import { commands } from "../../test/support/commands.ts";
import { type Process, Stage } from "../../test/support/stepped.ts";
import { reserveTicket } from "../../test/support/tickets.ts";
import { Fault } from "../domain/fault.ts";
import { sealEnvelope } from "../domain/message.ts";
import type { LaneItem } from "../domain/ticket.ts";
import { skuId } from "../domain/values.ts";

const restock = (name: string) => commands.give("restock", name, 1);

/** Hot stock does not answer to the news of these commands. */
async function unheard(process: Process, ...names: string[]): Promise<void> {
  process.bends.hot.project = async () => {
    throw new Fault("HOT_UNAVAILABLE", "no answer");
  };
  for (const name of names) await process.one(restock(name));
  delete process.bends.hot.project;
}

async function publish(process: Process, ...items: LaneItem[]): Promise<void> {
  const epoch = process.parts.fences.get(0)?.epoch ?? (0 as never);
  const envelope = { lane: 0, epoch, sentAt: 1, items };
  await process.stage.queue.publish(0, sealEnvelope(envelope, process.parts.messageKeys));
}

const item = (id: string, cart = { A: 1 }): LaneItem => ({
  kind: "ticket",
  ticket: reserveTicket(id, cart),
  admittedAt: 1,
});

describe("the projection", () => {
  it("that was lost is caught up with the next entry, and is no repair", async () => {
    const process = await (await Stage.open()).started();
    await unheard(process, "o1", "o2", "o3");
    expect(await process.levels()).toMatchObject({ behind: 3, drift: 0, hot: { available: 5 } });
    await process.one(restock("o4"));
    expect(await process.levels()).toMatchObject({ behind: 0, drift: 0, hot: { available: 9 } });
    expect(await process.repairs()).toBe(0);
    await process.expectCoherent();
  });

  it("that was lost is caught up at rest by the reconciler", async () => {
    const process = await (await Stage.open()).started();
    await unheard(process, "o1", "o2");
    await process.reconciler.step();
    expect(await process.levels()).toMatchObject({ behind: 0, hot: { available: 7 } });
    expect(await process.repairs()).toBe(0);
  });

  it("that was lost is caught up when its message comes again", async () => {
    const process = await (await Stage.open()).started();
    process.bends.hot.project = async () => {
      throw new Fault("HOT_UNKNOWN", "no answer");
    };
    await publish(process, item("r1"));
    await expect(process.write()).rejects.toThrow("not heard");
    expect(await process.levels()).toMatchObject({ behind: 1 });
    delete process.bends.hot.project;
    await process.write();
    expect(await process.levels()).toMatchObject({ behind: 0, hot: { available: 4 } });
  });

  it("by two processes out of order comes to the same", async () => {
    const stage = await Stage.open();
    const one = await stage.started();
    const two = await stage.process();
    const first = await stage.ledger.commit([restock("o1")]);
    await two.one(restock("o2"));
    await one.parts.projector.project(first.entries, first.settled);
    expect(await one.levels()).toMatchObject({ behind: 0, drift: 0, hot: { available: 7 } });
  });

  it("catches up over many pages", async () => {
    const process = await (await Stage.open()).started();
    const many = Array.from({ length: 1_201 }, (_, n) => restock(`m${n}`));
    for (let from = 0; from < many.length; from += 300) {
      await process.stage.ledger.commit(many.slice(from, from + 300));
    }
    await process.one(restock("last"));
    expect(await process.levels()).toMatchObject({ behind: 0, hot: { available: 5 + 1_202 } });
  });

  it("of a SKU that hot stock lost puts the lane in doubt", async () => {
    const process = await (await Stage.open()).started({ stock: { A: 5, B: 5 } });
    process.stage.memory.tamper(0, (state) => state.skus.delete(skuId("A")));
    const { projected } = await process.parts.line.run([restock("o1")]);
    expect(projected).toBe("later");
    expect(process.parts.fences.cause(0)).toBe("SKU A is missing");
    await process.rebuild();
    expect(await process.levels()).toMatchObject({ behind: 0, hot: { available: 6 } });
  });

  it("that does not fit calls a person, and does not block the lane", async () => {
    const process = await (await Stage.open()).started({ stock: { A: 5, B: 5 } });
    process.stage.memory.tamper(0, (state) => {
      const sku = state.skus.get(skuId("A"));
      if (sku !== undefined) sku.hash = "f".repeat(64);
    });
    await unheard(process, "o1");
    await publish(process, item("r1"), item("r2", { B: 1 } as never));
    await process.write();
    await publish(process, item("r1"));
    await process.write();
    expect(await process.stage.queue.lag(0)).toBe(0);
    expect(process.happened.some((each) => each.startsWith("alarm fork SKU A"))).toBe(true);
    expect(await process.levels("B")).toMatchObject({ behind: 0, hot: { available: 4 } });
  });

  it("of a drop waits for the entries before it", async () => {
    const process = await (await Stage.open()).started();
    const asked = process.ask("k1", { A: 2 }, 0);
    await asked;
    await process.relay.step();
    process.bends.hot.project = async () => {
      throw new Fault("HOT_UNKNOWN", "no answer");
    };
    await expect(process.write()).rejects.toThrow("not heard");
    delete process.bends.hot.project;
    expect(await process.levels()).toMatchObject({ hot: { available: 3, inFlight: 2 }, behind: 1 });
    await process.write();
    expect(await process.levels()).toMatchObject({ hot: { available: 3, inFlight: 0 }, behind: 0 });
    await process.expectCoherent();
  });
});
