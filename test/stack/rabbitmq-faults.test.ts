import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/bus/bus.ts";
import { RabbitmqBus } from "../../src/bus/rabbitmq.ts";
import { systemClock } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import { PrivateRabbitmq } from "../../stack/rabbitmq.ts";
import { TcpProxy } from "../../stack/tcp-proxy.ts";

const answerWithinMs = 1_500;
const patienceMs = 30_000;

let rabbitmq: PrivateRabbitmq;
let proxy: TcpProxy;
let bus: RabbitmqBus;
let prefix = "";
let prefixes = 0;
let opened: RabbitmqBus[] = [];

beforeAll(async () => {
  rabbitmq = await PrivateRabbitmq.start();
});
afterAll(() => rabbitmq.stop());

beforeEach(async () => {
  prefixes += 1;
  prefix = `faults-${prefixes}`;
  proxy = await TcpProxy.before(rabbitmq.port);
  bus = open(proxy.port);
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  await proxy.close();
});

function open(port = rabbitmq.port, more: { deliveriesMax?: number } = {}): RabbitmqBus {
  const url = rabbitmq.url.replace(`:${rabbitmq.port}/`, `:${port}/`);
  const made = new RabbitmqBus({ url, clock: systemClock, prefix, answerWithinMs, ...more });
  opened.push(made);
  return made;
}

/** `sent` for what the broker has confirmed, or the fault's code. */
async function send(text: string, by = bus): Promise<string> {
  try {
    await by.publish(0, Buffer.from(text));
    return "sent";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code;
  }
}

/** As the relay does: again and again, until the broker has confirmed it. */
async function sendUntilSent(text: string): Promise<string[]> {
  const said: string[] = [];
  const deadline = systemClock.mono() + patienceMs;
  while (said.at(-1) !== "sent" && systemClock.mono() < deadline) {
    said.push(await send(text));
    if (said.at(-1) !== "sent") await systemClock.sleep(100);
  }
  expect(said.at(-1)).toBe("sent");
  return said;
}

/** As the writer does, until `count` different ones are here; each is acknowledged. */
async function receiveAll(count: number, by = bus): Promise<string[]> {
  const found: string[] = [];
  const deadline = systemClock.mono() + patienceMs;
  while (new Set(found).size < count && systemClock.mono() < deadline) {
    try {
      const deliveries = await by.receive(0, { max: 20, waitMs: 200 });
      await by.acknowledge(0, deliveries);
      found.push(...deliveries.map(textOf));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      await systemClock.sleep(100);
    }
  }
  return found;
}

function textOf({ body }: Delivery): string {
  return body.toString();
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `m${n}`);

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.mono() + patienceMs;
  while (!(await holds())) {
    if (systemClock.mono() > deadline) throw new Error("it does not come about");
    await systemClock.sleep(50);
  }
}

describe("a connection that breaks", () => {
  it("leaves a send unknown when its confirm is cut off, and both tellings arrive", async () => {
    await send("a");
    proxy.weather = "cut-reply";
    proxy.trigger = "b-body";
    expect(await send("b-body")).toBe("BUS_UNKNOWN");
    proxy.weather = "pass";
    expect(await send("b-body")).toBe("sent");
    const found = await receiveAll(2, open());
    expect(found.slice(0, 2)).toEqual(["a", "b-body"]);
    expect(proxy.cuts).toBe(1);
  });

  it("is told within the deadline through a black hole, and makes way for another", async () => {
    await send("a");
    proxy.weather = "black-hole";
    expect(await send("b")).toBe("BUS_UNKNOWN");
    expect(await send("b")).toBe("BUS_UNAVAILABLE");
    await expect(bus.lag(0)).rejects.toThrow(/no answer within/);
    await bus.close();
    proxy.weather = "pass";
    expect(await receiveAll(1, open())).toEqual(["a"]);
  });

  it("swallows no acknowledgement: it fails, and the messages come again", async () => {
    for (const text of numbered(3)) await send(text);
    const taken = await bus.receive(0, { max: 3, waitMs: 2_000 });
    proxy.weather = "cut-request";
    await expect(bus.acknowledge(0, taken)).rejects.toMatchObject({ code: "BUS_UNKNOWN" });
    proxy.weather = "pass";
    await expect(bus.acknowledge(0, taken)).rejects.toThrow(/comes again/);
    expect(await receiveAll(3)).toEqual(numbered(3));
    expect(await bus.lag(0)).toBe(0);
  });
});

describe("a queue that is gone", () => {
  it("takes nothing: the message comes back, and the queue is made again", async () => {
    await send("a");
    await rabbitmq.ctl("delete_queue", `${prefix}.lane-0`);
    expect(await send("b")).toBe("BUS_UNAVAILABLE");
    expect(await send("b")).toBe("sent");
    expect(await receiveAll(1)).toEqual(["b"]);
  });

  it("is made again by whoever reads it, and read on", async () => {
    expect(await bus.receive(0, { max: 1, waitMs: 0 })).toEqual([]);
    await rabbitmq.ctl("delete_queue", `${prefix}.lane-0`);
    await sendUntilSent("a");
    expect(await receiveAll(1)).toEqual(["a"]);
  });
});

describe("two consumers of a lane", () => {
  it("are one and one that waits, and takes over in order when the first is gone", async () => {
    for (const text of numbered(10)) await send(text);
    const first = await bus.receive(0, { max: 4, waitMs: 2_000 });
    const second = open();
    expect(await second.receive(0, { max: 10, waitMs: 500 })).toEqual([]);
    await bus.acknowledge(0, first.slice(0, 1));
    await proxy.close();
    const found = await receiveAll(9, second);
    expect(found).toEqual(numbered(10).slice(1));
  });

  it("hand over at once when the first one closes", async () => {
    for (const text of numbered(3)) await send(text);
    await bus.receive(0, { max: 2, waitMs: 2_000 });
    const second = open();
    expect(await second.receive(0, { max: 10, waitMs: 0 })).toEqual([]);
    const waiting = second.receive(0, { max: 1, waitMs: patienceMs });
    await bus.close();
    expect((await waiting).map(textOf)).toEqual(["m0"]);
  });
});

describe("a broker that is short of disk", () => {
  it("takes nothing, goes on delivering, and takes again by itself", async () => {
    await send("a");
    await rabbitmq.ctl("set_disk_free_limit", "1000000GB");
    expect(await send("b")).toBe("BUS_UNKNOWN");
    expect(await send("c")).toBe("BUS_UNAVAILABLE");
    await expect(bus.publish(0, Buffer.from("c"))).rejects.toThrow(/takes no messages/);
    expect((await receiveAll(1))[0]).toBe("a");
    await rabbitmq.ctl("set_disk_free_limit", "50MB");
    await sendUntilSent("c");
    expect(await receiveAll(2)).toEqual(["b", "c"]);
  });
});

describe("what the broker gives up", () => {
  it("is counted, and blocks nothing behind it", async () => {
    const strict = { deliveriesMax: 2 };
    const first = open(rabbitmq.port, strict);
    for (const text of ["bad", "good"]) await send(text, first);
    expect(await first.givenUp()).toBe(0);
    let reader = first;
    for (let n = 0; n < 3; n += 1) {
      expect((await reader.receive(0, { max: 1, waitMs: 2_000 })).map(textOf)).toEqual(["bad"]);
      await reader.close();
      reader = open(rabbitmq.port, strict);
    }
    await until(async () => (await reader.givenUp()) > 0);
    await send("later", reader);
    expect(await receiveAll(1, reader)).toContain("later");
  });

  it("is nothing while messages are only given back by us, however often", async () => {
    const reader = open(rabbitmq.port, { deliveriesMax: 2 });
    await send("a", reader);
    let attempts = 0;
    for (let n = 0; n < 20; n += 1) {
      const deliveries = await reader.receive(0, { max: 1, waitMs: 2_000 });
      attempts = deliveries[0]?.attempt ?? 0;
      await reader.release(0, deliveries);
    }
    expect(attempts).toBe(20);
    expect(await reader.givenUp()).toBe(0);
    expect(await receiveAll(1, reader)).toEqual(["a"]);
  });
});

describe("a broker that is killed", () => {
  it("has lost nothing that it confirmed, and is found again without being told", async () => {
    const sending = (async () => {
      const said: string[][] = [];
      for (const text of numbered(200)) said.push(await sendUntilSent(text));
      return said;
    })();
    await until(async () => (await bus.lag(0)) > 50);
    await rabbitmq.crash();
    await rabbitmq.restart();
    const said = await sending;
    expect(said.flat().filter((word) => word !== "sent").length).toBeGreaterThan(0);
    const found = await receiveAll(200);
    expect([...new Set(found)]).toEqual(numbered(200));
  });

  it("delivers again what was not acknowledged", async () => {
    for (const text of numbered(5)) await sendUntilSent(text);
    expect((await bus.receive(0, { max: 3, waitMs: 2_000 })).map(textOf)).toContain("m0");
    await rabbitmq.crash();
    await rabbitmq.restart();
    expect(await receiveAll(5)).toEqual(numbered(5));
  });

  /** The last one: it leaves the broker dead. */
  it("is told as away at once, and closed within a deadline", async () => {
    await send("a");
    await bus.receive(0, { max: 1, waitMs: 2_000 });
    await rabbitmq.crash();
    await until(async () => (await send("b")) === "BUS_UNAVAILABLE");
    await expect(bus.receive(0, { max: 1, waitMs: 0 })).rejects.toThrow(Fault);
    await expect(bus.lag(0)).rejects.toThrow(Fault);
    await bus.close();
    expect(await send("c")).toBe("BUS_UNAVAILABLE");
  });
});
