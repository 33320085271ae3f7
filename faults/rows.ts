import { systemClock } from "../src/clock.ts";
import { notOkAnswers, type RocketmqFakeProxy } from "../stack/rocketmq-fake-proxy.ts";
import type { TcpProxy, Weather } from "../stack/tcp-proxy.ts";
import type { FaultRow } from "./row.ts";
import type { Scene } from "./scene.ts";

const longLockMs = 20_000;
const readOnlyMs = 10_000;
/** As long as the longest lease. */
const leaseMs = 10_000;
/** By then each status that is not SEND_OK was told. */
const answersWithinMs = 45_000;
const hitWithinMs = 60_000;
const writerApart = { front: "api,relay,expirer,reconciler", behind: "writer" };
const workers = "relay,writer,expirer,reconciler";

type More = Pick<FaultRow, "may" | "normalWithin" | "inject"> &
  Partial<Pick<FaultRow, "isGate" | "bus" | "apart">>;

/** A row over Redis Streams, as most are: their fault is not the broker's. */
function row(id: string, fault: string, more: More): FaultRow {
  return { id, fault, isGate: false, bus: "redis", ...more };
}

/** The fault matrix, in its order. */
export const rows: readonly FaultRow[] = [
  row("R1", "Redis is killed and starts again on its AOF", {
    isGate: true,
    may: "rebuild",
    normalWithin: 5,
    inject: async ({ redis }) => {
      await redis.crash();
      await sleep(1_000);
      await redis.restart();
    },
  }),
  row("R2", "power loss: Redis comes back as it was a second before", {
    isGate: true,
    may: "tickets",
    normalWithin: 10,
    inject: async ({ redis }) => {
      const putBack = await redis.keepFiles();
      await sleep(1_000);
      await redis.crash();
      await putBack();
      await redis.restart();
    },
  }),
  row("R4", "FLUSHALL under load; the run id stays", {
    isGate: true,
    may: "tickets",
    normalWithin: 5,
    inject: async ({ redis }) => void (await redis.plain.flushall()),
  }),
  row("R5", "a stock key is edited by +7 and another deleted", {
    may: "tickets",
    normalWithin: 5,
    inject: async ({ redis }) => {
      const [edited = "", deleted = ""] = await redis.plain.keys("*:stock:*");
      await redis.plain.hincrby(edited, "a", 7);
      await redis.plain.del(deleted);
    },
  }),
  row("R6", "SCRIPT FLUSH", {
    may: "nothing",
    normalWithin: 1,
    inject: async ({ redis }) => void (await redis.plain.script("FLUSH")),
  }),
  row("R7", "failover to a replica over a healthy link", {
    isGate: true,
    may: "tickets",
    normalWithin: 10,
    inject: async (scene) => {
      const replica = await scene.replica();
      await scene.redis.crash();
      await replica.plain.replicaof("NO", "ONE");
      point([scene.network.hot, scene.network.bus], replica.port);
    },
  }),
  row("R10", "Redis stands still for five seconds", {
    may: "nothing",
    normalWithin: 7,
    inject: async ({ redis }) => {
      await redis.signal("SIGSTOP");
      await sleep(5_000);
      await redis.signal("SIGCONT");
    },
  }),
  row("R11", "every 50th reply of hot stock is cut off", {
    isGate: true,
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => under(scene, scene.network.hot, { weather: "cut-reply", everyNth: 50 }),
  }),
  row("R12", "every 50th request is cut before hot stock sees it", {
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => under(scene, scene.network.hot, { weather: "cut-request", everyNth: 50 }),
  }),
  row("R13", "Redis has no memory left", {
    may: "nothing",
    normalWithin: 2,
    inject: async ({ redis, faultMs }) => {
      await redis.plain.config("SET", "maxmemory", "1mb");
      await sleep(faultMs);
      await redis.plain.config("SET", "maxmemory", "0");
    },
  }),
  row("R18", "the outbox is trimmed by mistake", {
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    may: "tickets",
    normalWithin: 10,
    inject: async ({ redis, behind }) => {
      // While nobody relays there is something in it.
      behind.signal("SIGSTOP");
      await sleep(500);
      let trimmed = 0;
      for (const key of await redis.plain.keys("*:outbox")) {
        trimmed += await redis.plain.del(key);
      }
      behind.signal("SIGCONT");
      struck(trimmed);
    },
  }),
  row("D1", "the database is killed and starts again", {
    isGate: true,
    may: "nothing",
    normalWithin: 10,
    inject: ({ shared }) => shared.crashSql(),
  }),
  row("D2", "every 20th answer to COMMIT is cut off", {
    isGate: true,
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => {
      const cut = { weather: "cut-reply", everyNth: 20, trigger: "commit" } as const;
      return under(scene, scene.network.ledger, cut);
    },
  }),
  row("D4", "the hot row is locked by somebody else for 20 s", {
    isGate: true,
    may: "nothing",
    normalWithin: 5,
    inject: (scene) =>
      scene.sql(async (query) => {
        await query("begin; select sku from inventory for update");
        await sleep(longLockMs);
        await query("rollback");
      }),
  }),
  row("D5", "the database stands still for ten seconds", {
    may: "nothing",
    normalWithin: 15,
    inject: async ({ shared }) => {
      const { kill } = await shared.sql();
      await kill("SIGSTOP");
      await sleep(10_000);
      await kill("SIGCONT");
    },
  }),
  row("D8", "the database is read-only for ten seconds", {
    may: "nothing",
    normalWithin: 5,
    inject: (scene) =>
      scene.sql(async (query) => {
        await query("set global read_only = 1");
        await sleep(readOnlyMs);
        await query("set global read_only = 0");
      }),
  }),
  row("D12", "every message comes three times", {
    isGate: true,
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => meanwhile(scene, "publishes-thrice"),
  }),
  row("M1", "RabbitMQ is killed and starts again", {
    ...{ isGate: true, bus: "rabbitmq", may: "nothing", normalWithin: 45 },
    inject: async ({ shared }) => {
      const rabbitmq = await shared.rabbitmq();
      await rabbitmq.crash();
      await rabbitmq.restart();
    },
  }),
  row("M2", "RabbitMQ is stopped and started in order", {
    ...{ bus: "rabbitmq", may: "nothing", normalWithin: 30 },
    inject: async ({ shared, faultMs }) => {
      const rabbitmq = await shared.rabbitmq();
      await rabbitmq.ctl("stop_app");
      await sleep(faultMs);
      await rabbitmq.ctl("start_app");
    },
  }),
  row("M3", "every 10th confirm of the broker is cut off", {
    ...{ isGate: true, bus: "rabbitmq", may: "nothing", normalWithin: 2 },
    inject: (scene) => under(scene, scene.network.bus, { weather: "cut-reply", everyNth: 10 }),
  }),
  row("M4", "the lanes' queues are deleted", {
    ...{ bus: "rabbitmq", may: "tickets", normalWithin: 10, apart: writerApart },
    inject: (scene) => eachQueue(scene, "delete_queue"),
  }),
  row("M5", "the lanes' queues are purged after the confirm", {
    ...{ isGate: true, bus: "rabbitmq", may: "tickets", normalWithin: 15, apart: writerApart },
    inject: (scene) => eachQueue(scene, "purge_queue"),
  }),
  row("M6", "RabbitMQ has no disk left", {
    ...{ bus: "rabbitmq", may: "nothing", normalWithin: 5 },
    inject: async ({ shared, faultMs }) => {
      const rabbitmq = await shared.rabbitmq();
      await rabbitmq.ctl("set_disk_free_limit", "100000GB");
      await sleep(faultMs);
      await rabbitmq.ctl("set_disk_free_limit", "1MB");
    },
  }),
  row("M11", "RocketMQ's broker and proxy are killed and start again", {
    ...{ isGate: true, bus: "rocketmq", may: "nothing", normalWithin: 45 },
    inject: async ({ shared }) => {
      const rocketmq = await shared.rocketmq();
      await rocketmq.crash();
      await rocketmq.restart();
    },
  }),
  row("M12", "RocketMQ answers sends with other statuses than SEND_OK", {
    ...{ isGate: true, bus: "rocketmq", may: "nothing", normalWithin: 5 },
    inject: ({ sends, faultMs }) => answered(sends, faultMs),
  }),
  row("P2", "the relay dies between publishing and marking, again and again", {
    isGate: true,
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    may: "nothing",
    normalWithin: 3,
    inject: (scene) => meanwhile(scene, "dies-between-publish-and-mark"),
  }),
  row("P3", "the writer dies between COMMIT and acknowledging, again and again", {
    isGate: true,
    apart: { front: "api,relay,expirer,reconciler", behind: "writer" },
    may: "nothing",
    normalWithin: 5,
    inject: (scene) => meanwhile(scene, "dies-between-commit-and-acknowledge"),
  }),
  row("P4", "everything but the API stands still for longer than any lease, and wakes up", {
    isGate: true,
    apart: { front: "all", behind: workers },
    may: "nothing",
    normalWithin: 1,
    inject: async ({ behind }) => {
      behind.signal("SIGSTOP");
      await sleep(leaseMs + 5_000);
      behind.signal("SIGCONT");
    },
  }),
  row("P7", "every process is stopped in order and started again, one after the other", {
    apart: { front: "all", behind: "all" },
    may: "nothing",
    normalWithin: 10,
    inject: async ({ serve, behind }) => {
      for (const each of [behind, serve]) {
        await each.stop();
        await each.start(null);
      }
    },
  }),
  row("P10", "power cut: everything is killed at once and starts again", {
    may: "rebuild",
    normalWithin: 60,
    inject: async ({ serve, redis, shared }) => {
      await Promise.all([serve.crash(), redis.crash(), shared.crashSql()]);
      await redis.restart();
      await serve.start(null);
    },
  }),
  row("N1", "hot stock is behind a black hole for ten seconds", {
    may: "nothing",
    normalWithin: 12,
    inject: (scene) => dark([scene.network.hot], 10_000),
  }),
  row("N2", "every connection to hot stock is reset, for five seconds", {
    may: "nothing",
    normalWithin: 6,
    inject: async ({ network }) => {
      for (let n = 0; n < 50; n += 1) {
        network.hot.cutAll();
        await sleep(100);
      }
    },
  }),
  row("N4", "the line sees the bus and not the ledger", {
    isGate: true,
    may: "nothing",
    normalWithin: 10,
    inject: (scene) => dark([scene.network.ledger], 10_000),
  }),
];

function sleep(ms: number): Promise<void> {
  return systemClock.sleep(ms);
}

type Bend = { readonly weather: Weather; readonly everyNth: number; readonly trigger?: string };

async function under({ faultMs }: Scene, proxy: TcpProxy, bend: Bend): Promise<void> {
  const before = proxy.cuts;
  Object.assign(proxy, { trigger: null, ...bend });
  await sleep(faultMs);
  proxy.weather = "pass";
  struck(proxy.cuts - before);
}

/** For the time of a fault, and until each status was told: what is not sent is tried again. */
async function answered(sends: RocketmqFakeProxy, faultMs: number): Promise<void> {
  const untilMs = systemClock.mono() + answersWithinMs;
  sends.answers = notOkAnswers;
  await sleep(faultMs);
  const left = (): boolean => notOkAnswers.some(({ name }) => !sends.told.has(name));
  while (left() && systemClock.mono() < untilMs) await sleep(100);
  sends.answers = [];
  struck(left() ? 0 : sends.told.size);
}

async function dark(proxies: readonly TcpProxy[], ms: number): Promise<void> {
  for (const proxy of proxies) proxy.weather = "black-hole";
  await sleep(ms);
  // What was in a black hole is lost: no connection that was in it can be trusted again.
  for (const proxy of proxies) {
    proxy.weather = "pass";
    proxy.cutAll();
  }
}

function point(proxies: readonly TcpProxy[], port: number): void {
  for (const proxy of proxies) {
    proxy.target = port;
    proxy.cutAll();
  }
}

/** While nobody reads the queues there is something in them. */
async function eachQueue({ shared, behind }: Scene, command: string): Promise<void> {
  const rabbitmq = await shared.rabbitmq();
  await behind.crash();
  await sleep(500);
  const listed = await rabbitmq.ctl("list_queues", "name", "messages", "--no-table-headers");
  const lanes = listed.split("\n").map((line) => line.split("\t"));
  let hit = 0;
  for (const [name = "", messages] of lanes) {
    if (!name.includes(".lane-")) continue;
    await rabbitmq.ctl(command, name);
    hit += Number(messages);
  }
  await behind.start(null);
  struck(hit);
}

/** A fault that hit nothing proves nothing: the row has no result. */
function struck(times: number): void {
  if (times === 0) throw new Error("the fault has hit nothing");
}

/** The process meets the failpoint for a while, and then is as it was. */
async function meanwhile({ behind, faultMs }: Scene, failpoint: string): Promise<void> {
  await behind.crash();
  await behind.start(failpoint);
  await sleep(faultMs);
  const isDeadly = failpoint.startsWith("dies-");
  const untilMs = systemClock.mono() + hitWithinMs;
  // On a busy machine the first life under the failpoint may take longer than that.
  while (isDeadly && behind.deaths === 0 && systemClock.mono() < untilMs) await sleep(100);
  await behind.crash();
  await behind.start(null);
  if (isDeadly) struck(behind.deaths);
}
