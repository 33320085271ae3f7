import type { Command, CommandResult, Subject } from "./command.ts";
import type { Rejection } from "./rejection.ts";

export type CommandOf<Kind extends Command["kind"]> = Extract<Command, { kind: Kind }>;

export function acceptedResult(subject: Subject, replayed = false): CommandResult {
  return { status: "accepted", replayed, subject };
}

export function rejectedResult(
  code: Rejection,
  detail: string,
  subject: Subject,
  replayed = false,
): CommandResult {
  return { status: "rejected", replayed, code, detail, subject };
}
