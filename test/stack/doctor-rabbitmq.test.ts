import type { AsyncMessage } from "rabbitmq-client";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { RabbitmqBus } from "../../src/bus/rabbitmq.ts";
import { RabbitmqClient } from "../../src/bus/rabbitmq-client.ts";
import { deliveriesMax, RabbitmqQueues } from "../../src/bus/rabbitmq-queues.ts";
import { systemClock } from "../../src/clock.ts";
import { examineStores } from "../../src/doctor/examine.ts";
import { examineRabbitmq } from "../../src/doctor/rabbitmq.ts";
import { PrivateRabbitmq } from "../../stack/rabbitmq.ts";
import { foundAt, notOk } from "../support/doctor.ts";

const clock = systemClock;
let rabbitmq: PrivateRabbitmq;
let prefix = "";
let prefixes = 0;

beforeAll(async () => {
  rabbitmq = await PrivateRabbitmq.start();
});
afterAll(() => rabbitmq.stop());
beforeEach(() => {
  prefixes += 1;
  prefix = `doctor-${prefixes}`;
});

const examine = (url = rabbitmq.url) => examineRabbitmq(url, clock, { prefix, count: 2 });

async function withLanes(...lanes: readonly number[]): Promise<RabbitmqBus> {
  const bus = new RabbitmqBus({ url: rabbitmq.url, clock, prefix });
  onTestFinished(() => bus.close());
  for (const lane of lanes) await bus.lag(lane);
  return bus;
}

/** A queue under a lane's name, made by somebody who knew better. */
async function declare(lane: number, other: Readonly<Record<string, unknown>>): Promise<void> {
  const client = new RabbitmqClient({
    ...{ url: rabbitmq.url, name: "somebody", clock, answerWithinMs: 5_000 },
  });
  const queues = new RabbitmqQueues({ client, clock, prefix, deliveriesMax });
  const settings = { ...queues.laneSettings(), ...other };
  const known = Object.entries(settings).filter(([, value]) => value !== null);
  await client.ask("declare", (channel) =>
    channel.queueDeclare({
      queue: queues.nameOf(lane),
      durable: true,
      arguments: Object.fromEntries(known),
    }),
  );
  await client.close();
}

describe("the doctor of a real RabbitMQ", () => {
  it("finds nothing wrong with a healthy one, asked alone or with the other stores", async () => {
    await withLanes(0, 1);
    const found = await examine();
    expect(notOk(found)).toEqual({});
    expect(found).toHaveLength(10);
    expect(foundAt(found, "rabbitmq.version")).toMatch(/^RabbitMQ \d+\.\d+\.\d+$/);
    const urls = {
      ledger: { kind: "sqlite", file: ":memory:" },
      hot: { kind: "memory" },
      bus: { kind: "amqp", url: rabbitmq.url },
      lanes: { prefix, count: 2 },
    } as const;
    expect(notOk(await examineStores(urls, { clock, isDeep: false }))).toEqual({});
  });

  it("names the queues that are not there", async () => {
    await withLanes(1);
    const found = await examine();
    expect(notOk(found)).toEqual({ "rabbitmq.queues": "warn" });
    expect(foundAt(found, "rabbitmq.queues")).toContain(`${prefix}.lane-0`);
  });

  const classic = {
    "x-queue-type": "classic",
    "x-delivery-limit": null,
    "x-dead-letter-strategy": null,
  };
  it.each([
    ["single-consumer", "fail", { "x-single-active-consumer": null }, "none"],
    ["delivery-limit", "warn", { "x-delivery-limit": 20 }, "20"],
    ["dead-letter-route", "fail", { "x-overflow": "drop-head" }, "x-overflow drop-head"],
  ] as const)("names rabbitmq.%s (%s) of a queue with %o", async (id, state, other, told) => {
    await withLanes(1);
    await declare(0, other);
    const found = await examine();
    expect(notOk(found)).toEqual({ [`rabbitmq.${id}`]: state });
    expect(foundAt(found, `rabbitmq.${id}`)).toContain(told);
  });

  it("names a classic queue, and what such a one cannot have", async () => {
    await withLanes(1);
    await declare(0, classic);
    const found = await examine();
    expect(notOk(found)).toMatchObject({ "rabbitmq.queue-type": "fail" });
    expect(foundAt(found, "rabbitmq.queue-type")).toContain("classic");
  });

  it("names what the broker has given up, and tells what waits", async () => {
    const bus = await withLanes(0, 1);
    await bus.publish(0, Buffer.from("one"));
    expect(foundAt(await examine(), "rabbitmq.lag")).toContain("1 messages");
    const client = new RabbitmqClient({
      ...{ url: rabbitmq.url, name: "somebody", clock, answerWithinMs: 5_000 },
    });
    const channel = await client.channel();
    const refuse = ({ deliveryTag }: AsyncMessage): void =>
      channel.basicNack({ deliveryTag, requeue: false });
    await channel.basicConsume({ queue: `${prefix}.lane-0` }, refuse);
    await expect.poll(() => bus.givenUp(), { timeout: 20_000 }).toBe(1);
    await client.close();
    expect(notOk(await examine())).toEqual({ "rabbitmq.dead-letters": "warn" });
  });

  it("names the user that the server comes with", async () => {
    await withLanes(0, 1);
    await rabbitmq.ctl("add_user", "guest", "guest");
    onTestFinished(async () => void (await rabbitmq.ctl("delete_user", "guest")));
    await rabbitmq.ctl("set_permissions", "-p", "/", "guest", ".*", ".*", ".*");
    expect(notOk(await examine())).toEqual({ "rabbitmq.default-user": "warn" });
  });

  it("says why one that refuses or is away cannot be reached, without its password", async () => {
    const wrong = rabbitmq.url.replace(/:[0-9a-f]+@/, ":not-the-password@");
    const refused = await examine(wrong);
    expect(notOk(refused)).toEqual({ "rabbitmq.reachable": "fail" });
    expect(JSON.stringify(refused)).not.toContain("not-the-password");
    const away = await examine(rabbitmq.url.replace(`:${rabbitmq.port}/`, ":1/"));
    expect(notOk(away)).toEqual({ "rabbitmq.reachable": "fail" });
    expect(foundAt(away, "rabbitmq.reachable")).toContain("ECONNREFUSED");
  });
});
