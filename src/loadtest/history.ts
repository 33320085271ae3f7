/** What one buyer did under one key and what the server told: the client's own notes. */
export type KeyRecord = {
  readonly key: string;
  readonly buyer: string;
  readonly sku: string;
  readonly quantity: number;
  /** In order of arrival; bounded, and a poll that says nothing is not noted. */
  readonly answers: Answer[];
  /** What the holder wanted, and what the server told about it. */
  settled: Settled | null;
  /** The same act told twice: it must get the same answer. */
  settledAgain: Settled | null;
};

export type Answer = {
  readonly kind: AnswerKind;
  /** State of the reservation, code of the refusal, or what went wrong. */
  readonly what: string;
  readonly id: string | null;
  /** From the start of the run. */
  readonly askedMs: number;
  readonly toldMs: number;
};

/**
 * - `held`: reserved, or paid.
 * - `over`: it was reserved and has ended since.
 * - `refused`: a no with its code, of hot stock or of the ledger.
 * - `pending`: undecided.
 * - `later`: the server asks to come again.
 * - `unknown`: no answer; it may have taken effect.
 */
export type AnswerKind = "held" | "over" | "refused" | "pending" | "later" | "unknown";

export type Settled = {
  readonly act: "pay" | "cancel";
  /** `odd`: an answer about something else than what was asked for. */
  readonly told: "done" | "refused" | "odd" | "unknown";
  readonly what: string;
};

export const answersMax = 64;

/** What a key came to. A refusal took nothing, so a later click under the key may still win. */
export type Ending = "reserved" | "rejected" | "pending";

export function endingOf({ answers }: KeyRecord): Ending {
  if (answers.some(({ kind }) => kind === "held" || kind === "over")) return "reserved";
  const noes = answers.filter(({ kind }) => kind === "refused");
  // A no closes only the questions that had come back before it was asked for.
  const open = answers.filter(({ kind }) => kind !== "refused");
  const isClosed = open.every((one) => noes.some((no) => no.askedMs >= one.toldMs));
  return noes.length > 0 && isClosed ? "rejected" : "pending";
}

export function idsOf(record: KeyRecord): readonly string[] {
  return [...new Set(record.answers.flatMap(({ id }) => (id === null ? [] : [id])))];
}
