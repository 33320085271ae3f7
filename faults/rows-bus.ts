import { notOkAnswers, type RocketmqFakeProxy } from "../stack/rocketmq-fake-proxy.ts";
import { backlog, loseChannel, poison } from "./bus-injections.ts";
import { lasting, meanwhile, sleep, struck, under } from "./injections.ts";
import { eachQueue } from "./lane-queues.ts";
import { type FaultRow, row } from "./row.ts";

const writerApart = { front: "api,relay,expirer,reconciler", behind: "writer" };

/** What befalls the bus. */
export const busRows: readonly FaultRow[] = [
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
  row("M7", "copies of each message come late and in any order", {
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => meanwhile(scene, "publishes-again-late-and-in-any-order"),
  }),
  row("M8", "messages that nobody can read lie in the lanes", {
    bus: "rabbitmq",
    may: "nothing",
    normalWithin: 1,
    inject: poison,
  }),
  row("M9", "a writer loses its channel while it holds messages, and wakes up later", {
    ...{ bus: "rabbitmq", may: "nothing", normalWithin: 10 },
    apart: { front: "all", behind: "writer" },
    inject: loseChannel,
  }),
  row("M10", "a backlog of 5,000 messages", {
    ...{ bus: "rabbitmq", may: "nothing", normalWithin: 60, apart: writerApart },
    inject: backlog,
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
];

/** For the time of a fault, and until each status was told: what is not sent is tried again. */
async function answered(sends: RocketmqFakeProxy, faultMs: number): Promise<void> {
  sends.answers = notOkAnswers;
  await lasting(faultMs, () => notOkAnswers.every(({ name }) => sends.told.has(name)));
  sends.answers = [];
}
