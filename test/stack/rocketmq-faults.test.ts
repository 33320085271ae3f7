import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RocketmqBus } from "../../src/bus/rocketmq.ts";
import { systemClock } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import { freePort } from "../../stack/private-server.ts";
import { notOkAnswers, RocketmqFakeProxy } from "../../stack/rocketmq-fake-proxy.ts";
import { newPrefix, openBus, rocketmqServers, warmBus } from "../support/rocketmq.ts";

/** Of one call; an honest one takes milliseconds. */
const callMs = 7_000;
const closeMs = 3_000;
const patienceMs = 30_000;

/** What came of it and after how long: `sent`, or the fault's code. */
async function outcome(act: () => Promise<unknown>): Promise<{ said: string; ms: number }> {
  const from = systemClock.mono();
  const said = await act().then(
    () => "done",
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );
  return { said, ms: systemClock.mono() - from };
}

/** As the writer does, until these are here; what comes again is acknowledged again. */
async function receiveAll(bus: RocketmqBus, wanted: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const until = systemClock.mono() + patienceMs;
  while (wanted.some((text) => !found.includes(text)) && systemClock.mono() < until) {
    const deliveries = await bus.receive(0, { max: 20, waitMs: 1_000 });
    await bus.acknowledge(0, deliveries);
    found.push(...deliveries.map(({ body }) => body.toString()));
  }
  return found;
}

describe.each(rocketmqServers())("RocketMQ behind something that lies", ({ url, brokerPort }) => {
  let proxy: RocketmqFakeProxy;
  let bus: RocketmqBus;

  beforeEach(async () => {
    proxy = await RocketmqFakeProxy.before(Number(new URL(url).port));
    const between = `rocketmq://127.0.0.1:${proxy.port}?broker=127.0.0.1:${brokerPort}`;
    bus = await warmBus({ url: between, prefix: newPrefix() }, 1);
  });
  afterEach(async () => {
    await bus.close();
    await proxy.close();
  });
  const publish = (text: string) => outcome(() => bus.publish(0, Buffer.from(text)));

  it.each(notOkAnswers)("takes $name for not sent, and tells it again", async (answer) => {
    proxy.answers = [answer];
    const { said } = await publish("one");
    // What the server may have stored all the same is unknown; either way it is told again.
    expect(said).toMatch(answer.isStored ? /^BUS_UNKNOWN$/ : /^BUS_UN(KNOWN|AVAILABLE)$/);
    expect(proxy.told.get(answer.name)).toBe(1);
    proxy.answers = [];
    expect(await publish("one")).toMatchObject({ said: "done" });
    const found = await receiveAll(bus, ["one"]);
    expect(new Set(found)).toEqual(new Set(["one"]));
  });

  it("is told unknown by a publish that hangs, after its deadline", async () => {
    proxy.isSilent = true;
    const { said, ms } = await publish("lost");
    expect(said).toBe("BUS_UNKNOWN");
    expect(ms).toBeLessThan(callMs);
    proxy.isSilent = false;
    await expect
      .poll(async () => (await publish("kept")).said, { timeout: patienceMs })
      .toBe("done");
    expect(await receiveAll(bus, ["kept"])).not.toContain("lost");
  });

  it("closes within its deadline when the proxy is gone", async () => {
    await publish("one");
    const held = await bus.receive(0, { max: 1, waitMs: patienceMs });
    expect(held).toHaveLength(1);
    await proxy.close();
    const { said, ms } = await outcome(() => bus.close());
    expect(said).toBe("done");
    expect(ms).toBeLessThan(closeMs);
    expect(await publish("late")).toMatchObject({ said: "BUS_UNAVAILABLE" });
  });

  it("closes within its deadline while a publish hangs", async () => {
    proxy.isSilent = true;
    const publishing = publish("lost");
    const { ms } = await outcome(() => bus.close());
    expect(ms).toBeLessThan(closeMs);
    expect((await publishing).said).toMatch(/^BUS_UN/);
  });
});

describe("RocketMQ where nobody is", () => {
  it("is refused in bounded time, by every call", async () => {
    const nobody = await freePort();
    const plain = openBus({ url: `rocketmq://127.0.0.1:${nobody}`, prefix: newPrefix() });
    // Of a server that is away nothing is known: no lane of it is called missing.
    expect(await outcome(() => plain.requireLanes(2))).toMatchObject({ said: "done" });
    const publishing = await outcome(() => plain.publish(0, Buffer.from("one")));
    // On a busy machine the client may not even have started by the deadline.
    expect(publishing.said).toMatch(/^BUS_UN(AVAILABLE|KNOWN)$/);
    const receiving = await outcome(() => plain.receive(0, { max: 1, waitMs: 20_000 }));
    const looking = await outcome(() => plain.lag(0));
    for (const { said, ms } of [publishing, receiving, looking]) {
      expect(said).toMatch(/^BUS_UN/);
      expect(ms).toBeLessThan(callMs);
    }
    const { ms } = await outcome(() => plain.close());
    expect(ms).toBeLessThan(closeMs);
  });

  it("says which broker did not answer when it was to make the lanes", async () => {
    const nobody = await freePort();
    const url = `rocketmq://127.0.0.1:${nobody}?broker=127.0.0.1:${nobody}`;
    const making = openBus({ url, prefix: newPrefix() });
    const { said, ms } = await outcome(() => making.requireLanes(1));
    expect(said).toContain(`broker at 127.0.0.1:${nobody}: connect ECONNREFUSED`);
    expect(ms).toBeLessThan(callMs);
    await making.close();
  });
});
