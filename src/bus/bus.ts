import type { Lane } from "../domain/values.ts";

/**
 * The bus brings the news from hot stock to the ledger. Each lane is an ordered queue read by
 * one consumer at a time. It may lose, repeat and reorder: the marker, the ledger's unique keys
 * and the versions make up for it. It is received from; it never calls.
 */
export interface Bus {
  /** Resolves once the broker has confirmed: stored, safe. Anything else is "not sent". */
  publish(lane: Lane, body: Buffer): Promise<void>;

  /**
   * Up to `max` messages, in order, waiting up to `waitMs` for the first. They stay out until
   * acknowledged or released; after a consumer's death they come again.
   */
  receive(lane: Lane, options: ReceiveOptions): Promise<readonly Delivery[]>;

  acknowledge(lane: Lane, deliveries: readonly Delivery[]): Promise<void>;

  /** Gives them back, to be delivered again at once and in order. */
  release(lane: Lane, deliveries: readonly Delivery[]): Promise<void>;

  /** Messages that are not acknowledged; null when the broker cannot tell. */
  lag(lane: Lane): Promise<number | null>;

  /**
   * Messages that the broker itself has set aside and delivers no more: the marker finds their
   * tickets, and a person looks why. 0 where a broker does no such thing.
   */
  givenUp(): Promise<number>;

  close(): Promise<void>;
}

export type ReceiveOptions = {
  readonly max: number;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
};

export type Delivery = {
  readonly body: Buffer;
  /** 1 for the first delivery, as far as the broker counts. */
  readonly attempt: number;
  /** The adapter's own handle. */
  readonly handle: number | string;
};
