import type { LaneFinding, LaneNames, RocketmqPlace } from "./rocketmq-names.ts";

/** What the process and the client's thread say to each other. */
export type ThreadData = RocketmqPlace & {
  /** How long one call may take; a poll waits for a message before that. */
  readonly requestTimeoutMs: number;
  readonly pollMs: number;
};

export type ThreadWork =
  | { readonly kind: "send"; readonly topic: string; readonly body: Uint8Array }
  | ({ readonly kind: "poll"; readonly hiddenMs: number } & LaneNames)
  | { readonly kind: "acknowledge"; readonly receipts: readonly number[] }
  | { readonly kind: "hide"; readonly receipts: readonly number[]; readonly ms: number }
  | { readonly kind: "look"; readonly topic: string }
  | { readonly kind: "check"; readonly lanes: readonly LaneNames[] };

export type ThreadRequest = { readonly id: number; readonly work: ThreadWork };

export type ThreadReply = { readonly id: number } & ThreadAnswer;

export type ThreadAnswer =
  | { readonly told: "done" }
  | { readonly told: "polled"; readonly messages: readonly Polled[] }
  | { readonly told: "checked"; readonly findings: readonly LaneFinding[] }
  /** Not unknown: the server has said no, or nothing was ever sent to it. */
  | { readonly told: "failed"; readonly why: string; readonly isUnknown: boolean };

/** `receipt` is the thread's own: what it has taken is acknowledged through it. */
export type Polled = {
  readonly receipt: number;
  readonly messageId: string;
  readonly offset: number;
  readonly attempt: number;
  readonly body: Uint8Array;
};
