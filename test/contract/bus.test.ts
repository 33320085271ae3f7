import { beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/bus/bus.ts";
import { type BusSubject, busAdapters } from "../support/bus-adapters.ts";

/** What every bus promises. It may do worse: lose, repeat, reorder; the line makes up for that. */
describe.each(busAdapters)("bus $name", ({ open }) => {
  let subject: BusSubject;
  beforeEach(async () => {
    subject = await open();
    return () => subject.bus.close();
  });

  const publish = async (lane: number, ...texts: string[]): Promise<void> => {
    for (const text of texts) await subject.bus.publish(lane, Buffer.from(text));
  };
  const receive = (max = 10, waitMs = 0): Promise<readonly Delivery[]> =>
    subject.bus.receive(0, { max, waitMs });
  /** A broker may keep back what came later until what it gave out before is acknowledged. */
  const receiveAll = async (count: number): Promise<readonly Delivery[]> => {
    const first = await receive();
    await subject.bus.acknowledge(0, first);
    return first.length < count ? [...first, ...(await receive())] : first;
  };
  const texts = (deliveries: readonly Delivery[]): string[] =>
    deliveries.map(({ body }) => body.toString());

  it("delivers in order, up to a limit, and each lane its own", async () => {
    await publish(0, "a", "b", "c");
    await publish(1, "x");
    expect(texts(await receive(2))).toEqual(["a", "b"]);
    expect(texts(await receive(2))).toEqual(["c"]);
    expect(texts(await subject.bus.receive(1, { max: 5, waitMs: 0 }))).toEqual(["x"]);
  });

  it("delivers bytes as they were", async () => {
    const body = Buffer.from([0, 10, 13, 32, 127, 128, 255, 0]);
    await subject.bus.publish(0, body);
    expect((await receive())[0]?.body.equals(body)).toBe(true);
  });

  it("keeps a message out until it is given back, and forgets it once acknowledged", async () => {
    await publish(0, "a");
    const first = await receive();
    expect(await receive()).toEqual([]);
    await subject.bus.acknowledge(0, first);
    await subject.bus.release(0, first);
    await subject.consumerDies(0);
    expect(await receive()).toEqual([]);
    expect(await subject.bus.lag(0)).toBe(0);
  });

  it("delivers what was released again, in order, before what came later", async () => {
    await publish(0, "a", "b", "c", "d");
    const taken = await receive(3);
    await subject.bus.acknowledge(0, taken.slice(1, 2));
    await subject.bus.release(0, taken.slice(0, 2));
    await subject.bus.release(0, taken.slice(2));
    await publish(0, "e");
    expect(texts(await receiveAll(4))).toEqual(["a", "c", "d", "e"]);
  });

  it("delivers again what a consumer had when it died", async () => {
    await publish(0, "a", "b", "c");
    await receive(2);
    await subject.consumerDies(0);
    expect(texts(await receive())).toEqual(["a", "b", "c"]);
  });

  it("counts the attempts of each message", async () => {
    await publish(0, "a");
    const attempts: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const deliveries = await receive();
      attempts.push(...deliveries.map(({ attempt }) => attempt));
      await subject.bus.release(0, deliveries);
    }
    await publish(0, "b");
    attempts.push(...(await receiveAll(2)).map(({ attempt }) => attempt));
    expect(attempts).toEqual([1, 2, 3, 4, 1]);
  });

  it("tells how many messages are not acknowledged", async () => {
    expect(await subject.bus.lag(0)).toBe(0);
    await publish(0, "a", "b");
    await receive(1);
    expect(await subject.bus.lag(0)).toBe(2);
    expect(await subject.bus.lag(1)).toBe(0);
  });

  it("waits for the first message, no longer than asked, and takes what is there", async () => {
    const waiting = receive(10, 1_000);
    await publish(0, "a");
    expect(texts(await waiting)).toEqual(["a"]);
    const vain = receive(10, 1_000);
    await subject.pass(1_000);
    expect(await vain).toEqual([]);
  });

  it("stops waiting when asked to, and loses nothing by it", async () => {
    const stop = new AbortController();
    const waiting = subject.bus.receive(0, { max: 5, waitMs: 60_000, signal: stop.signal });
    stop.abort();
    expect(await waiting).toEqual([]);
    const late = subject.bus.receive(0, { max: 5, waitMs: 60_000, signal: stop.signal });
    expect(await late).toEqual([]);
    await publish(0, "a");
    expect(texts(await receive())).toEqual(["a"]);
  });

  it("gives a message to one of those who wait", async () => {
    const both = Promise.all([receive(1, 1_000), receive(1, 1_000)]);
    await publish(0, "a");
    await subject.pass(1_000);
    expect((await both).flatMap(texts)).toEqual(["a"]);
  });

  it("wakes whoever waits when a message is given back", async () => {
    await publish(0, "a");
    const taken = await receive();
    const waiting = receive(1, 60_000);
    await subject.bus.release(0, taken);
    expect(texts(await waiting)).toEqual(["a"]);
  });
});
