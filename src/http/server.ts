import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { Clock, Random } from "../clock.ts";
import type { StoreUrls } from "../doctor/transport.ts";
import { isId } from "../domain/values.ts";
import type { Engine } from "../engine/engine.ts";
import { sendProblem } from "./answers.ts";
import { answerConnectionError } from "./connection-errors.ts";
import { type ConsolePlace, consoleRoutes } from "./console.ts";
import type { Demo } from "./demo.ts";
import { EventStreams } from "./event-streams.ts";
import { answerFailures, EncodedBodyError, type FailureLog } from "./failures.ts";
import { guard } from "./guard.ts";
import { defaultLimits, type HttpLimits } from "./limits.ts";
import { LiveSales } from "./live-sales.ts";
import type { Metrics } from "./metrics.ts";
import { describeApi, serveDocs } from "./openapi.ts";
import { RateLimiter } from "./rate-limit.ts";
import { RefusedActs, type WriteAudit } from "./refused-acts.ts";
import { requireRoles } from "./roles.ts";
import type { Phase, RouteDeps } from "./route.ts";
import { deadLetterRoutes } from "./routes/dead-letters.ts";
import { demoRoute } from "./routes/demo.ts";
import { doctorRoute } from "./routes/doctor.ts";
import { levelRoutes } from "./routes/levels.ts";
import { probeRoutes } from "./routes/probes.ts";
import { proofRoutes } from "./routes/proof.ts";
import { reservationRoutes } from "./routes/reservations.ts";
import { reservationBatchRoute } from "./routes/reservations-batch.ts";
import { saleRoutes } from "./routes/sales.ts";
import { sessionRoutes } from "./routes/session.ts";
import { stockRoutes } from "./routes/stock.ts";
import { parseSafeJson } from "./safe-json.ts";
import { SaleTraffic } from "./sale-traffic.ts";
import type { SignIn } from "./sign-in.ts";
import { answerUnknownPaths } from "./unknown-paths.ts";

export type ServerDeps = {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  /** Name → secret. Without any, only this machine is served. */
  readonly apiKeys: ReadonlyMap<string, string>;
  readonly phase: () => Phase;
  readonly version: string;
  readonly log: FailureLog;
  /** Without it nobody signs in, and a page of this machine is served like a program. */
  readonly signIn?: SignIn;
  /** Without it nobody starts a rush from a page. */
  readonly demo?: Demo;
  /** Where refused acts are told; without it they are told nowhere. */
  readonly audit?: WriteAudit;
  /** Proxies in front whose `X-Forwarded-…` headers are believed, counted from here. */
  readonly trustedProxies?: number;
  /** Calls a second for each caller; 0 or nothing: no limit. */
  readonly rateLimit?: number;
  /** Where the operator keeps traces, `{traceId}` in it; without it nothing leads there. */
  readonly traceUrl?: string | null;
  /** For the doctor, who looks at them over connections of its own. */
  readonly stores?: StoreUrls;
  readonly limits?: Partial<HttpLimits>;
  /** False: probes and metrics alone, of a process that others ask nothing of. */
  readonly servesApi?: boolean;
  /** Without one, there are no pages, only the API. */
  readonly console?: ConsolePlace;
};

/** Builds the server; `listen` or `inject` is the caller's. */
export async function buildServer(deps: ServerDeps): Promise<FastifyInstance> {
  const limits = { ...defaultLimits, ...deps.limits };
  const signIn = deps.signIn ?? null;
  const refusedActs = new RefusedActs(deps.clock, deps.audit ?? (async () => {}));
  const app = makeApp(limits, {
    genReqId: requestIds(deps.random),
    trustProxy: deps.trustedProxies ?? 0,
    basePath: deps.console?.basePath ?? "",
  });
  const streams = new EventStreams(deps.clock, {
    streamsMax: limits.streamsMax,
    heartbeatMs: limits.streamHeartbeatMs,
    retryMs: limits.streamRetryMs,
    bufferBytesMax: limits.streamBufferBytesMax,
    perSessionMax: limits.streamsPerSessionMax,
    isStillIn: async (session) => (await signIn?.isStillIn(session)) ?? false,
  });
  // An open stream would keep the server from closing.
  app.addHook("preClose", async () => streams.close());
  const { apiKeys, metrics, clock, rateLimit = 0 } = deps;
  const rateLimiter = rateLimit === 0 ? null : new RateLimiter(clock, rateLimit);
  guard(app, { apiKeys, metrics, signIn, refusedActs, rateLimiter });
  readJson(app);
  answerFailures(app, deps.log);
  answerUnknownPaths(app);
  await describeApi(app, deps.version);
  requireRoles(app);
  const traffic = new SaleTraffic(deps.clock);
  const liveSales = new LiveSales(deps.engine, deps.clock, traffic);
  const { demo = null } = deps;
  const routes = { ...deps, streams, signIn, refusedActs, traffic, liveSales, demo };
  probeRoutes(app, routes);
  if (deps.servesApi === false) return app;
  addRoutes(app, routes);
  if (deps.console !== undefined) consoleRoutes(app, { ...deps.console, random: deps.random });
  await serveDocs(app);
  return app;
}

type Wishes = {
  readonly genReqId: (raw: Incoming) => string;
  readonly trustProxy: number;
  readonly basePath: string;
};

function makeApp(limits: HttpLimits, wishes: Wishes): FastifyInstance {
  const { genReqId, trustProxy, basePath } = wishes;
  const app = Fastify({
    logger: false,
    genReqId,
    trustProxy: trustProxy === 0 ? false : (_address, hop) => hop < trustProxy,
    rewriteUrl: ({ url = "/" }) => withoutBase(url, basePath),
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Requests of connections that are open already are answered while the server closes.
    return503OnClosing: false,
    // A path is judged by the schema, which says what is wrong with it.
    routerOptions: { maxParamLength: limits.headerBytesMax },
    ajv: {
      customOptions: {
        // "1" is not 1, and an unknown field is a mistake, not something to drop.
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: true,
      },
    },
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      insecureHTTPParser: false,
    },
    clientErrorHandler: answerConnectionError,
    frameworkErrors: (error, request, reply) => {
      const isBadUrl = error.code === "FST_ERR_BAD_URL";
      const detail = isBadUrl ? "the path is not a valid URL" : "the request is not valid";
      sendProblem(request, reply, { code: "INVALID", detail });
    },
  });
  app.server.maxConnections = limits.connectionsMax;
  return app;
}

type Incoming = FastifyRequest["raw"];

/** A proxy in front may have taken the base path off, or may have left it: both are served. */
function withoutBase(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

/** The client's own id if it is a plain one; else one of ours, unique over restarts. */
function requestIds(random: Random): (raw: Incoming) => string {
  const start = random.bytes(6).toString("hex");
  let count = 0;
  return ({ headers }) => {
    const given = headers["x-request-id"];
    return isId(given) ? given : `${start}-${(count++).toString(36)}`;
  };
}

function readJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    (request, body: Buffer, done) => {
      if (request.headers["content-encoding"] !== undefined) throw new EncodedBodyError();
      done(null, body.length === 0 ? undefined : parseSafeJson(body));
    },
  );
}

function addRoutes(app: FastifyInstance, deps: RouteDeps): void {
  reservationRoutes(app, deps);
  reservationBatchRoute(app, deps);
  saleRoutes(app, deps);
  stockRoutes(app, deps);
  levelRoutes(app, deps);
  proofRoutes(app, deps);
  doctorRoute(app, deps);
  deadLetterRoutes(app, deps);
  sessionRoutes(app, deps);
  demoRoute(app, deps);
}
