import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { systemClock, systemRandom } from "../clock.ts";
import { type Config, isDefault, refuseUnsafe } from "../config.ts";
import type { LogLevel } from "../config-values.ts";
import type { Events } from "../events.ts";
import type { Demo } from "../http/demo.ts";
import { type Metrics, prometheusMetrics } from "../http/metrics.ts";
import type { Phase } from "../http/route.ts";
import { buildServer } from "../http/server.ts";
import { type LoggedEvents, type Logger, loggedEvents, makeLogger } from "../logger.ts";
import { type Holdfast, openHoldfast } from "../wire.ts";
import type { Context } from "./context.ts";
import type { FleetMember } from "./fleet-member.ts";
import { freePort, isTaken, type PortWish, portTaken } from "./free-port.ts";
import { claimLedger } from "./ledger-claim.ts";
import { openSignIn } from "./open-sign-in.ts";
import { refuseSettings } from "./refuse-settings.ts";
import type { Text } from "./text.ts";
import { version } from "./version.ts";

export type ServerOptions = {
  readonly config: Config;
  readonly purpose: "serve" | "dev";
  /** Where the port is taken: the next free one, instead of a refusal. */
  readonly mayMove: boolean;
  /** One of several behind one port. */
  readonly member?: FleetMember | null;
  /** Rushes from the page: in `dev` alone. */
  readonly demo?: Demo;
};

export type RunningServer = {
  readonly url: string;
  readonly port: number;
  readonly holdfast: Holdfast;
  /** In order: not ready, no new connections, nothing in flight, closed. */
  stop(): Promise<void>;
};

const drainMs = 10_000;
/** Built beside this code by `vite`: seen from `dist/src/cli`. */
const consoleFolder = fileURLToPath(new URL("../../console", import.meta.url));

/** One process with everything in it, listening and open for buyers when this resolves. */
export async function runServer(context: Context, options: ServerOptions): Promise<RunningServer> {
  const { config, purpose, member = null } = options;
  // One of several: whoever keeps them has looked at this already.
  const isFirst = member === null;
  if (isFirst) refuseUnsafe(config, purpose);
  if (isFirst && purpose === "serve") await refuseSettings(config, systemClock, context.text);
  const log = await makeLogger({ level: config.logLevel, isPretty: context.isWatched });
  const wish = { ...config, mayMove: options.mayMove };
  const port = isFirst ? await freePort(wish, context.text) : config.port;
  const claim = await claimLedger(config.ledger, context.text);
  const server = new ServerProcess(config, log, claim.release);
  try {
    return await server.start({ ...options, config: { ...config, port } }, context);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

class ServerProcess {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #releaseClaim: () => Promise<void>;
  #phase: Phase = "starting";
  #holdfast: Holdfast | null = null;
  #app: FastifyInstance | null = null;
  #stopped: Promise<void> | null = null;

  constructor(config: Config, log: Logger, releaseClaim: () => Promise<void>) {
    this.#config = config;
    this.#log = log;
    this.#releaseClaim = releaseClaim;
  }

  async start(options: ServerOptions, context: Context): Promise<RunningServer> {
    const { apiKeys, host, basePath } = this.#config;
    const firstUser = (name: string, password: string): void => {
      context.note(context.text("serve.firstUser", { name, password }));
      context.note(context.text("serve.firstUser.next"));
    };
    const clock = systemClock;
    const metrics = prometheusMetrics({ clock, version: version(), processMetrics: true });
    const holdfast = await this.#open(metrics);
    const { ledger } = holdfast;
    const signIn = await openSignIn(this.#config, { ledger, purpose: options.purpose, firstUser });
    const app = await buildServer({
      engine: holdfast.engine,
      clock,
      random: systemRandom,
      metrics: options.member?.share(metrics) ?? metrics,
      apiKeys: new Map(apiKeys.map(({ name, secret }) => [name, secret])),
      phase: () => this.#phase,
      version: version(),
      servesApi: this.#config.roles.includes("api"),
      stores: { ...this.#config, lanes: holdfast.lanePlace },
      signIn,
      ...(options.demo === undefined ? {} : { demo: options.demo }),
      audit: (record) => ledger.audit(record),
      trustedProxies: this.#config.trustedProxies,
      rateLimit: this.#config.rateLimit,
      traceUrl: this.#config.traceUrl,
      console: { folder: consoleFolder, basePath },
      log: (error, request) => this.#log.error({ err: error, ...request }, "request failed"),
    });
    this.#app = app;
    const port = await listen(app, { ...options.config, mayMove: options.mayMove }, context.text);
    await holdfast.start();
    this.#phase = "ready";
    return { url: `http://${reachable(host)}:${port}`, port, holdfast, stop: () => this.stop() };
  }

  async #open(metrics: Metrics): Promise<Holdfast> {
    const { messageKeys, hot, bus, roles, events: eventsOut } = this.#config;
    const events = both(metrics, loggedEvents(this.#log));
    const holdfast = await openHoldfast({
      ledgerUrl: ledgerUrlOf(this.#config),
      ...(hot.kind === "memory" ? {} : { hotUrl: hot.url }),
      ...(bus.kind === "memory" ? {} : { busUrl: bus.url }),
      ...(messageKeys.length === 0 ? {} : { messageKeys }),
      events,
      eventsOut,
      roles,
    });
    this.#holdfast = holdfast;
    metrics.observe(holdfast.engine.oversight);
    return holdfast;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const wasReady = this.#phase === "ready";
    this.#phase = "stopping";
    // A balancer goes on sending for a while after it has seen that we are not ready.
    if (wasReady) await systemClock.sleep(this.#config.shutdownDelaySeconds * 1000);
    await this.#app?.close();
    if (wasReady && (await this.#holdfast?.drain(drainMs)) === false) {
      this.#log.warn("stopped with tickets in flight; the next start finds them");
    }
    await this.#holdfast?.[Symbol.asyncDispose]();
    await this.#releaseClaim();
  }
}

/** A command with a story to tell logs only what went wrong, unless more is asked for. */
export function storyLogLevel({ loaded }: Context): LogLevel {
  return isDefault(loaded, "logLevel") ? "warn" : loaded.config.logLevel;
}

export function ledgerUrlOf({ ledger }: Pick<Config, "ledger">): string {
  return ledger.kind === "sqlite" ? `sqlite:${ledger.file}` : ledger.url;
}

/** As it may be shown: without its password. */
export function ledgerNameOf(config: Config): string {
  return ledgerUrlOf(config).replace(/(\/\/[^:@/]*):[^@]*@/, "$1:***@");
}

/** Who listens everywhere is reached on this machine by its loopback address. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** Between the probe and now somebody else may have come: then the next one, if it may be. */
async function listen(app: FastifyInstance, wish: PortWish, text: Text): Promise<number> {
  const { host, port, mayMove } = wish;
  try {
    await app.listen({ host, port });
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (!mayMove) throw portTaken(wish, text);
    const next = await freePort({ ...wish, port: port + 1 }, text);
    return listen(app, { ...wish, port: next }, text);
  }
  const [address] = app.addresses();
  return typeof address === "object" ? address.port : port;
}

/** Counters first, then the log: what an operator looks at goes to both. */
function both(metrics: Metrics, logged: LoggedEvents): Events {
  return {
    ...metrics,
    laneClosed: (lane, why) => {
      metrics.laneClosed(lane, why);
      logged.laneClosed(lane, why);
    },
    rebuilt: (lane, facts) => {
      metrics.rebuilt(lane, facts);
      logged.rebuilt(lane, facts);
    },
    resent: (lane, ids) => {
      metrics.resent(lane, ids);
      logged.resent(lane, ids);
    },
    deadLettered: (lane, reason) => {
      metrics.deadLettered(lane, reason);
      logged.deadLettered(lane, reason);
    },
    skuStopped: (sku, reason) => {
      metrics.skuStopped(sku, reason);
      logged.skuStopped(sku, reason);
    },
    unknownOutcome: (where) => {
      metrics.unknownOutcome(where);
      logged.unknownOutcome(where);
    },
    workerFailed: (worker, error) => {
      metrics.workerFailed(worker, error);
      logged.workerFailed(worker, error);
    },
    alarm: (what, detail) => {
      metrics.alarm(what, detail);
      logged.alarm(what, detail);
    },
  };
}
