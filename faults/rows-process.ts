import { lasting, meanwhile, meeting, sleep, struck } from "./injections.ts";
import { withQueues } from "./lane-queues.ts";
import { payBeforeExpiry } from "./process-injections.ts";
import { type FaultRow, row } from "./row.ts";

/** As long as the longest lease. */
const leaseMs = 10_000;
const workers = "relay,writer,expirer,reconciler";
const writerApart = { front: "api,relay,expirer,reconciler", behind: "writer" };

/** What befalls the processes of Holdfast itself. */
export const processRows: readonly FaultRow[] = [
  row("P1", "the API dies between deducting and answering, again and again", {
    apart: { front: "api", behind: workers },
    may: "nothing",
    normalWithin: 2,
    inject: ({ serve, faultMs }) =>
      meeting(serve, { ms: faultMs, failpoint: "dies-between-deducting-and-answering" }),
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
  row("P5", "the expirer stands still between reading and expiring, and the buyer pays", {
    apart: { front: "api,relay,writer,reconciler", behind: "expirer" },
    may: "nothing",
    normalWithin: 1,
    inject: payBeforeExpiry,
  }),
  row("P6", "an expirer and a reconciler act on leases that are over", {
    apart: { front: "all", behind: "expirer,reconciler" },
    stage: { failpoints: { behind: "believes-in-its-first-leases" } },
    may: "nothing",
    normalWithin: 1,
    inject: async ({ behind, faultMs }) => {
      behind.signal("SIGSTOP");
      await sleep(leaseMs + 5_000);
      behind.signal("SIGCONT");
      await lasting(faultMs, () => behind.meetings > 0);
      await behind.crash();
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
  row("P8", "the event loop of each process is blocked for five seconds", {
    apart: { front: "all", behind: "all" },
    stage: { failpoints: { front: "blocks-when-told", behind: "blocks-when-told" } },
    may: "nothing",
    normalWithin: 7,
    inject: async ({ serve, behind }) => {
      for (const each of [behind, serve]) {
        const before = each.meetings;
        each.signal("SIGUSR2");
        await lasting(5_000, () => each.meetings > before);
      }
    },
  }),
  row("P9", "a writer with little memory meets a backlog", {
    ...{ bus: "rabbitmq", may: "nothing", normalWithin: 5, apart: writerApart },
    stage: { nodeBehind: ["--max-old-space-size=64"] },
    inject: async (scene) => {
      await scene.behind.crash();
      await sleep(scene.faultMs);
      struck(await withQueues(scene, (queues) => queues.waiting()));
      await scene.behind.start(null);
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
];
