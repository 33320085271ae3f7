import { createHmac, randomBytes } from "node:crypto";
import { openLedgerToRead } from "../src/wire.ts";
import { sleep, struck, until } from "./injections.ts";
import { withQueues } from "./lane-queues.ts";
import { numbersOf } from "./query.ts";
import type { Scene } from "./scene.ts";

const backlogMessages = 5_000;
const batch = 1_000;
const memoryMegabytesMax = 256;
const longBytes = 1_000_000;

/** Each is set aside with its reason, in each lane; what can be read goes on. */
export async function poison(scene: Scene): Promise<void> {
  const ledger = await openLedgerToRead(scene.ledgerUrl);
  const secret = await ledger.secret("messages");
  await ledger.close();
  const signed = (body: string): Buffer => {
    const tag = createHmac("sha256", secret).update("holdfast1 ledger ").update(body).digest("hex");
    return Buffer.from(`holdfast1 ledger ${tag} ${body}`);
  };
  const version1 = JSON.stringify({ version: 1, lane: 0, epoch: 1, sentAt: 0, items: [] });
  const bad = [
    randomBytes(200),
    Buffer.concat([signed(version1), Buffer.from(" ")]),
    signed("{ this is not JSON"),
    signed(JSON.stringify({ version: 2, items: [] })),
    randomBytes(longBytes),
  ];
  const letters = (): Promise<number> =>
    scene.sql(
      async (query) => (await numbersOf(query, "select count(*) from dead_letters"))[0] ?? 0,
    );
  await withQueues(scene, (queues) => queues.publish(bad));
  struck((await until(async () => (await letters()) === bad.length)) ? 1 : 0);
}

/** The broker gives what it held to the next writer; its acknowledgement comes too late. */
export async function loseChannel({ shared, behind, faultMs }: Scene): Promise<void> {
  const rabbitmq = await shared.rabbitmq();
  behind.signal("SIGSTOP");
  const held = async (): Promise<boolean> => {
    const told = await rabbitmq.ctl("list_queues", "messages_unacknowledged", "--no-table-headers");
    return told.split("\n").some((line) => Number(line) > 0);
  };
  struck((await until(held)) ? 1 : 0);
  await rabbitmq.ctl("close_all_connections", "--global", "a fault of the matrix");
  await sleep(faultMs);
  behind.signal("SIGCONT");
}

/** Told again and again while nobody reads, and then read by one writer with bounded memory. */
export function backlog(scene: Scene): Promise<void> {
  return withQueues(scene, async (queues) => {
    const { behind } = scene;
    await behind.crash();
    struck((await until(async () => (await queues.waiting()) > 0)) ? 1 : 0);
    const body = await queues.copy();
    for (let sent = 0; sent < backlogMessages; sent += batch) {
      await queues.publish(new Array<Buffer>(batch).fill(body));
    }
    await behind.start(null);
    await until(async () => (await queues.waiting()) === 0);
    const megabytes = (await behind.peakMegabytes()) ?? 0;
    if (megabytes > memoryMegabytesMax) throw new Error(`the writer took ${megabytes} MB`);
  });
}
