import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Config, type Flags, loadConfig, refuseUnsafe } from "./config.ts";
import { ConfigError } from "./config-error.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-config-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function load(env: Record<string, string> = {}, flags: Flags = {}) {
  return loadConfig({ env, flags, folder });
}

function problem(act: () => unknown): Pick<ConfigError, "problem" | "facts" | "isUsage"> {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

function writeConfig(content: unknown, name = "holdfast.config.json"): void {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(folder, name), text);
}

describe("where a value comes from", () => {
  it("is the default when nobody says anything", () => {
    const { config, origins } = load();
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8787, processes: 1 });
    expect(config.ledger).toEqual({ kind: "sqlite", file: "holdfast.db" });
    expect(config.hot).toEqual({ kind: "memory" });
    expect(config.roles).toContain("writer");
    expect(origins.every(({ origin }) => origin === "default")).toBe(true);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("is the flag, else the variable, else the file", () => {
    writeConfig({ port: 1, host: "localhost", logLevel: "warn" });
    const { config, origins } = load({ HOLDFAST_PORT: "2", HOLDFAST_HOST: "::1" }, { port: "3" });
    expect(config).toMatchObject({ port: 3, host: "::1", logLevel: "warn" });
    const origin = Object.fromEntries(origins.map((one) => [one.name, one.origin]));
    expect(origin).toMatchObject({
      port: "--port",
      host: "HOLDFAST_HOST",
      logLevel: "holdfast.config.json",
      bus: "default",
    });
  });

  it("may be a named file, which must then exist", () => {
    writeConfig({ $schema: "ignored", apiKeys: ["a:one", "b:two"] }, "other.json");
    expect(load({}, { config: "other.json" }).config.apiKeys).toHaveLength(2);
    expect(load({ HOLDFAST_CONFIG: "other.json" }).config.apiKeys).toHaveLength(2);
    expect(problem(() => load({}, { config: "absent.json" })).problem).toBe("file-missing");
  });

  it("may be a file with a secret in it, but not both", () => {
    writeFileSync(join(folder, "keys"), "ci:from-a-file\n");
    const env = { HOLDFAST_API_KEYS_FILE: "keys" };
    expect(load(env).config.apiKeys).toEqual([{ name: "ci", secret: "from-a-file" }]);
    const both = { ...env, HOLDFAST_API_KEYS: "a:b" };
    expect(problem(() => load(both)).problem).toBe("both-forms");
  });
});

describe("an unknown name", () => {
  it.each([
    ["HOLDFAST_PROT", "HOLDFAST_PORT"],
    ["HOLDFAST_API_KEYS_FIEL", "HOLDFAST_API_KEYS_FILE"],
    ["HOLDFAST_LEDGER", "HOLDFAST_LEDGER_URL"],
    ["HOLDFAST_SOMETHING_ELSE_ENTIRELY", undefined],
  ])("%s in the environment is refused, meaning %s", (name, suggestion) => {
    const refused = problem(() => load({ [name]: "x", PATH: "/bin" }));
    expect(refused).toMatchObject({ problem: "unknown-variable", isUsage: true });
    expect(refused.facts["suggestion"]).toBe(suggestion);
  });

  it("in the file is refused with what was meant", () => {
    writeConfig({ prot: 1 });
    const refused = problem(() => load());
    expect(refused).toMatchObject({ problem: "unknown-key", facts: { suggestion: "port" } });
  });

  it.each([
    ["not JSON", "{ port: 1 }"],
    ["a list", "[1]"],
    ["null", "null"],
  ])("and a file that is %s is refused", (_, text) => {
    writeConfig(text);
    expect(problem(() => load()).problem).toBe("file-broken");
  });
});

describe("a value", () => {
  it.each<[keyof Flags, string]>([
    ["port", "65536"],
    ["port", "-1"],
    ["port", "80a"],
    ["port", ""],
    ["host", "a b"],
    ["ledger", "holdfast.db"],
    ["ledger", "sqlite:"],
    ["ledger", "sqlite://relative.db"],
    ["ledger", "mysql://"],
    ["hot", "memory"],
    ["hot", "redis:"],
    ["bus", "kafka://a"],
    ["traceUrl", "https://traces.example/"],
    ["traceUrl", "javascript:{traceId}"],
    ["traceUrl", "{traceId}"],
    ["roles", "api,api,typo"],
    ["roles", ""],
    ["processes", "0"],
    ["apiKeys", "no-colon"],
    ["apiKeys", "a:1,a:2"],
    ["apiKeys", "bad name:1"],
    ["messageKeys", "k:c2hvcnQ="],
    ["logLevel", "loud"],
    ["events", "webhook"],
    ["events", ""],
    ["url", "ftp://a"],
  ])("of %s may not be %j", (name, text) => {
    const refused = problem(() => load({}, { [name]: text }));
    expect(refused).toMatchObject({ problem: "bad-value", isUsage: true, facts: { name } });
  });

  it.each<[keyof Config & keyof Flags, string, unknown]>([
    ["ledger", "sqlite:data/x.db", { kind: "sqlite", file: "data/x.db" }],
    ["ledger", "sqlite:/var/x.db", { kind: "sqlite", file: "/var/x.db" }],
    ["ledger", "sqlite:///var/x.db", { kind: "sqlite", file: "/var/x.db" }],
    ["ledger", "sqlite::memory:", { kind: "sqlite", file: ":memory:" }],
    ["ledger", "mysql://u:p@h/db", { kind: "mysql", url: "mysql://u:p@h/db" }],
    ["ledger", "mariadb://h/db", { kind: "mariadb", url: "mariadb://h/db" }],
    ["hot", "rediss://h", { kind: "rediss", url: "rediss://h" }],
    ["hot", "redis-cluster://a,b,c", { kind: "redis-cluster", url: "redis-cluster://a,b,c" }],
    ["bus", "redis-cluster://[::1]:1", { kind: "redis-cluster", url: "redis-cluster://[::1]:1" }],
    ["bus", "amqp://h", { kind: "amqp", url: "amqp://h" }],
    ["bus", "rocketmq://h:8081", { kind: "rocketmq", url: "rocketmq://h:8081" }],
    ["traceUrl", "http://t:16686/trace/{traceId}", "http://t:16686/trace/{traceId}"],
    ["traceUrl", "", null],
    ["roles", "writer,api", ["api", "writer"]],
    ["events", "transactions", "transactions"],
    ["host", "[::1]", "::1"],
    ["url", "http://127.0.0.1:1/", "http://127.0.0.1:1"],
  ])("of %s may be %j", (name, text, expected) => {
    expect(load({}, { [name]: text }).config[name]).toEqual(expected);
  });

  it("that is secret is never shown", () => {
    const key = Buffer.alloc(32, 7).toString("base64");
    const { config, origins } = load({
      HOLDFAST_API_KEYS: "ops:hunter2,ci:s3cret",
      HOLDFAST_MESSAGE_KEYS: `one:${key}`,
      HOLDFAST_API_KEY: "hunter2",
      HOLDFAST_LEDGER_URL: "mysql://user:pass@host/db",
    });
    expect(config.messageKeys[0]?.secret).toHaveLength(32);
    const shown = Object.fromEntries(origins.map((one) => [one.name, one.redacted]));
    expect(shown).toMatchObject({
      apiKeys: "ops:***,ci:***",
      messageKeys: "one:***",
      apiKey: "***",
      ledger: "mysql://user:***@host/db",
    });
    const refused = problem(() => load({ HOLDFAST_API_KEYS: "hunter2" }));
    expect(JSON.stringify(refused)).not.toContain("hunter2");
  });
});

describe("a configuration that cannot keep the promises", () => {
  it.each<[string, Flags, ConfigError["problem"]]>([
    ["several processes over memory", { processes: "2" }, "processes-in-memory"],
    ["a part of the roles over memory", { roles: "api" }, "roles-in-memory"],
    ["a ledger that is gone after a restart", { ledger: "sqlite::memory:" }, "ledger-in-memory"],
    ["transactions in memory", { events: "transactions" }, "transactions-elsewhere"],
    [
      "transactions on RabbitMQ",
      { bus: "amqp://rabbit", events: "transactions" },
      "transactions-elsewhere",
    ],
    ["an open door without a key", { host: "0.0.0.0" }, "open-without-key"],
    ["RabbitMQ as it comes", { bus: "amqp://guest:guest@rabbit" }, "default-password"],
    ["the same on this machine", { bus: "amqp://guest:guest@127.0.0.1" }, "default-password"],
    ["Redis as in its manual", { hot: "redis://:foobared@r:1" }, "default-password"],
    ["a cluster's nodes", { hot: "redis-cluster://u:Redis@a:1,b:2" }, "default-password"],
    ["the article's MySQL", { ledger: "mysql://root:root123@db/shop" }, "default-password"],
    ["a user's own name", { ledger: "mariadb://shop:shop@db/shop" }, "default-password"],
    ["RocketMQ's example", { bus: "rocketmq://RocketMQ:12345678@mq:8081" }, "default-password"],
    ["an escaped one", { ledger: "mysql://root:root%40123@db/shop" }, "default-password"],
    ["an example's API key", { apiKeys: "ops:secret" }, "known-secret"],
  ])("is refused: %s", (_, flags, expected) => {
    const { config } = load({}, flags);
    const refused = problem(() => refuseUnsafe(config, "serve"));
    expect(refused).toMatchObject({ problem: expected, isUsage: false });
  });

  it.each<[string, Flags, "serve" | "dev"]>([
    ["the defaults", {}, "serve"],
    ["an open door with a key", { host: "0.0.0.0", apiKeys: "a:b" }, "serve"],
    ["every loopback address", { host: "127.9.9.9" }, "serve"],
    ["hot stock and bus on Redis", { hot: "redis://r:1", bus: "rediss://u:p@r" }, "serve"],
    ["transactions on RocketMQ", { bus: "rocketmq://mq:8081", events: "transactions" }, "serve"],
    ["a bus on RabbitMQ", { bus: "amqps://u:p@rabbit/shop" }, "serve"],
    ["servers without any password", { hot: "redis://r:1", ledger: "mysql://u@db/shop" }, "serve"],
    ["RabbitMQ as it comes, for trying out", { bus: "amqp://guest:guest@rabbit" }, "dev"],
    ["a ledger in memory, for trying out", { ledger: "sqlite::memory:" }, "dev"],
    ["a ledger on MySQL", { ledger: "mysql://127.0.0.1/holdfast" }, "serve"],
    ["a ledger on MariaDB", { ledger: "mariadb://127.0.0.1/holdfast" }, "serve"],
  ])("is not %s", (_, flags, purpose) => {
    const { config } = load({}, flags);
    expect(() => refuseUnsafe(config, purpose)).not.toThrow();
  });
});
