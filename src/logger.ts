import { type Logger, pino, stdTimeFunctions } from "pino";
import type { Events } from "./events.ts";

export type { Logger };

export type LogOptions = {
  readonly level: string;
  /** For eyes instead of machines: on a terminal. */
  readonly isPretty: boolean;
};

const secrets = [
  "authorization",
  "apiKey",
  "apiKeys",
  "messageKeys",
  "secret",
  "password",
  "cookie",
];

/**
 * JSON lines on standard error: standard output belongs to the result of a command. Written at
 * once, so that the last line before a death is there.
 */
export async function makeLogger({ level, isPretty }: LogOptions): Promise<Logger> {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]) },
  };
  if (!isPretty) {
    const formatters = { level: (label: string) => ({ level: label }) };
    return pino({ ...options, formatters }, pino.destination({ dest: 2, sync: true }));
  }
  const { default: pretty } = await import("pino-pretty");
  return pino(options, pretty({ destination: 2, sync: true, translateTime: "SYS:HH:MM:ss.l" }));
}

export type LoggedEvents = Pick<
  Events,
  | "laneClosed"
  | "rebuilt"
  | "resent"
  | "deadLettered"
  | "skuStopped"
  | "unknownOutcome"
  | "workerFailed"
  | "alarm"
>;

/** A line for what an operator looks at afterwards; what happens to every buyer is counted. */
export function loggedEvents(log: Logger): LoggedEvents {
  return {
    laneClosed: (lane, why) => log.warn({ lane, why }, "lane closed"),
    rebuilt: (lane, facts) => log.info({ lane, ...facts }, "hot stock rebuilt"),
    resent: (lane, ids) => log.warn({ lane, tickets: ids.length, ids: ids.slice(0, 10) }, "resent"),
    deadLettered: (lane, reason) => log.error({ lane, reason }, "message dead-lettered"),
    skuStopped: (sku, reason) => log.error({ sku, reason }, "SKU stopped"),
    unknownOutcome: (where) => log.warn({ where }, "outcome unknown; asking again"),
    workerFailed: (worker, error) => log.error({ worker, err: error }, "worker step failed"),
    alarm: (what, detail) => log.error({ what, detail }, "alarm"),
  };
}
