import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { type CloudEvent, NotAllTold } from "../../src/outlet/outlet.ts";
import { RabbitmqOutlet } from "../../src/outlet/rabbitmq.ts";
import { idsOf, soldEvents } from "../support/events.ts";
import { EventsReader } from "../support/events-reader.ts";
import { sharedRabbitmq } from "../support/rabbitmq-server.ts";
import { ownPrefix } from "../support/redis-server.ts";

let outlet: RabbitmqOutlet;
let events: readonly CloudEvent[];
let prefix: string;
let url: string;

beforeEach(async () => {
  ({ url } = await sharedRabbitmq());
  prefix = ownPrefix();
  outlet = new RabbitmqOutlet({ url, prefix, clock: systemClock });
  events = await soldEvents({ "a.b": 4, c: 3 });
  return () => outlet.close();
});

async function read(queue: string, binding: string): Promise<EventsReader> {
  const place = { EXCHANGE: `${prefix}.events`, QUEUE: `${prefix}.${queue}`, BINDING: binding };
  const reader = await EventsReader.start("rabbitmq", { URL_OF_BROKER: url, ...place });
  onTestFinished(() => reader.end());
  return reader;
}

async function exchanges(): Promise<readonly string[]> {
  const columns = ["name", "type", "durable", "--no-table-headers"];
  const listed = await (await sharedRabbitmq()).ctl("list_exchanges", ...columns);
  return listed.split("\n").filter((line) => line.startsWith(prefix));
}

describe("events on RabbitMQ", () => {
  it("go to a durable topic exchange, which nobody need listen to", async () => {
    await outlet.deliver(events);
    expect(await exchanges()).toEqual([`${prefix}.events\ttopic\ttrue`]);
  });

  it("are had by operation, and by SKU, even one with a dot in it", async () => {
    await outlet.prepare();
    const bindings = ["stock.restock.#", "stock.*.a.b", "stock.reserve.c"];
    const readers = bindings.map((binding, n) => read(`queue-${n}`, binding));
    const [restocked, ofOne, reserved] = await Promise.all(readers);
    await outlet.deliver(events);
    const seen = async (reader: EventsReader | undefined, last: string) =>
      [...new Set(idsOf((await reader?.seen([last])) ?? []))].sort();
    expect(await seen(restocked, "c@1")).toEqual(["a.b@1", "c@1"]);
    expect(await seen(ofOne, "a.b@4")).toEqual(["a.b@1", "a.b@2", "a.b@3", "a.b@4"]);
    expect(await seen(reserved, "c@3")).toEqual(["c@2", "c@3"]);
  });

  it("find their exchange again when somebody has deleted it", async () => {
    await outlet.deliver(events.slice(0, 1));
    const rabbitmq = await sharedRabbitmq();
    const name = `rabbit_misc:r(<<"/">>, exchange, <<"${prefix}.events">>)`;
    await rabbitmq.ctl("eval", `rabbit_exchange:delete(${name}, false, <<"test">>).`);
    expect(await exchanges()).toEqual([]);
    await expect(outlet.deliver(events)).rejects.toThrow(NotAllTold);
    await outlet.deliver(events);
    expect(await exchanges()).toHaveLength(1);
  });

  it("are not sent to a broker that takes nothing, and go when it does again", async () => {
    const rabbitmq = await sharedRabbitmq();
    await outlet.deliver(events.slice(0, 1));
    await rabbitmq.ctl("set_vm_memory_high_watermark", "absolute", "1");
    onTestFinished(async () => void (await rabbitmq.ctl("set_vm_memory_high_watermark", "0.6")));
    const refused = () =>
      outlet.deliver(events).then(
        () => "told",
        (error: unknown) => String(error),
      );
    await expect.poll(refused, { timeout: 60_000 }).toContain("takes no events");
    await rabbitmq.ctl("set_vm_memory_high_watermark", "0.6");
    await expect.poll(refused, { timeout: 60_000 }).toBe("told");
  });
});
