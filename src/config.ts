import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "./config-error.ts";
import {
  apiKeys,
  basePath,
  Expected,
  eventsMode,
  hasKnownPassword,
  host,
  integer,
  isKnownSecret,
  isLoopback,
  ledgerUrl,
  logLevel,
  messageKeys,
  nearest,
  roleNames,
  roles,
  serverUrl,
  storeUrl,
  traceUrl,
  users,
} from "./config-values.ts";

/**
 * Flags over environment over file over defaults, from one table. A name that the table does not
 * have is an error with a suggestion: a misspelt setting would otherwise be a silent default.
 */
const settings = {
  host: { env: "HOLDFAST_HOST", flag: "--host", fallback: "127.0.0.1", parse: host },
  port: { env: "HOLDFAST_PORT", flag: "--port", fallback: "8787", parse: integer(0, 65_535) },
  basePath: { env: "HOLDFAST_BASE_PATH", flag: "--base-path", fallback: "", parse: basePath },
  ledger: {
    env: "HOLDFAST_LEDGER_URL",
    flag: "--ledger",
    fallback: "sqlite:holdfast.db",
    secret: "url",
    parse: ledgerUrl,
  },
  hot: {
    env: "HOLDFAST_HOT_URL",
    flag: "--hot",
    fallback: "memory:",
    secret: "url",
    parse: storeUrl(["redis", "rediss", "redis-cluster"]),
  },
  bus: {
    env: "HOLDFAST_BUS_URL",
    flag: "--bus",
    fallback: "memory:",
    secret: "url",
    parse: storeUrl(["redis", "rediss", "redis-cluster", "amqp", "amqps", "rocketmq"]),
  },
  events: { env: "HOLDFAST_EVENTS", flag: "--events", fallback: "bus", parse: eventsMode },
  roles: { env: "HOLDFAST_ROLES", flag: "--roles", fallback: "all", parse: roles },
  processes: {
    env: "HOLDFAST_PROCESSES",
    flag: "--processes",
    fallback: "1",
    parse: integer(1, 64),
  },
  apiKeys: { env: "HOLDFAST_API_KEYS", fallback: "", secret: "pairs", parse: apiKeys },
  messageKeys: { env: "HOLDFAST_MESSAGE_KEYS", fallback: "", secret: "pairs", parse: messageKeys },
  users: { env: "HOLDFAST_USERS", fallback: "", secret: "pairs", parse: users },
  trustedProxies: {
    env: "HOLDFAST_TRUSTED_PROXIES",
    flag: "--trusted-proxies",
    fallback: "0",
    parse: integer(0, 8),
  },
  rateLimit: {
    env: "HOLDFAST_RATE_LIMIT",
    flag: "--rate-limit",
    fallback: "0",
    parse: integer(0, 1_000_000),
  },
  traceUrl: { env: "HOLDFAST_TRACE_URL", flag: "--trace-url", fallback: "", parse: traceUrl },
  logLevel: { env: "HOLDFAST_LOG_LEVEL", flag: "--log-level", fallback: "info", parse: logLevel },
  shutdownDelaySeconds: {
    env: "HOLDFAST_SHUTDOWN_DELAY_SECONDS",
    flag: "--shutdown-delay-seconds",
    fallback: "0",
    parse: integer(0, 300),
  },
  url: { env: "HOLDFAST_URL", flag: "--url", fallback: "http://127.0.0.1:8787", parse: serverUrl },
  apiKey: {
    env: "HOLDFAST_API_KEY",
    flag: "--api-key",
    fallback: "",
    secret: "whole",
    parse: (text) => (text === "" ? null : text),
  },
} as const satisfies Record<string, Setting>;

type Setting = {
  readonly env: string;
  readonly flag?: string;
  readonly fallback: string;
  readonly secret?: "whole" | "url" | "pairs";
  readonly parse: (text: string) => unknown;
};

export type SettingName = keyof typeof settings;
export type Config = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]["parse"]>;
};

export type Flags = { readonly [Name in SettingName | "config"]?: string | undefined };
export type Environment = Readonly<Record<string, string | undefined>>;
export type Sources = {
  readonly flags?: Flags;
  readonly env?: Environment;
  /** Where the file is looked for and relative names begin. */
  readonly folder?: string;
};

export type Origin = {
  readonly name: SettingName;
  readonly text: string;
  readonly redacted: string;
  /** `default`, or the flag, variable or file that said it. */
  readonly origin: string;
};
export type Loaded = { readonly config: Config; readonly origins: readonly Origin[] };

export const configFile = "holdfast.config.json";

/** The one reader of the environment. Throws a `ConfigError`. */
export function loadConfig(sources: Sources = {}): Loaded {
  const env = sources.env ?? process.env;
  const folder = resolve(sources.folder ?? ".");
  const flags = sources.flags ?? {};
  refuseUnknownVariables(env);
  const file = readFile(folder, flags.config ?? env["HOLDFAST_CONFIG"]);
  const origins: Origin[] = [];
  const config = parseAll((name) => {
    const found = find(name, { flags, env, file, folder });
    origins.push(found);
    return found;
  });
  return { config: Object.freeze(config), origins };
}

function parseAll(find: (name: SettingName) => Origin): Config {
  return {
    host: read(find("host"), settings.host.parse),
    port: read(find("port"), settings.port.parse),
    basePath: read(find("basePath"), settings.basePath.parse),
    ledger: read(find("ledger"), settings.ledger.parse),
    hot: read(find("hot"), settings.hot.parse),
    bus: read(find("bus"), settings.bus.parse),
    events: read(find("events"), settings.events.parse),
    roles: read(find("roles"), settings.roles.parse),
    processes: read(find("processes"), settings.processes.parse),
    apiKeys: read(find("apiKeys"), settings.apiKeys.parse),
    messageKeys: read(find("messageKeys"), settings.messageKeys.parse),
    users: read(find("users"), settings.users.parse),
    trustedProxies: read(find("trustedProxies"), settings.trustedProxies.parse),
    rateLimit: read(find("rateLimit"), settings.rateLimit.parse),
    traceUrl: read(find("traceUrl"), settings.traceUrl.parse),
    logLevel: read(find("logLevel"), settings.logLevel.parse),
    shutdownDelaySeconds: read(find("shutdownDelaySeconds"), settings.shutdownDelaySeconds.parse),
    url: read(find("url"), settings.url.parse),
    apiKey: read(find("apiKey"), settings.apiKey.parse),
  };
}

/** Nobody has said anything about this setting. */
export function isDefault({ origins }: Loaded, name: SettingName): boolean {
  return origins.some((one) => one.name === name && one.origin === "default");
}

/** The kinds of hot stock and bus that have an adapter. */
const builtHot: ReadonlySet<string> = new Set(["memory", "redis", "rediss", "redis-cluster"]);
const builtBus: ReadonlySet<string> = new Set([...builtHot, "amqp", "amqps", "rocketmq"]);

/** Refuses, before anything is opened, what could not keep the promises. */
export function refuseUnsafe(config: Config, purpose: "serve" | "dev"): void {
  const { ledger, hot, bus } = config;
  if (!builtHot.has(hot.kind)) notInThisBuild("--hot", `${hot.kind}://`, "redis://HOST:PORT");
  if (!builtBus.has(bus.kind)) notInThisBuild("--bus", `${bus.kind}://`, "redis://HOST:PORT");
  const isShared = ledger.kind !== "sqlite" && hot.kind !== "memory" && bus.kind !== "memory";
  if (config.processes > 1 && !(isShared && purpose === "serve")) {
    throw new ConfigError("processes-in-memory", { processes: String(config.processes) });
  }
  const absent = roleNames.filter((role) => !config.roles.includes(role));
  if (absent.length > 0 && !isShared) {
    throw new ConfigError("roles-in-memory", { absent: absent.join(",") });
  }
  if (purpose === "serve" && ledger.kind === "sqlite" && ledger.file === ":memory:") {
    throw new ConfigError("ledger-in-memory", { ledger: "sqlite::memory:" });
  }
  if (config.events === "transactions" && bus.kind !== "rocketmq") {
    throw new ConfigError("transactions-elsewhere", { bus: `${bus.kind}:` });
  }
  if (!isLoopback(config.host) && config.apiKeys.length === 0) {
    throw new ConfigError("open-without-key", { host: config.host });
  }
  if (purpose === "serve") refuseKnownSecrets(config);
}

function refuseKnownSecrets({ ledger, hot, bus, apiKeys, users }: Config): void {
  for (const [flag, store] of Object.entries({ "--ledger": ledger, "--hot": hot, "--bus": bus })) {
    if ("url" in store && hasKnownPassword(store.url)) {
      throw new ConfigError("default-password", { flag });
    }
  }
  const key = apiKeys.find(({ secret }) => isKnownSecret(secret));
  if (key !== undefined) {
    throw new ConfigError("known-secret", { variable: settings.apiKeys.env, name: key.name });
  }
  const user = users.find(({ password }) => isKnownSecret(password));
  if (user !== undefined) {
    throw new ConfigError("known-secret", { variable: settings.users.env, name: user.name });
  }
}

function notInThisBuild(flag: string, scheme: string, instead: string): never {
  throw new ConfigError("not-in-this-build", { flag, scheme, instead });
}

// Sources -------------------------------------------------------------------------------------

function variables(): string[] {
  const own = Object.values(settings).flatMap((setting: Setting) =>
    setting.secret === undefined ? [setting.env] : [setting.env, `${setting.env}_FILE`],
  );
  return [...own, "HOLDFAST_CONFIG"];
}

function refuseUnknownVariables(env: Environment): void {
  const known = variables();
  for (const name of Object.keys(env)) {
    if (!name.startsWith("HOLDFAST_") || known.includes(name)) continue;
    throw new ConfigError("unknown-variable", { name, ...suggestion(name, known) });
  }
}

function suggestion(word: string, candidates: readonly string[]): { suggestion?: string } {
  const found = nearest(word, candidates);
  return found === undefined ? {} : { suggestion: found };
}

type ConfigFile = { readonly path: string; readonly values: Readonly<Record<string, string>> };

function readFile(folder: string, named: string | undefined): ConfigFile | null {
  const path = resolve(folder, named ?? configFile);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (named === undefined && isMissing(error)) return null;
    throw new ConfigError("file-missing", { file: named ?? configFile, why: reasonOf(error) });
  }
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(parseObject(text, named ?? configFile))) {
    if (key === "$schema") continue;
    const known = Object.keys(settings);
    if (!known.includes(key)) {
      throw new ConfigError("unknown-key", { key, file: path, ...suggestion(key, known) });
    }
    values[key] = fileValue(value, { key, path });
  }
  return { path: named ?? configFile, values };
}

function parseObject(text: string, file: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new ConfigError("file-broken", { file, why: reasonOf(error) });
  }
  if (isObject(parsed)) return parsed;
  throw new ConfigError("file-broken", { file, why: "expected one JSON object" });
}

function fileValue(value: unknown, where: { key: string; path: string }): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value) && value.every((part) => typeof part === "string")) {
    return value.join(",");
  }
  throw new ConfigError("bad-value", {
    name: where.key,
    origin: where.path,
    expected: "a string, a number or a list of strings",
  });
}

type Places = {
  readonly flags: Flags;
  readonly env: Environment;
  readonly file: ConfigFile | null;
  readonly folder: string;
};

function find(name: SettingName, places: Places): Origin {
  const setting: Setting = settings[name];
  const said = saidBy(name, setting, places);
  const text = said?.text ?? setting.fallback;
  return { name, text, redacted: redact(setting, text), origin: said?.origin ?? "default" };
}

function saidBy(name: SettingName, setting: Setting, { flags, env, file, folder }: Places) {
  const flag = flags[name];
  if (flag !== undefined) return { text: flag, origin: setting.flag ?? name };
  const direct = env[setting.env];
  const indirect = setting.secret === undefined ? undefined : env[`${setting.env}_FILE`];
  if (direct !== undefined && indirect !== undefined) {
    throw new ConfigError("both-forms", { name: setting.env });
  }
  if (direct !== undefined) return { text: direct, origin: setting.env };
  if (indirect !== undefined) {
    const origin = `${setting.env}_FILE`;
    return { text: secretFrom(resolve(folder, indirect), origin), origin };
  }
  const text = file?.values[name];
  return file === null || text === undefined ? undefined : { text, origin: file.path };
}

function secretFrom(path: string, origin: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new ConfigError("file-missing", { file: path, why: `${origin}: ${reasonOf(error)}` });
  }
}

function read<T>({ name, text, origin }: Origin, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof Expected)) throw error;
    const setting: Setting = settings[name];
    const found = setting.secret === undefined ? { found: text } : {};
    throw new ConfigError("bad-value", { name, origin, expected: error.message, ...found });
  }
}

function redact(setting: Setting, text: string): string {
  if (text === "" || setting.secret === undefined) return text;
  if (setting.secret === "whole") return "***";
  if (setting.secret === "pairs") return text.replace(/:[^,]*/g, ":***");
  return text.replace(/(\/\/[^:@/]*):[^@]*@/, "$1:***@");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
