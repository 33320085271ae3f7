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

/**
 * How processes tell each other of what they would find out by themselves a little later. It may
 * lose anything at any time: relays look at their outbox and those who wait ask the ledger now and
 * then all the same.
 */
export interface DecisionNews {
  /**
   * These are decided: one message for a whole batch. Only ids travel, and only after the commit:
   * whoever waits for one reads the ledger for himself. Never throws, and is not waited for.
   */
  tell(ids: readonly string[]): void;
  /** An outbox has something for its relay. */
  tellOfWork(): void;
  /** What others tell, and this process itself, from now on. */
  listen(ear: Ear): void;
  close(): Promise<void>;
}

export type Ear = {
  readonly decided: (ids: readonly string[]) => void;
  readonly work: () => void;
};
