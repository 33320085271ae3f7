import type { Rejection } from "./domain/rejection.ts";
import type { Lane, SkuId } from "./domain/values.ts";

/**
 * Every business event that a person or a counter wants to know of: one function each. `wire.ts`
 * gives metrics and log lines; tests and the simulator count.
 */
export interface Events {
  admitted(count: number): void;
  replayed(count: number): void;
  /** Refused by hot stock or the gate; nothing was taken. */
  refused(code: Rejection, count: number): void;
  /** Decided by the ledger: the only meaning of success. */
  committed(count: number): void;
  rejected(code: Rejection, count: number): void;
  voided(count: number): void;
  confirmed(count: number): void;
  cancelled(count: number): void;
  expired(count: number, lagMs: number): void;
  refunded(count: number): void;
  batchCommitted(commands: number, ms: number): void;
  laneClosed(lane: Lane, why: string): void;
  rebuilt(lane: Lane, facts: { ms: number; cause: string; repair: boolean }): void;
  resent(lane: Lane, ids: readonly string[]): void;
  deadLettered(lane: Lane, reason: string): void;
  skuStopped(sku: SkuId, reason: string): void;
  unknownOutcome(where: string): void;
  workerFailed(worker: string, error: unknown): void;
  alarm(what: string, detail: string): void;
}

const nothing = (): void => {};

/** Counts nothing: for tests of other things. */
export const silentEvents: Events = {
  admitted: nothing,
  replayed: nothing,
  refused: nothing,
  committed: nothing,
  rejected: nothing,
  voided: nothing,
  confirmed: nothing,
  cancelled: nothing,
  expired: nothing,
  refunded: nothing,
  batchCommitted: nothing,
  laneClosed: nothing,
  rebuilt: nothing,
  resent: nothing,
  deadLettered: nothing,
  skuStopped: nothing,
  unknownOutcome: nothing,
  workerFailed: nothing,
  alarm: nothing,
};
