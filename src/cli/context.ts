import type { Clock } from "../clock.ts";
import type { Loaded } from "../config.ts";
import type { Text } from "./text.ts";

/** What every command is handed: where to speak, in which language, and when to stop. */
export type Context = {
  readonly text: Text;
  readonly paint: Paint;
  readonly isJson: boolean;
  /** A person watches standard error: progress may be drawn. */
  readonly isWatched: boolean;
  /** Somebody can be asked a question. */
  readonly isInteractive: boolean;
  readonly loaded: Loaded;
  readonly clock: Clock;
  /** For people; on standard error when standard output belongs to a machine. */
  readonly say: (line?: string) => void;
  /** As it is, without an end of line: for what goes into a pipe. */
  readonly write: (text: string) => void;
  /** Always standard error. */
  readonly note: (line: string) => void;
  /** The one object of `--json`; the last line of standard output, printed when all is done. */
  readonly result: (object: object) => void;
  /** Prints an object at once: of a command that goes on, such as a server that is ready. */
  readonly announce: (object: object) => void;
  /** Redraws one line on a terminal; an empty one clears it. */
  readonly progress: (line: string) => void;
  /** Asks a yes-or-no question; only where somebody can answer. */
  readonly ask: (question: string) => Promise<boolean>;
  /** The first Ctrl-C aborts it; a command that never looks at it is ended at once. */
  readonly stopping: () => AbortSignal;
};

export type Options = Readonly<Record<string, unknown>>;
/** Answers the exit code. */
export type Command = (
  context: Context,
  options: Options,
  args: readonly string[],
) => Promise<number>;

export const exitCodes = { done: 0, failed: 1, usage: 2, broken: 3, interrupted: 130 } as const;

export type Paint = {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
};

export function paintWith(isColoured: boolean): Paint {
  const wrap = (on: number, off: number) => (text: string) =>
    isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    green: wrap(32, 39),
    red: wrap(31, 39),
    yellow: wrap(33, 39),
  };
}

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function numberOption(options: Options, name: string): number | undefined {
  const value = options[name];
  return typeof value === "number" ? value : undefined;
}

export function numberOr(options: Options, name: string, otherwise: number): number {
  return numberOption(options, name) ?? otherwise;
}

export function isOn(options: Options, name: string): boolean {
  return options[name] === true;
}

export function listOption(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
