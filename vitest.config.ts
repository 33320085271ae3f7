import { defineConfig } from "vitest/config";

/** One project per layer; each says where its tests stand and how long one may take. */
function layer(name: string, include: readonly string[], timeoutMs: number) {
  return {
    extends: true as const,
    test: {
      name,
      include: [...include],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
    },
  };
}

/** Suites that every adapter of a port must pass; on the stack they run on the real servers. */
const busContracts = ["test/contract/bus.test.ts", "test/contract/outlet.test.ts"];
const contracts = ["test/contract/hot-stock*.test.ts", ...busContracts];

function on(adapters: string, project: ReturnType<typeof layer>) {
  return { ...project, test: { ...project.test, env: { HOLDFAST_TEST_ADAPTERS: adapters } } };
}

/** On real servers, which it starts; the suites of their port run again, over them. */
const stack = layer(
  "stack-sql",
  [
    "test/stack/ledger*.test.ts",
    "test/contract/ledger.test.ts",
    "test/contract/ledger-leases.test.ts",
    "test/contract/ledger-orders.test.ts",
    "test/contract/ledger-reads.test.ts",
  ],
  120_000,
);
const servers = { ...stack, test: { ...stack.test, globalSetup: ["./test/stack/sql-servers.ts"] } };

/** A RocketMQ that it starts; the suite of the bus runs again, over it. */
const rocketmq = layer(
  "stack-rocketmq",
  ["test/stack/rocketmq-*.test.ts", ...busContracts],
  120_000,
);
const onRocketmq = {
  ...rocketmq,
  test: {
    ...rocketmq.test,
    env: { HOLDFAST_TEST_ADAPTERS: "rocketmq" },
    globalSetup: ["./test/stack/rocketmq-server.ts"],
  },
};

/** The built console: its parts, its weight, and every page in a browser. */
const console = layer("console", ["console/src/**/*.test.ts", "test/console/*.test.ts"], 120_000);
const consolePages = {
  ...console,
  test: { ...console.test, globalSetup: ["./test/console/browser.ts"] },
};

/** The cases again, over HTTP on Redis and MariaDB. C17 steps the workers of embedded stores. */
const onServers = ["test/cases/c*.test.ts", "test/cases/stack/*.test.ts"];
const cases = layer("cases-stack", onServers, 120_000);
const casesOnStack = {
  ...cases,
  test: {
    ...cases.test,
    exclude: ["test/cases/c17-*.test.ts"],
    env: { HOLDFAST_TEST_SHOP: "stack" },
    globalSetup: ["./test/stack/case-servers.ts"],
  },
};

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    teardownTimeout: 10_000,
    restoreMocks: true,
    allowOnly: false,
    projects: [
      layer("unit", ["src/**/*.test.ts"], 10_000),
      layer("contract", ["test/contract/**/*.test.ts"], 30_000),
      layer("integration", ["test/integration/**/*.test.ts", "test/cases/*.test.ts"], 60_000),
      on("redis", layer("stack-redis", ["test/stack/redis-*.test.ts", ...contracts], 60_000)),
      on(
        "rabbitmq",
        layer("stack-rabbitmq", ["test/stack/rabbitmq-*.test.ts", ...busContracts], 90_000),
      ),
      layer("stack-serve", ["test/stack/serve-*.test.ts"], 180_000),
      layer("stack-doctor", ["test/stack/doctor-*.test.ts"], 120_000),
      layer("sim", ["sim/**/*.test.ts"], 60_000),
      layer("faults", ["faults/**/*.test.ts"], 60_000),
      consolePages,
      servers,
      casesOnStack,
      onRocketmq,
      layer("tidy", ["test/*.test.ts"], 30_000),
    ],
  },
});
