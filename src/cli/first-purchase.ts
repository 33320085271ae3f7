import type { Context } from "./context.ts";

export type Purchase = {
  readonly url: string;
  readonly saleId: string;
  readonly sku: string;
  readonly isKeyed: boolean;
  /** Units on sale: with none left, the first line brings some in. */
  readonly available: number;
};

const unitsNeeded = 2;

/** Lines to paste, one after the other, into any shell with curl. */
export function tellFirstPurchase(context: Context, purchase: Purchase): void {
  const { text, paint, say } = context;
  say(paint.bold(text("purchase.title")));
  for (const { says, line } of firstPurchase(purchase)) {
    say(paint.dim(`  # ${text(says)}`));
    say(`  ${line}`);
  }
  say();
  say(text("purchase.stop", { url: purchase.url }));
}

export function firstPurchase({ url, saleId, sku, isKeyed, available }: Purchase) {
  const key = isKeyed ? ' -H "Authorization: Bearer $HOLDFAST_API_KEY"' : "";
  const curl = `curl -sw '\\n'${key}`;
  const json = `${curl} -H 'Content-Type: application/json'`;
  const reserve = (clickId: string, variable: string): string => {
    const body = JSON.stringify({ saleId, buyerId: "me", items: [{ sku, quantity: 1 }] });
    const call = `${json} -H 'Idempotency-Key: ${clickId}' ${url}/v1/reservations -d '${body}'`;
    const read = `sed -E 's/.*"reservationId":"([^"]+)".*/\\1/'`;
    return `${variable}=$(${call} | tee /dev/stderr | ${read})`;
  };
  const at = (variable: string): string => `${url}/v1/reservations/$${variable}`;
  const more = `{"operationId":"restock-1","quantity":${unitsNeeded},"reason":"to try"}`;
  const restock = {
    says: "purchase.restock",
    line: `${json} ${url}/v1/stock/${sku}/restock -d '${more}'`,
  } as const;
  return [
    ...(available < unitsNeeded ? [restock] : []),
    { says: "purchase.reserve", line: reserve("click-1", "ID") },
    { says: "purchase.read", line: `${curl} ${at("ID")}` },
    { says: "purchase.pay", line: `${json} ${at("ID")}/confirm -d '{"paymentId":"pay-1"}'` },
    {
      says: "purchase.refund",
      line: `${json} ${at("ID")}/refund -d '{"refundId":"refund-1","restock":true}'`,
    },
    { says: "purchase.second", line: reserve("click-2", "SECOND") },
    { says: "purchase.cancel", line: `${curl} -X POST ${at("SECOND")}/cancel` },
    { says: "purchase.timeline", line: `${curl} ${at("ID")}/timeline` },
    { says: "purchase.ledger", line: `${curl} '${url}/v1/stock/${sku}/entries?limit=3'` },
    { says: "purchase.verify", line: `${curl} -X POST ${url}/v1/audit/verify` },
  ] as const;
}
