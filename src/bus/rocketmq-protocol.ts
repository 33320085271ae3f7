import type {
  EventsTopic,
  LaneFinding,
  LaneNames,
  RocketmqPlace,
  TopicState,
} from "./rocketmq-names.ts";

/** What the process and the client's thread say to each other. */
export type ThreadData = RocketmqPlace & {
  /** How long one call may take; a poll waits for a message before that. */
  readonly requestTimeoutMs: number;
  readonly pollMs: number;
};

export type ThreadWork =
  | { readonly kind: "send"; readonly topic: string; readonly body: Uint8Array }
  | ({ readonly kind: "tell"; readonly topic: string } & EventMessage)
  | ({ readonly kind: "poll"; readonly hiddenMs: number } & LaneNames)
  | { readonly kind: "acknowledge"; readonly receipts: readonly number[] }
  | { readonly kind: "hide"; readonly receipts: readonly number[]; readonly ms: number }
  | { readonly kind: "look"; readonly topic: string }
  | { readonly kind: "check"; readonly lanes: readonly LaneNames[] }
  | { readonly kind: "examine"; readonly topic: EventsTopic };

export type EventMessage = {
  /** What follows in one group is read in the order of sending; a transaction has none. */
  readonly group: string;
  readonly tag: string;
  readonly key: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly isTransaction: boolean;
};

/** What became of a transactional message; of an unknown one the broker asks again. */
export type Resolution = "commit" | "rollback" | "unknown";

export type ThreadRequest =
  | { readonly id: number; readonly work: ThreadWork }
  | { readonly question: number; readonly resolution: Resolution };

/** The broker has asked, so the thread asks: which became of the message with this body. */
export type ThreadQuestion = { readonly question: number; readonly body: Uint8Array };
export type ThreadReply = ThreadQuestion | ({ readonly id: number } & ThreadAnswer);

export type ThreadAnswer =
  | { readonly told: "done" }
  | { readonly told: "polled"; readonly messages: readonly Polled[] }
  | { readonly told: "checked"; readonly findings: readonly LaneFinding[] }
  | { readonly told: "examined"; readonly topicIs: TopicState }
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
