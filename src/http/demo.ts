/** Rushes that are started from a page. */
export interface Demo {
  /** Opens a sale and lets the crowd in, without waiting for it; null: one is on already. */
  start(wish: { readonly stock: number; readonly buyers: number }): Promise<DemoStarted | null>;
}

export type DemoStarted = { readonly saleId: string; readonly sku: string };
