import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Resolution } from "../../src/bus/rocketmq-protocol.ts";
import { systemClock } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import { checkBack } from "../../src/outlet/check-back.ts";
import { type CloudEvent, NotAllTold } from "../../src/outlet/outlet.ts";
import { RocketmqOutlet } from "../../src/outlet/rocketmq.ts";
import { Publisher } from "../../src/workers/publisher.ts";
import { RocketmqFakeProxy } from "../../stack/rocketmq-fake-proxy.ts";
import type { EventsReader } from "../support/events-reader.ts";
import { readRocketmq } from "../support/outlet-adapters.ts";
import { newPrefix, rocketmqServers } from "../support/rocketmq.ts";
import { Stage } from "../support/stepped.ts";

const patience = { timeout: 90_000, interval: 100 };

describe.each(rocketmqServers())("half a message that nobody ended", (here) => {
  let stage: Stage;
  let events: readonly CloudEvent[];
  let proxy: RocketmqFakeProxy;
  let dying: RocketmqOutlet;
  let next: RocketmqOutlet;
  let reader: EventsReader;
  /** What the broker was answered for each event, in order. */
  let answers: Map<string, Resolution[]>;
  let isLedgerAway: boolean;

  /** As a process answers: from its ledger, which may be away. */
  const judge = async (body: Uint8Array): Promise<Resolution> => {
    const { sku, version } = JSON.parse(Buffer.from(body).toString());
    const ledger = {
      balancesAt: isLedgerAway
        ? () => Promise.reject(new Fault("LEDGER_UNAVAILABLE", "away"))
        : stage.ledger.balancesAt.bind(stage.ledger),
    };
    const answer = await checkBack(ledger, body);
    answers.set(`${sku}@${version}`, [...(answers.get(`${sku}@${version}`) ?? []), answer]);
    return answer;
  };
  const answersFor = (id: string): readonly Resolution[] => answers.get(id) ?? [];

  beforeEach(async () => {
    answers = new Map();
    isLedgerAway = false;
    stage = await Stage.open();
    const process = await stage.started({ stock: { A: 9, B: 9 } });
    await process.reserved("k1", { A: 1 });
    const told: CloudEvent[] = [];
    const notes = { deliver: async (all: readonly CloudEvent[]) => void told.push(...all) };
    await stage.leased(new Publisher(process.parts, notes)).step();
    events = told;

    proxy = await RocketmqFakeProxy.before(Number(new URL(here.url).port));
    proxy.losesEnds = true;
    const prefix = newPrefix();
    const url = `rocketmq://127.0.0.1:${proxy.port}?broker=127.0.0.1:${here.brokerPort}`;
    // Its own answers are lost on the way, too: it is dead, and only its half message is there.
    dying = new RocketmqOutlet({ url, prefix, clock: systemClock, checkBack: judge });
    ({ outlet: next, reader } = await readRocketmq(here, {
      ...{ url: here.url, prefix, checkBack: judge },
    }));
  });
  afterEach(async () => {
    await Promise.all([reader.end(), dying.close(), next.close()]);
    await proxy.close();
    await stage.ledger.close();
  });

  const event = (id: string): CloudEvent => {
    const found = events.find((each) => each.id === id);
    if (found === undefined) throw new Error(`no event ${id}`);
    return found;
  };
  /** The process dies between the half message and its end; another one is there. */
  const orphan = async (told: CloudEvent): Promise<void> => {
    await expect(dying.deliver([told])).rejects.toThrow(NotAllTold);
    expect(proxy.endsLost).toBeGreaterThan(0);
    await dying.close();
    answers.clear();
    await next.deliver([event("B@1")]);
  };

  it("is delivered because the ledger, asked back, has its entry", async () => {
    await orphan(event("A@2"));
    const seen = await reader.seen(["A@2", "B@1"]);
    expect(seen.find(({ id }) => id === "A@2")).toEqual(event("A@2"));
    expect(answersFor("A@2")).toContain("commit");
    // Whoever has told the broker himself is not asked.
    expect(seen.filter(({ id }) => id === "A@2")).toHaveLength(1);
  });

  it("is never delivered where the ledger has no such entry, or another one", async () => {
    const { data } = event("A@2");
    const gone = { ...event("A@2"), id: "A@3", data: { ...data, version: 3 } };
    const forked = { ...event("A@2"), data: { ...data, hash: "0".repeat(64) } };
    await orphan(gone);
    await expect.poll(() => answersFor("A@3"), patience).toContain("rollback");
    await next.deliver([event("A@1")]);
    // A rollback that the broker did not take would have it ask again.
    await systemClock.sleep(3_000);
    const asked = answersFor("A@3").length;
    await systemClock.sleep(3_000);
    expect(answersFor("A@3")).toHaveLength(asked);
    expect((await reader.seen(["A@1", "B@1"])).map(({ id }) => id)).not.toContain("A@3");
    expect(await checkBack(stage.ledger, Buffer.from(JSON.stringify(forked.data)))).toBe(
      "rollback",
    );
  });

  it("waits while the ledger is away, and is delivered when that is back", async () => {
    isLedgerAway = true;
    await orphan(event("A@2"));
    await expect.poll(() => answersFor("A@2").length, patience).toBeGreaterThanOrEqual(2);
    expect(new Set(answersFor("A@2"))).toEqual(new Set(["unknown"]));
    expect(reader.events.map(({ id }) => id)).not.toContain("A@2");
    isLedgerAway = false;
    await reader.seen(["A@2"]);
    expect(answersFor("A@2").at(-1)).toBe("commit");
  });
});
