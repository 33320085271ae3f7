import { NoAnswer, Refusal } from "../client/desk-errors.ts";
import { ConfigError } from "../config-error.ts";
import { Fault } from "../domain/fault.ts";
import { exitCodes } from "./context.ts";
import { optionalText, type Text } from "./text.ts";

/** What failed, why, and what to type next: the form of every error here. */
export type Failure = {
  readonly code: string;
  readonly what: string;
  readonly why: string;
  readonly next: string;
  readonly exitCode: number;
};

/** Thrown by commands that know what to say. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.what);
    this.failure = failure;
  }
}

export function usageError(what: string, why: string, next: string): CliError {
  return new CliError({ code: "USAGE", what, why, next, exitCode: exitCodes.usage });
}

export function failureOf(error: unknown, text: Text): Failure {
  if (error instanceof CliError) return error.failure;
  if (error instanceof ConfigError) return ofConfig(error, text);
  if (error instanceof Refusal) return ofRefusal(error, text);
  if (error instanceof NoAnswer) return ofSilence(error, text);
  if (error instanceof Fault) return ofFault(error, text);
  return ofBug(error, text);
}

function ofConfig(error: ConfigError, text: Text): Failure {
  const { problem, facts } = error;
  const suggestion = facts["suggestion"];
  const meant = suggestion === undefined ? "" : ` ${text("config.meant", { suggestion })}`;
  const say = (part: string): string =>
    optionalText(text, `config.${problem}.${part}`, facts) ?? "";
  return {
    code: `CONFIG_${problem.replaceAll("-", "_").toUpperCase()}`,
    what: say("what") + meant,
    why: say("why"),
    next: say("next"),
    exitCode: error.isUsage ? exitCodes.usage : exitCodes.failed,
  };
}

function ofRefusal({ problem }: Refusal, text: Text): Failure {
  const { code, title, detail, errors = [] } = problem;
  const fields = errors.map(({ in: place, pointer, message }) => `${place} ${pointer}: ${message}`);
  return {
    code,
    what: text("refused.what", { code, title }),
    why: [detail, ...fields].join("\n"),
    next: optionalText(text, `refused.next.${code}`) ?? text("refused.next"),
    exitCode: exitCodes.failed,
  };
}

function ofSilence({ kind, url, message }: NoAnswer, text: Text): Failure {
  const say = (part: string): string =>
    optionalText(text, `silence.${kind}.${part}`, { url }) ?? "";
  return {
    code: `SERVER_${kind.toUpperCase()}`,
    what: say("what"),
    why: message,
    next: say("next"),
    exitCode: exitCodes.failed,
  };
}

function ofFault({ code, message, cause }: Fault, text: Text): Failure {
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
  const next = text("fault.next");
  return { code, what: text("fault.what", { code }), why, next, exitCode: exitCodes.failed };
}

function ofBug(error: unknown, text: Text): Failure {
  const isSystem = error instanceof Error && "code" in error && "syscall" in error;
  const why =
    error instanceof Error ? (isSystem ? error.message : (error.stack ?? "")) : String(error);
  return {
    code: isSystem ? String(error.code) : "UNEXPECTED",
    what: text("unexpected.what"),
    why,
    next: text("unexpected.next"),
    exitCode: exitCodes.failed,
  };
}
