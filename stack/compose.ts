import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "./private-server.ts";
import type { Started } from "./servers.ts";

const run = promisify(execFile);
/** The same from source and from what was built of it. */
const isBuilt = import.meta.url.endsWith(".js");
const file = fileURLToPath(
  new URL(isBuilt ? "../../compose.yaml" : "../compose.yaml", import.meta.url),
);
/** Images have to be fetched first. */
const upWithinMs = 600_000;

type Given = { readonly ports: readonly number[]; readonly password: string };
type Composed = {
  readonly profile: string;
  /** What is waited for; what it needs is started before it. */
  readonly service: string;
  /** The variables of its ports, in the order in which `url` gets them. */
  readonly ports: readonly string[];
  readonly url: (given: Given) => string;
};

const composed: Readonly<Record<string, Composed>> = {
  redis: {
    ...{ profile: "minimal", service: "redis", ports: ["REDIS_PORT"] },
    url: ({ ports: [port], password }) => `redis://:${password}@127.0.0.1:${port}`,
  },
  mysql: {
    ...{ profile: "minimal", service: "mysql", ports: ["MYSQL_PORT"] },
    url: ({ ports: [port], password }) => `mysql://root:${password}@127.0.0.1:${port}/holdfast`,
  },
  mariadb: {
    ...{ profile: "mariadb", service: "mariadb", ports: ["MARIADB_PORT"] },
    url: ({ ports: [port], password }) => `mariadb://root:${password}@127.0.0.1:${port}/holdfast`,
  },
  rabbitmq: {
    ...{ profile: "rabbitmq", service: "rabbitmq", ports: ["RABBITMQ_PORT"] },
    url: ({ ports: [port], password }) => `amqp://holdfast:${password}@127.0.0.1:${port}/%2F`,
  },
  rocketmq: {
    ...{ profile: "rocketmq", service: "rocketmq-proxy" },
    ports: ["ROCKETMQ_PORT", "ROCKETMQ_BROKER_PORT"],
    url: ({ ports: [proxy, broker] }) => `rocketmq://127.0.0.1:${proxy}?broker=127.0.0.1:${broker}`,
  },
};
const secrets = ["REDIS_PASSWORD", "MYSQL_ROOT_PASSWORD", "MYSQL_PASSWORD", "RABBITMQ_PASSWORD"];

/**
 * A server out of compose.yaml, where it can neither be found nor installed: in a project of its
 * own, with a password and free ports of its own, and gone with its volumes at the end. The first
 * reason is told when Docker cannot help either.
 */
export async function startComposed(name: string, reason: unknown): Promise<Started> {
  const wanted = composed[name];
  if (wanted === undefined || !(await hasCompose())) throw reason;
  const password = randomBytes(18).toString("hex");
  const ports = await Promise.all(wanted.ports.map(() => freePort()));
  const chosen = wanted.ports.map((variable, n) => [variable, String(ports[n])] as const);
  const env = {
    ...process.env,
    ...Object.fromEntries(secrets.map((secret) => [secret, password])),
    ...Object.fromEntries(chosen),
    HOLDFAST_API_KEYS: `stack:${password}`,
  };
  const project = `holdfast-stack-${name}-${randomBytes(4).toString("hex")}`;
  const docker = async (...args: readonly string[]): Promise<void> => {
    const place = ["compose", "--project-name", project, "--file", file];
    await run("docker", [...place, "--profile", wanted.profile, ...args], { env });
  };
  const stop = (): Promise<void> => docker("down", "--volumes", "--timeout", "1");
  try {
    const seconds = String(upWithinMs / 1_000);
    await docker("up", "--detach", "--wait", "--wait-timeout", seconds, wanted.service);
  } catch (error) {
    await stop().catch(() => undefined);
    throw new Error(`${messageOf(reason)}\nDocker Compose: ${messageOf(error)}`, { cause: error });
  }
  return { url: wanted.url({ ports, password }), stop };
}

async function hasCompose(): Promise<boolean> {
  return run("docker", ["compose", "version"]).then(
    () => true,
    () => false,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
