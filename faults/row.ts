import type { Finding } from "../src/loadtest/judge.ts";
import type { Scene } from "./scene.ts";
import type { Stage } from "./stage.ts";

export type BusKind = "redis" | "rabbitmq" | "rocketmq";

/** One line of the fault matrix. */
export type FaultRow = {
  readonly id: string;
  readonly fault: string;
  /** Run by every `npm test`. */
  readonly isGate: boolean;
  readonly bus: BusKind;
  /** Two processes instead of one, with these roles; the buyers come to the first. */
  readonly apart?: { readonly front: string; readonly behind: string };
  /** What it needs besides what every row has. */
  readonly stage?: Stage;
  /**
   * What it may cost besides time. `nothing`: no repair, and every admission is kept. `rebuild`:
   * hot stock is another one, so it is loaded anew, and nothing is lost. `tickets`: admissions
   * that hot stock or the broker has forgotten may be void, or sent again.
   */
  readonly may: "nothing" | "rebuild" | "tickets";
  /**
   * The ledger itself was harmed: SKUs have to be stopped for a person to look, and these are
   * found because of what was done to it. Nothing else is like this.
   */
  readonly stops?: { readonly finds: readonly Finding["code"][] };
  /** The target: seconds from the end of the fault until everything is as usual, or stopped. */
  readonly normalWithin: number;
  /** The fault from its beginning to its end. */
  readonly inject: (scene: Scene) => Promise<void>;
};

type More = Pick<FaultRow, "may" | "normalWithin" | "inject"> &
  Partial<Pick<FaultRow, "isGate" | "bus" | "apart" | "stage" | "stops">>;

/** A row over Redis Streams, as most are: their fault is not the broker's. */
export function row(id: string, fault: string, more: More): FaultRow {
  return { id, fault, isGate: false, bus: "redis", ...more };
}

/** What a row came to. */
export type RowResult = {
  readonly id: string;
  readonly fault: string;
  /** Reservations that were open beside the load, where it was asked for. */
  readonly open?: number;
  readonly requests: number;
  readonly reserved: number;
  /** Answers "reserved" that the ledger does not know, and tickets that nobody decided. */
  readonly lost: number;
  readonly oversold: number;
  readonly repairs: number;
  /** Null: not within two minutes. */
  readonly secondsToNormal: number | null;
  /** The judge found nothing that this fault may not cost. */
  readonly proved: boolean;
  /** Proved, and as usual within the row's time. */
  readonly ok: boolean;
};
