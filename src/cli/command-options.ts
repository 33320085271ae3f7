import type { MessageKey } from "./text.ts";

export type OptionSpec = {
  readonly flags: string;
  readonly says: MessageKey;
  readonly kind?: OptionKind;
};

export type OptionKind =
  | { readonly type: "integer"; readonly min: number; readonly max: number }
  | { readonly type: "number"; readonly min: number; readonly max: number }
  | { readonly type: "list" }
  | { readonly type: "choice"; readonly values: readonly string[] };

export const integer = (min: number, max: number): OptionKind => ({ type: "integer", min, max });
export const number = (min: number, max: number): OptionKind => ({ type: "number", min, max });
export const level = integer(0, Number.MAX_SAFE_INTEGER);
export const units = integer(1, 1_000_000_000);
export const seconds = integer(1, 2_592_000);

export const stores: readonly OptionSpec[] = [
  { flags: "--ledger <url>", says: "option.ledger" },
  { flags: "--hot <url>", says: "option.hot" },
  { flags: "--bus <url>", says: "option.bus" },
];
export const events: OptionSpec = { flags: "--events <where>", says: "option.events" };
export const listening: readonly OptionSpec[] = [
  { flags: "--host <name>", says: "option.host" },
  { flags: "--port <number>", says: "option.port" },
  { flags: "--base-path <path>", says: "option.basePath" },
];
export const logging: OptionSpec = { flags: "--log-level <level>", says: "option.logLevel" };
export const client: readonly OptionSpec[] = [
  { flags: "--url <url>", says: "option.url" },
  { flags: "--api-key <secret>", says: "option.apiKey" },
];
export const act: readonly OptionSpec[] = [
  { flags: "--reason <text>", says: "option.reason" },
  { flags: "--operation-id <id>", says: "option.operationId" },
  ...client,
];
export const paging: readonly OptionSpec[] = [
  { flags: "--limit <n>", says: "option.limit", kind: integer(1, 1_000_000) },
];
export const only: OptionSpec = {
  flags: "--only <id>",
  says: "option.only",
  kind: { type: "list" },
};
export const yes: OptionSpec = { flags: "--yes", says: "option.yes" };
export const dryRun: OptionSpec = { flags: "--dry-run", says: "option.dryRun" };
export const stocked: OptionSpec = { flags: "--stock <n>", says: "option.stock", kind: units };
export const buyers: OptionSpec = {
  flags: "--buyers <n>",
  says: "option.buyers",
  kind: integer(1, 1_000_000),
};
export const hold: OptionSpec = {
  flags: "--hold-seconds <n>",
  says: "option.holdSeconds",
  kind: seconds,
};
export const seed: OptionSpec = {
  flags: "--seed <n>",
  says: "option.seed",
  kind: integer(0, 4_294_967_295),
};
