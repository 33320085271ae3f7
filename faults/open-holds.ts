import { randomBytes } from "node:crypto";
import { openDesk } from "../src/client/desk.ts";
import { SaleBody } from "../src/http/contract.ts";

const batchMax = 1_000;
const triesMax = 50;

/** Reservations of a sale of their own that stay open: what a rebuild has to load. */
export async function holdOpen(url: string, count: number): Promise<void> {
  if (count === 0) return;
  const saleId = `open-${randomBytes(5).toString("hex")}`;
  const desk = openDesk({ url, apiKey: null });
  const items = [{ sku: saleId, stock: count }];
  await desk.post("/v1/sales", { saleId, holdSeconds: 3_600, items }, { schema: SaleBody });
  await desk.post(`/v1/sales/${saleId}/open`, {}, { schema: SaleBody });
  await desk.close();
  for (let from = 0; from < count; from += batchMax) {
    const names = Array.from({ length: Math.min(batchMax, count - from) }, (_, n) => from + n);
    await holdBatch(url, saleId, names);
  }
}

/** The same keys again, until the ledger has decided all of them. */
async function holdBatch(url: string, saleId: string, names: readonly number[]): Promise<void> {
  const asked = names.map((n) => ({
    ...{ idempotencyKey: `k${n}`, buyerId: `b${n}` },
    items: [{ sku: saleId, quantity: 1 }],
  }));
  for (let tries = 0; tries < triesMax; tries += 1) {
    const answer = await fetch(`${url}/v1/reservations:batch`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=30" },
      body: JSON.stringify({ saleId, items: asked }),
    });
    const reserved = (await answer.text()).split('"status":201').length - 1;
    if (reserved === names.length) return;
  }
  throw new Error(`not all of ${names.length} reservations became open`);
}
