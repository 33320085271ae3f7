import type { Desk } from "../client/desk.ts";
import { SalePage } from "../http/contract.ts";

/** A ledger that was used before has its demo sales still: this one is the next. */
export async function freshSaleId(desk: Desk): Promise<string> {
  let last = 0;
  for (let next: string | null = "/v1/sales?limit=200"; next !== null; ) {
    const page: { items: { saleId: string }[]; next: string | null } = await desk.get(
      next,
      SalePage,
    );
    for (const { saleId } of page.items) {
      last = Math.max(last, Number(/^demo-(\d{1,9})$/.exec(saleId)?.[1] ?? 0));
    }
    next = page.next;
  }
  return `demo-${last + 1}`;
}
