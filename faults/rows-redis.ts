import { TcpProxy } from "../stack/tcp-proxy.ts";
import { ends, lasting, point, sleep, struck, under, until } from "./injections.ts";
import { killLanePrimary, moveLanes, stuckScript } from "./redis-injections.ts";
import { type FaultRow, row } from "./row.ts";

const workers = "relay,writer,expirer,reconciler";

/** What befalls hot stock. */
export const redisRows: readonly FaultRow[] = [
  // With `everysec` a write may wait for up to two seconds behind a flush that is under way: it has
  // been answered, and dies with the process. R16 writes before it answers, and may lose nothing.
  row("R1", "Redis is killed and starts again on its AOF", {
    isGate: true,
    may: "tickets",
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
  row("R3", "Redis comes back from an old dump", {
    may: "tickets",
    normalWithin: 10,
    inject: async ({ redis, faultMs }) => {
      await redis.keepDump();
      const before = await redis.written();
      await lasting(faultMs, async () => (await redis.written()) > before);
      await redis.crash();
      await redis.restartFromDump();
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
  row("R8", "failover to a replica that has not heard for half a second", {
    may: "tickets",
    normalWithin: 10,
    inject: async (scene) => {
      const link = await TcpProxy.before(scene.redis.port);
      scene.onClose(() => link.close());
      const replica = await scene.replica(link.port);
      link.weather = "black-hole";
      const before = await scene.redis.written();
      await lasting(500, async () => (await scene.redis.written()) > before);
      await scene.redis.crash();
      await replica.plain.replicaof("NO", "ONE");
      point([scene.network.hot, scene.network.bus], replica.port);
    },
  }),
  row("R9", "the old primary returns, and the buyers' process is still on it", {
    apart: { front: "api", behind: workers },
    stage: { split: true },
    may: "tickets",
    normalWithin: 10,
    inject: async (scene) => {
      const { redis, serve, network, networkBehind, faultMs } = scene;
      const replica = await scene.replica();
      await redis.signal("SIGSTOP");
      await replica.plain.replicaof("NO", "ONE");
      point([networkBehind.hot, networkBehind.bus], replica.port);
      await redis.signal("SIGCONT");
      // It answers, and is not the one that the ledger means any more.
      await lasting(faultMs, () => serve.hasSaid('"why":"incarnation"'));
      point([network.hot, network.bus], replica.port);
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
  row("R15", "the disk of Redis is full", {
    stage: { disk: { of: "redis", megabytes: 32 } },
    may: "nothing",
    normalWithin: 2,
    inject: async ({ redis, disk, faultMs }) => {
      await disk.fill();
      await lasting(faultMs, async () => (await redis.plain.info()).includes("errorstat_MISCONF"));
      await disk.ease();
    },
  }),
  row("R16", "the disk of Redis is full, and it writes before it answers: it ends", {
    stage: { disk: { of: "redis", megabytes: 32 }, redis: ["--appendfsync", "always"] },
    may: "rebuild",
    normalWithin: 5,
    inject: async ({ redis, disk }) => {
      await disk.fill();
      await ends(redis.ended);
      await sleep(1_000);
      await disk.ease();
      await redis.restart();
    },
  }),
  row("R17", "a script that has written runs for ever, until an operator ends the server", {
    may: "tickets",
    normalWithin: 15,
    inject: stuckScript,
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
  row("R19", "the slots of the lanes move to another primary of the cluster", {
    stage: { cluster: true },
    may: "rebuild",
    normalWithin: 5,
    inject: async (scene) => struck(await moveLanes(scene)),
  }),
  row("R20", "a primary of the cluster is killed, and its replica elected", {
    stage: { cluster: true },
    may: "tickets",
    normalWithin: 10,
    inject: killLanePrimary,
  }),
];
