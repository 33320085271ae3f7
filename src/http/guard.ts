import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Access, type Caller, type Doors, gatekeeper, type Who } from "./access.ts";
import { sendProblem } from "./answers.ts";
import type { Metrics } from "./metrics.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { lackOfRole, type RefusedActs } from "./refused-acts.ts";
import { securityHeaders } from "./security-headers.ts";
import { networkOf } from "./sign-in.ts";

export type GuardDeps = Doors & {
  readonly metrics: Metrics;
  readonly refusedActs: RefusedActs;
  /** Null: no limit. */
  readonly rateLimiter: RateLimiter | null;
};

type Done = (error?: Error) => void;

/** Of a call that is open to everybody. */
const anybody: Who = { actor: "", role: "viewer", via: "local", session: null };

/** First of all hooks: the headers of every answer, then who asks, and what they may. */
export function guard(app: FastifyInstance, deps: GuardDeps): void {
  const judge = gatekeeper(deps);
  app.decorateRequest("actor", "");
  app.decorateRequest("who");
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(securityHeaders).header("x-request-id", request.id);
    request.who = anybody;
    if (isOpen(request)) return done();
    const access = judge(callerOf(request));
    if (!(access instanceof Promise)) return admit(request, reply, { access, deps, done });
    access.then((found) => admit(request, reply, { access: found, deps, done }), done);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    deps.metrics.requestAnswered({ route, method: request.method, status: reply.statusCode });
    done();
  });
}

export function callerOf(request: FastifyRequest): Caller {
  return {
    address: request.ip,
    peer: request.socket.remoteAddress,
    method: request.method,
    host: request.host,
    headers: request.headers,
  };
}

/** Probes, and the documentation, which holds nothing of the server's own. */
function isOpen({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.open === true || routeOptions.url?.startsWith("/docs") === true;
}

/** Under its name where it has one; else under the network that it comes from. */
function callerName(request: FastifyRequest, who: Who | null): string {
  const isNamed = who !== null && who.via !== "local";
  return isNamed ? `${who.via}:${who.actor}` : `address:${networkOf(request.ip)}`;
}

type Admission = { readonly access: Access; readonly deps: GuardDeps; readonly done: Done };

function admit(request: FastifyRequest, reply: FastifyReply, admission: Admission): void {
  const { access, deps, done } = admission;
  const { who } = access;
  const limit = deps.rateLimiter?.take(callerName(request, who)) ?? null;
  if (limit !== null) {
    reply.headers(limit.headers);
    if (limit.problem !== null) return void sendProblem(request, reply, limit.problem);
  }
  const needed = request.routeOptions.config.role;
  const lack = who === null || needed === undefined ? null : lackOfRole(who.role, needed);
  const problem = access.problem ?? lack;
  if (problem === null) {
    request.who = who ?? anybody;
    request.actor = request.who.actor;
    done();
    return;
  }
  // Who is unknown only knocks; what somebody is refused is worth a line.
  const isNoted = who !== null || request.headers.authorization !== undefined;
  const noted = isNoted
    ? deps.refusedActs.note(request, who?.actor ?? null, problem.detail)
    : Promise.resolve();
  noted.then(() => sendProblem(request, reply, problem), done);
}
