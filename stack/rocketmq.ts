import { mkdir, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { findProgram } from "./packages.ts";
import { freePort, type PrivateServer, startServer, temporaryFolder } from "./private-server.ts";
import { rocketmqJars } from "./rocketmq-files.ts";

export type RocketmqOptions = {
  /** Settings of the broker and of the proxy besides ours. */
  readonly broker?: Readonly<Record<string, string>>;
  readonly proxy?: Readonly<Record<string, string | number>>;
};

type Ports = { names: number; broker: number; replicas: number; proxy: number; remoting: number };

const readyWithinMs = 90_000;
const cluster = "DefaultCluster";
/** Small, and quick to start rather than fast: a test server's life is short. */
const quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"];
const namesHeap = ["-Xms32m", "-Xmx96m"];
const brokerHeap = ["-Xms128m", "-Xmx384m", "-XX:MaxDirectMemorySize=256m"];
const opened = [
  "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
  "--add-opens=java.base/java.nio=ALL-UNNAMED",
  "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
  "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
];

/**
 * A RocketMQ 5 of our own: a name server, and the broker with its gRPC proxy in one process, with
 * synchronous flush and nothing made by itself.
 */
export class PrivateRocketmq {
  readonly #plan: Plan;
  readonly #names: PrivateServer;
  #broker: PrivateServer;

  private constructor(plan: Plan, names: PrivateServer, broker: PrivateServer) {
    this.#plan = plan;
    this.#names = names;
    this.#broker = broker;
  }

  static async start(options: RocketmqOptions = {}): Promise<PrivateRocketmq> {
    const java = await findProgram("java", "openjdk-17-jre-headless");
    const jars = await rocketmqJars();
    const folder = await temporaryFolder("rocketmq");
    const ports = await freePorts();
    await writeSettings(folder, ports, options);
    const plan = { java, jars, folder, ports };
    const names = await startNames(plan);
    try {
      return new PrivateRocketmq(plan, names, await startBroker(plan));
    } catch (error) {
      await names.stop();
      throw error;
    }
  }

  /** Of the gRPC proxy, and of the broker, where topics and groups may be made. */
  get url(): string {
    return `rocketmq://127.0.0.1:${this.port}?broker=127.0.0.1:${this.brokerPort}`;
  }

  get port(): number {
    return this.#plan.ports.proxy;
  }

  get brokerPort(): number {
    return this.#plan.ports.broker;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    return this.#broker.kill(signal);
  }

  /** Broker and proxy are gone at once; their files stay. */
  crash(): Promise<void> {
    return this.#broker.kill("SIGKILL");
  }

  /** On the data that the last life left behind. */
  async restart(): Promise<void> {
    await this.crash();
    this.#broker = await startBroker(this.#plan);
  }

  /** At once: nobody needs what it holds. The folder is that of both. */
  async stop(): Promise<void> {
    await this.crash();
    await this.#names.kill("SIGKILL");
    await this.#names.stop();
  }
}

type Plan = {
  readonly java: string;
  readonly jars: string;
  readonly folder: string;
  readonly ports: Ports;
};

function startNames(plan: Plan): Promise<PrivateServer> {
  return launch(plan, {
    name: "rocketmq-namesrv",
    heap: namesHeap,
    main: ["org.apache.rocketmq.namesrv.NamesrvStartup", "-c", "conf/namesrv.properties"],
    port: plan.ports.names,
  });
}

async function startBroker(plan: Plan): Promise<PrivateServer> {
  const settings = ["-bc", "conf/broker.conf", "-pc", "conf/rmq-proxy.json"];
  const names = ["-n", `127.0.0.1:${plan.ports.names}`, "-pm", "local"];
  return launch(plan, {
    name: "rocketmq-broker",
    heap: [...brokerHeap, ...opened],
    main: ["org.apache.rocketmq.proxy.ProxyStartup", ...names, ...settings],
    port: plan.ports.proxy,
  });
}

function launch(
  { java, jars, folder }: Plan,
  made: { name: string; heap: readonly string[]; main: readonly string[]; port: number },
): Promise<PrivateServer> {
  const classes = ["-cp", `${join(folder, "conf")}:${join(jars, "*")}`];
  return startServer({
    name: made.name,
    command: java,
    args: [`-Duser.home=${folder}`, ...quick, ...made.heap, ...classes, ...made.main],
    folder,
    env: { ROCKETMQ_HOME: folder },
    ready: () => listens(made.port),
    readyWithinMs,
  });
}

async function writeSettings(
  folder: string,
  ports: Ports,
  { broker = {}, proxy = {} }: RocketmqOptions,
): Promise<void> {
  const conf = join(folder, "conf");
  await mkdir(conf);
  await writeFile(
    join(conf, "namesrv.properties"),
    properties({ listenPort: String(ports.names), bindAddress: "127.0.0.1" }),
  );
  const listens = { listenPort: `${ports.broker}`, haListenPort: `${ports.replicas}` };
  const place = { brokerIP1: "127.0.0.1", bindAddress: "127.0.0.1", ...listens };
  const named = { brokerClusterName: cluster, brokerName: "broker-a", brokerId: "0" };
  const safe = { brokerRole: "SYNC_MASTER", flushDiskType: "SYNC_FLUSH" };
  const strict = { autoCreateTopicEnable: "false", autoCreateSubscriptionGroup: "false" };
  const small = { mappedFileSizeCommitLog: "67108864", mappedFileSizeConsumeQueue: "600000" };
  const store = { storePathRootDir: join(folder, "store") };
  const all = { ...named, ...place, ...safe, ...strict, ...small, ...store, ...broker };
  await writeFile(join(conf, "broker.conf"), properties(all));
  const listening = { grpcServerPort: ports.proxy, remotingListenPort: ports.remoting };
  const names = { rocketMQClusterName: cluster, namesrvAddr: `127.0.0.1:${ports.names}` };
  await writeFile(
    join(conf, "rmq-proxy.json"),
    JSON.stringify({ ...names, ...listening, ...proxy }),
  );
}

function properties(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/** The broker listens two below its port, too. */
async function freePorts(): Promise<Ports> {
  let broker = await freePort();
  while (!(await isFree(broker - 2))) broker = await freePort();
  const [names, proxy, replicas] = [await freePort(), await freePort(), await freePort()];
  return { names, broker, replicas, proxy, remoting: await freePort() };
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const done = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}
