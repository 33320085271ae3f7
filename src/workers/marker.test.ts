import { describe, expect, it } from "vitest";
import { type Process, Stage } from "../../test/support/stepped.ts";

/** Everything leaves the outbox, and the broker loses it. */
async function lose(process: Process): Promise<void> {
  await process.relay.step();
  const gone = await process.stage.queue.receive(0, { max: 999, waitMs: 0 });
  await process.stage.queue.acknowledge(0, gone);
}

async function mark(process: Process): Promise<void> {
  const fence = process.parts.fences.get(0);
  if (fence === null) throw new Error("no lane");
  await process.stage.memory.mark(fence);
}

const resends = ({ happened }: Process): number =>
  happened.filter((each) => each.startsWith("resent")).length;

describe("a ticket that the broker lost", () => {
  it("is found by a marker, sent again and decided: one repair", async () => {
    const process = await (await Stage.open()).started();
    const asked = process.ask("k1", { A: 2 }, 60_000);
    await new Promise((resolve) => setImmediate(resolve));
    await lose(process);
    await process.reconciler.step();
    await process.carry();
    expect(resends(process)).toBe(1);
    expect(await process.drive(asked)).toMatchObject({ ok: true, value: { state: "reserved" } });
    expect(await process.repairs()).toBe(1);
    expect(await process.levels()).toMatchObject({ hot: { available: 3, inFlight: 0 }, drift: 0 });
  });

  it("is given up after three times, and its units are free again", async () => {
    const process = await (await Stage.open()).started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    for (let n = 0; n < 4; n += 1) {
      await lose(process);
      await mark(process);
      await process.relay.step();
      await process.write();
      expect(await process.repairs()).toBe(Math.min(n + 1, 3));
    }
    await process.carry();
    const view = await process.engine.buyers.reservation(first.value.id, { waitMs: 0 });
    expect(view?.state).toBe("void");
    expect(await process.levels()).toMatchObject({ hot: { available: 5, inFlight: 0 }, drift: 0 });
    expect(await process.reserve("k1", { A: 2 })).toMatchObject({ ok: false, code: "VOID" });
    await process.expectCoherent();
  });
});

describe("a backlog", () => {
  it("is no loss, however old: nothing is sent again before its marker has come", async () => {
    const process = await (await Stage.open()).started({ holdSeconds: 9_999 });
    const first = await process.ask("k1", { A: 2 }, 0);
    await process.relay.step();
    for (let n = 0; n < 5; n += 1) {
      process.stage.clock.advance(600_000);
      await process.reconciler.step();
      await process.relay.step();
    }
    expect(await process.repairs()).toBe(0);
    await process.carry();
    expect(await process.repairs()).toBe(0);
    if (!first.ok) throw new Error(first.code);
    const view = await process.engine.buyers.reservation(first.value.id, { waitMs: 0 });
    expect(view?.state).toBe("reserved");
  });

  it("of markers says nothing about tickets that were sent after them", async () => {
    const process = await (await Stage.open()).started();
    await mark(process);
    await process.ask("k1", { A: 2 }, 0);
    await process.carry();
    expect(await process.repairs()).toBe(0);
  });
});

describe("a marker", () => {
  it("of another epoch means nothing in this one", async () => {
    const process = await (await Stage.open()).started();
    await process.ask("k0", { A: 1 }, 0);
    await mark(process);
    await process.relay.step();
    const old = await process.stage.queue.receive(0, { max: 9, waitMs: 0 });
    process.stage.memory.flush();
    await process.rebuild();
    await process.ask("k1", { A: 1 }, 0);
    await process.relay.step();
    const held = await process.stage.queue.receive(0, { max: 9, waitMs: 0 });
    await process.stage.queue.release(0, old);
    await process.write();
    // The rebuild alone: nothing was sent again.
    expect(await process.repairs()).toBe(1);
    await process.stage.queue.release(0, held);
    await process.carry();
    expect(await process.levels()).toMatchObject({ balances: { reserved: 1 }, drift: 0 });
  });

  it("finds a ticket that was decided and not dropped, and drops it without a repair", async () => {
    const process = await (await Stage.open()).started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    await process.relay.step();
    // Decided by somebody who died before hot stock heard, and acknowledged by the broker.
    const [delivery] = await process.stage.queue.receive(0, { max: 1, waitMs: 0 });
    const { openEnvelope } = await import("../domain/message.ts");
    const { commandsOf } = await import("../engine/lane-commands.ts");
    if (delivery === undefined) throw new Error("one message");
    const envelope = openEnvelope(delivery.body, process.parts.messageKeys);
    await process.stage.ledger.commit(commandsOf(envelope, 1));
    await process.stage.queue.acknowledge(0, [delivery]);
    await mark(process);
    await process.carry();
    expect(await process.repairs()).toBe(0);
    expect(await process.levels()).toMatchObject({ hot: { available: 3, inFlight: 0 }, behind: 0 });
    await process.expectCoherent();
  });
});
