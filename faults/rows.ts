import { notOkAnswers, type RocketmqFakeProxy } from "../stack/rocketmq-fake-proxy.ts";
import { dark, lasting, meanwhile, point, sleep, struck, under, until } from "./injections.ts";
import { eachQueue } from "./lane-queues.ts";
import type { FaultRow } from "./row.ts";

const longLockMs = 20_000;
const readOnlyMs = 10_000;
/** As long as the longest lease. */
const leaseMs = 10_000;
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
      const before = await redis.written();
      await lasting(1_000, async () => (await redis.written()) > before);
      await redis.crash();
      await putBack();
      await redis.restart();
    },
  }),
  row("R4", "FLUSHALL under load; the run id stays", {
    isGate: true,
    may: "tickets",
    normalWithin: 5,
    inject: async ({ redis }) => {
      struck(await redis.plain.dbsize());
      await redis.plain.flushall();
    },
  }),
  row("R5", "a stock key is edited by +7 and another deleted", {
    may: "tickets",
    normalWithin: 5,
    inject: async ({ redis }) => {
      const [edited = "", deleted = ""] = await redis.plain.keys("*:stock:*");
      await redis.plain.hincrby(edited, "a", 7);
      struck(await redis.plain.del(deleted));
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
      await lasting(faultMs, async () => (await redis.plain.info()).includes("errorstat_OOM"));
      await redis.plain.config("SET", "maxmemory", "0");
    },
  }),
  row("R18", "the outbox is trimmed by mistake", {
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    may: "tickets",
    normalWithin: 10,
    inject: async ({ redis, behind }) => {
      // While nobody relays there is something in it, sooner or later.
      behind.signal("SIGSTOP");
      await until(async () => (await redis.plain.keys("*:outbox")).length > 0);
      const outboxes = await redis.plain.keys("*:outbox");
      struck(outboxes.length === 0 ? 0 : await redis.plain.del(...outboxes));
      behind.signal("SIGCONT");
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
    inject: async (scene) => struck(await eachQueue(scene, (queues) => queues.drop())),
  }),
  row("M5", "the lanes' queues are purged after the confirm", {
    ...{ isGate: true, bus: "rabbitmq", may: "tickets", normalWithin: 15, apart: writerApart },
    inject: async (scene) => struck(await eachQueue(scene, (queues) => queues.purge())),
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
      let cut = 0;
      for (let n = 0; n < 50; n += 1) {
        cut += network.hot.cutAll();
        await sleep(100);
      }
      struck(cut);
    },
  }),
  row("N4", "the line sees the bus and not the ledger", {
    isGate: true,
    may: "nothing",
    normalWithin: 10,
    inject: (scene) => dark([scene.network.ledger], 10_000),
  }),
];

/** For the time of a fault, and until each status was told: what is not sent is tried again. */
async function answered(sends: RocketmqFakeProxy, faultMs: number): Promise<void> {
  sends.answers = notOkAnswers;
  await lasting(faultMs, () => notOkAnswers.every(({ name }) => sends.told.has(name)));
  sends.answers = [];
}
