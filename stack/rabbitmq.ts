import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Connection } from "rabbitmq-client";
import { findProgram } from "./packages.ts";
import { freePort, type PrivateServer, startServer, temporaryFolder } from "./private-server.ts";

const run = promisify(execFile);
const aptPackage = "rabbitmq-server";
/** Debian's own commands change the user first; these are what they call. */
const programs = "/usr/lib/rabbitmq/bin";
const user = "holdfast";

type Place = {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly env: Readonly<Record<string, string>>;
};

/**
 * A RabbitMQ of our own: one node with its own name, port mapper and home, a user of its own and
 * a password that is made with it. Its data stay when it is killed.
 */
export class PrivateRabbitmq {
  readonly port: number;
  readonly url: string;
  readonly #place: Place;
  readonly #mapper: PrivateServer;
  #server: PrivateServer;

  private constructor(place: Place, mapper: PrivateServer, server: PrivateServer) {
    this.port = place.port;
    this.url = urlOf(place);
    this.#place = place;
    this.#mapper = mapper;
    this.#server = server;
  }

  static async start(): Promise<PrivateRabbitmq> {
    await findProgram("rabbitmq-server", aptPackage);
    const place = await makePlace();
    const mapper = await startMapper(place);
    try {
      return new PrivateRabbitmq(place, mapper, await launch(place));
    } catch (error) {
      await mapper.kill("SIGKILL");
      throw error;
    }
  }

  /** What an operator types, for what befalls the broker; never for what is tested. */
  async ctl(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(program("rabbitmqctl"), ["--quiet", ...args], {
      env: { PATH: process.env["PATH"] ?? "", ...this.#place.env },
    });
    return stdout;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    return this.#server.kill(signal);
  }

  /** The process is gone at once; its files stay. */
  crash(): Promise<void> {
    return this.#server.kill("SIGKILL");
  }

  /** On the data that the last life left behind. */
  async restart(): Promise<void> {
    await this.#server.kill("SIGKILL");
    this.#server = await launch(this.#place);
  }

  /** At once: nobody needs what it holds. */
  async stop(): Promise<void> {
    await this.#server.kill("SIGKILL");
    await this.#mapper.kill("SIGKILL");
    await this.#server.stop();
  }
}

function program(name: string): string {
  const own = join(programs, name);
  return existsSync(own) ? own : name;
}

function urlOf({ port, password }: Place): string {
  return `amqp://${user}:${password}@127.0.0.1:${port}/%2F`;
}

async function makePlace(): Promise<Place> {
  const folder = await temporaryFolder("rabbitmq");
  const [port, distribution, mapper] = [await freePort(), await freePort(), await freePort()];
  const password = randomBytes(12).toString("hex");
  const settings = [`default_user = ${user}`, `default_pass = ${password}`];
  await writeFile(join(folder, "rabbitmq.conf"), `${settings.join("\n")}\n`, { mode: 0o600 });
  await writeFile(join(folder, "enabled_plugins"), "[].\n");
  await mkdir(join(folder, "data"));
  const env = {
    HOME: folder,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    ERL_EPMD_PORT: String(mapper),
    RABBITMQ_ALLOW_INPUT: "1",
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "enabled_plugins"),
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: "-",
    RABBITMQ_MNESIA_BASE: join(folder, "data"),
    RABBITMQ_NODENAME: `holdfast-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
  };
  return { folder, port, password, env };
}

/** Started here, so that it ends with us: the node would leave one behind. */
async function startMapper({ folder, env }: Place): Promise<PrivateServer> {
  const command = await findProgram("epmd", "erlang-base");
  return startServer({
    name: "epmd",
    command,
    args: ["-address", "127.0.0.1", "-port", env["ERL_EPMD_PORT"] ?? ""],
    folder,
    env,
    ready: async () => (await run(command, ["-names"], { env })).stdout.includes("running"),
    readyWithinMs: 10_000,
  });
}

function launch(place: Place): Promise<PrivateServer> {
  return startServer({
    name: `rabbitmq-${place.port}`,
    command: program("rabbitmq-server"),
    args: ["-noinput"],
    folder: place.folder,
    env: place.env,
    ready: () => answers(urlOf(place)),
    readyWithinMs: 60_000,
  });
}

async function answers(url: string): Promise<boolean> {
  const connection = new Connection({ url, retryLow: 100, retryHigh: 100 });
  connection.on("error", () => undefined);
  await connection.onConnect(1_000);
  await connection.close();
  return true;
}
