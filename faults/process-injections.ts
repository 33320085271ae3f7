import { randomBytes } from "node:crypto";
import { openDesk } from "../src/client/desk.ts";
import { systemClock } from "../src/clock.ts";
import { LevelBody, SaleBody } from "../src/http/contract.ts";
import { openShop, type Shop } from "../src/loadtest/shop.ts";
import { sleep, struck } from "./injections.ts";
import type { Scene } from "./scene.ts";

const holdSeconds = 1;
const stock = 1_000;
const standsMs = 300;
const paidMin = 3;
const withinMs = 60_000;

/**
 * Buyers of a sale of their own pay when their time is just over, while an expirer that has read
 * them as due stands still. Either they have paid or it has expired, and the stock is right.
 */
export async function payBeforeExpiry({ serve, behind, faultMs }: Scene): Promise<void> {
  const saleId = `late-${randomBytes(5).toString("hex")}`;
  const desk = openDesk({ url: serve.url, apiKey: null });
  const shop = openShop({ url: serve.url, apiKey: null, connections: 4, waitSeconds: 5 });
  const items = [{ sku: saleId, stock }];
  await desk.post("/v1/sales", { saleId, holdSeconds, items }, { schema: SaleBody });
  await desk.post(`/v1/sales/${saleId}/open`, {}, { schema: SaleBody });
  await behind.crash();
  // It may stand still before it is ready.
  const started = behind.start("stands-still-between-reading-and-expiring");
  const before = behind.meetings;
  const startedAt = systemClock.mono();
  let [tries, paid] = [0, 0];
  for (;;) {
    const ms = systemClock.mono() - startedAt;
    if (ms > withinMs || (ms > faultMs && paid >= paidMin && behind.meetings > before)) break;
    tries += 1;
    if (await payLate(shop, { saleId, key: `${saleId}-${tries}`, behind })) paid += 1;
  }
  struck(behind.meetings - before);
  behind.signal("SIGCONT");
  await behind.crash();
  await started.catch(() => undefined);
  await behind.start(null);
  await untilOver(async () => {
    const level = await desk.get(`/v1/stock/${saleId}`, LevelBody);
    return level.reserved === 0 && level.sold === paid && level.available === stock - paid;
  });
  await Promise.all([shop.close(), desk.close()]);
}

type Late = { readonly saleId: string; readonly key: string; readonly behind: Scene["behind"] };

/** True: the payment was taken, and so the ledger says. */
async function payLate(shop: Shop, { saleId, key, behind }: Late): Promise<boolean> {
  const order = { saleId, buyerId: key, sku: saleId, quantity: 1 };
  const { kind, id } = await shop.reserve(key, order);
  if (kind !== "held" || id === null) return false;
  await sleep(holdSeconds * 1_000);
  const told = await shop.pay(id, `${key}-payment`);
  await sleep(standsMs);
  behind.signal("SIGCONT");
  await sleep(standsMs);
  const found = await shop.look(id);
  const isPaid = told.kind === "held";
  if (isPaid !== (found.what === "confirmed")) {
    throw new Error(`${key}: the payment was told ${told.what}, and it is ${found.what}`);
  }
  return isPaid;
}

async function untilOver(isRight: () => Promise<boolean>): Promise<void> {
  const untilMs = systemClock.mono() + withinMs;
  while (!(await isRight())) {
    if (systemClock.mono() > untilMs) throw new Error("the stock of the late buyers is not right");
    await sleep(standsMs);
  }
}
