/** What the load thread is asked to do, and what it reports. */
export type HttpOrder = {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
  readonly saleId: string;
  readonly sku: string;
  /** Every answer must have this status. */
  readonly status: number;
  /** The first buyer's number, where others have bought before; 0 by default. */
  readonly firstBuyer?: number;
  /** Orders in one request, each answered as reserved; left out: one, as a call of its own. */
  readonly batch?: number;
};

export type HttpTally = {
  readonly answered: number;
  readonly seconds: number;
  /** Answers of another status, and the first of them. */
  readonly strange: number;
  readonly example: string;
};
