import { describe, expect, it } from "vitest";
import { type Process, quiet, Stage } from "../../test/support/stepped.ts";
import { reserveTicket } from "../../test/support/tickets.ts";
import { Fault } from "../domain/fault.ts";
import { sealEnvelope } from "../domain/message.ts";
import type { LaneItem, Ticket } from "../domain/ticket.ts";
import type { DeadLetter } from "../ledger/ledger.ts";

function letters({ stage }: Process): Promise<readonly DeadLetter[]> {
  const all = { state: null, lane: null, reason: null, itemId: null, after: 0, limit: 99 };
  return stage.ledger.deadLetters(all);
}

async function publish(process: Process, ...items: LaneItem[]): Promise<void> {
  const { messageKeys, fences } = process.parts;
  const epoch = fences.get(0)?.epoch;
  if (epoch === undefined) throw new Error("no lane");
  const body = sealEnvelope({ lane: 0, epoch, sentAt: 1, items }, messageKeys);
  await process.stage.queue.publish(0, body);
}

const item = (ticket: Ticket): LaneItem => ({ kind: "ticket", ticket, admittedAt: 1 });
const good = (id: string) => item(reserveTicket(id));
const poison = item(reserveTicket("bad", { A: 1 }, { sale: "nowhere" }));

/** How many messages the lane still has. */
const lag = ({ stage }: Process): Promise<number> => stage.queue.lag(0);

describe("the ledger writer", () => {
  it("decides what its lane holds in order, at once, and acknowledges last", async () => {
    const process = await (await Stage.open()).started({ stock: { A: 2 } });
    let commits = 0;
    process.bends.ledger.commit = async (commands) => {
      commits += 1;
      expect(await lag(process)).toBe(2);
      return process.stage.ledger.commit(commands);
    };
    process.bends.hot.project = async (fence, news) => {
      expect(await lag(process)).toBe(2);
      return process.stage.memory.project(fence, news);
    };
    await publish(process, good("r1"), good("r2"));
    await publish(process, good("r3"));
    expect(await process.write()).toBe(2);
    expect(commits).toBe(1);
    expect(await lag(process)).toBe(0);
    const states = [];
    for (const id of ["r1", "r2", "r3"]) {
      states.push((await process.stage.ledger.order(reserveTicket(id).id))?.order.state);
    }
    expect(states).toEqual(["reserved", "reserved", "rejected"]);
    await process.expectCoherent();
  });

  it("changes nothing by a message that comes again, whoever reads it", async () => {
    const stage = await Stage.open();
    const one = await stage.started();
    const two = await stage.process();
    const first = await one.ask("k1", { A: 2 }, 0);
    await one.relay.step();
    const [delivery] = await stage.queue.receive(0, { max: 1, waitMs: 0 });
    if (delivery === undefined || !first.ok) throw new Error("one message");
    for (let n = 0; n < 3; n += 1) await stage.queue.publish(0, delivery.body);
    expect(await one.write()).toBe(3);
    await stage.queue.release(0, [delivery]);
    expect(await two.write()).toBe(1);
    expect(await one.levels()).toMatchObject({
      balances: { available: 3, reserved: 2 },
      version: 2,
      hot: { available: 3, inFlight: 0 },
    });
    await one.expectCoherent();
  });

  it("tries what cannot be decided three times, then puts it aside; the lane goes on", async () => {
    const process = await (await Stage.open()).started();
    const tries: string[] = [];
    process.bends.ledger.commit = (commands) => {
      for (const command of commands) if (command.kind === "ticket") tries.push(command.ticket.id);
      return process.stage.ledger.commit(commands);
    };
    await publish(process, good("r1"), poison, good("r2"));
    expect(await process.write()).toBe(1);
    expect(tries).toEqual(["r1", "bad", "r2", "bad", "bad"]);
    expect(await letters(process)).toMatchObject([
      { kind: "ticket", itemId: "bad", sku: "A", tries: 3, state: "open" },
    ]);
    expect((await letters(process))[0]?.reason).toContain("nowhere");
    expect(await lag(process)).toBe(0);
    expect((await process.levels()).balances.reserved).toBe(2);
  });

  it.each([
    ["with a signature that does not fit", Buffer.from("holdfast1 k nonsense"), "envelope"],
    [
      "of another lane",
      sealEnvelope({ lane: 3, epoch: 1 as never, sentAt: 1, items: [] }, [
        { kid: "k", secret: Buffer.from("secret") },
      ]),
      "of lane 3, found in lane 0",
    ],
  ])("puts a message aside %s, whole, with its reason", async (_, body, reason) => {
    const process = await (await Stage.open()).started();
    await process.stage.queue.publish(0, body);
    await publish(process, good("r1"));
    await process.write();
    const [letter] = await letters(process);
    expect(letter?.reason).toContain(reason);
    expect(letter?.body.equals(body)).toBe(true);
    expect(await process.stage.ledger.order(reserveTicket("r1").id)).not.toBeNull();
  });

  it("dead-letters nothing while the ledger is away, however long", async () => {
    const process = await (await Stage.open()).started();
    await publish(process, poison, good("r1"));
    await process.stage.queue.publish(0, Buffer.from("junk"));
    process.bends.ledger.commit = async () => {
      throw new Fault("LEDGER_UNAVAILABLE", "away");
    };
    for (let n = 0; n < 5; n += 1) {
      await expect(process.drive(process.write())).rejects.toThrow("away");
    }
    expect(await letters(process)).toEqual([]);
    expect(await lag(process)).toBe(2);
    delete process.bends.ledger.commit;
    await process.write();
    expect(await letters(process)).toHaveLength(2);
    expect(await process.stage.ledger.order(reserveTicket("r1").id)).not.toBeNull();
  });

  it("pauses while hot stock does not hear, and tells each dead letter once", async () => {
    const process = await (await Stage.open()).started();
    await publish(process, good("r1"), poison);
    await process.stage.queue.publish(0, Buffer.from("junk"));
    process.bends.hot.project = async () => {
      throw new Fault("HOT_UNKNOWN", "no answer");
    };
    for (let n = 0; n < 3; n += 1) await expect(process.write()).rejects.toBeInstanceOf(Fault);
    expect(await lag(process)).toBe(2);
    delete process.bends.hot.project;
    await process.write();
    expect(await lag(process)).toBe(0);
    expect(await letters(process)).toHaveLength(2);
    expect(await process.levels()).toMatchObject({ behind: 0, drift: 0 });
  });

  it("does not wait for a hot stock that is closed: the rebuild brings it", async () => {
    const process = await (await Stage.open()).started();
    await publish(process, good("r1"));
    process.stage.memory.flush();
    expect(await process.write()).toBe(1);
    expect(await lag(process)).toBe(0);
    await process.rebuild();
    expect(await process.levels()).toMatchObject({ hot: { available: 4 }, behind: 0 });
  });

  it("stops a SKU that is damaged, and puts the ticket aside", async () => {
    const process = await (await Stage.open()).started();
    process.bends.ledger.commit = async (commands) => {
      const { results, ...rest } = await process.stage.ledger.commit(
        commands.filter(({ kind }) => kind !== "ticket"),
      );
      const broken = commands.flatMap((command) =>
        command.kind === "ticket"
          ? [
              {
                status: "broken",
                sku: command.ticket.lines[0]?.sku ?? null,
                reason: "torn",
              } as const,
            ]
          : [],
      );
      return { ...rest, results: [...broken, ...results] };
    };
    await publish(process, good("r1"));
    await process.write();
    expect((await process.levels()).status).toBe("stopped");
    expect(process.happened).toContain("skuStopped A torn");
    expect(await letters(process)).toMatchObject([{ itemId: "r1", reason: "torn" }]);
  });
});

describe("the relay", () => {
  it("that dies between the broker's confirm and the outbox tells twice, harmlessly", async () => {
    const process = await (await Stage.open()).started();
    const first = process.ask("k1", { A: 2 });
    await quiet();
    process.bends.hot.forward = async () => {
      throw new Fault("HOT_UNKNOWN", "killed");
    };
    await expect(process.relay.step()).rejects.toThrow("killed");
    delete process.bends.hot.forward;
    await process.relay.step();
    expect(await lag(process)).toBe(2);
    await process.write();
    expect(await process.drive(first)).toMatchObject({ ok: true, value: { state: "reserved" } });
    expect(await process.levels()).toMatchObject({ version: 2, drift: 0, hot: { inFlight: 0 } });
  });

  it("keeps what the broker did not confirm", async () => {
    const process = await (await Stage.open()).started();
    await process.ask("k1", { A: 2 }, 0);
    process.bends.bus.publish = async () => {
      throw new Fault("BUS_UNAVAILABLE", "away");
    };
    await expect(process.relay.step()).rejects.toThrow("away");
    expect((await process.stage.memory.outbox(0, 9)).length).toBe(1);
    delete process.bends.bus.publish;
    expect(await process.relay.step()).toBe(1);
    expect((await process.stage.memory.outbox(0, 9)).length).toBe(0);
  });

  it("bounds an envelope by its lines, and keeps the order", async () => {
    const stock = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`S${n}`, 9]));
    const process = await (await Stage.open()).started({ stock });
    const cart = Object.fromEntries(Object.keys(stock).map((sku) => [sku, 1]));
    const sizes: number[] = [];
    process.bends.bus.publish = (lane, body) => {
      sizes.push(body.length);
      return process.stage.queue.publish(lane, body);
    };
    const all = ["k1", "k2", "k3"].map((key) => process.ask(key, cart, 0));
    await Promise.all(all);
    await process.relay.step();
    expect(sizes).toHaveLength(2);
    await process.write();
    expect((await process.levels("S7")).balances.reserved).toBe(3);
  });
});
