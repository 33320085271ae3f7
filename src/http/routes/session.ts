import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { foreignPage, type Who } from "../access.ts";
import { sendProblem } from "../answers.ts";
import { SessionBody, SignInRequest, SignOutQuery } from "../console-contract.ts";
import { sessionTokenOf, setSessionCookie } from "../cookies.ts";
import { callerOf } from "../guard.ts";
import { isFlagSet, isoTime } from "../input.ts";
import type { Problem } from "../problem.ts";
import { NoQuery } from "../queries.ts";
import type { RouteDeps } from "../route.ts";
import { csrfTokenOf, idleMs, lifeMs, type Opened, type SignIn } from "../sign-in.ts";

const tags = ["session"];
const path = "/v1/session";

/** Signing in to the console and out of it. */
export function sessionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  signInRoute(app, deps);
  readRoute(app, deps);
  signOutRoute(app, deps);
}

function signInRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.post<{ Body: Static<typeof SignInRequest> }>(
    path,
    {
      schema: {
        operationId: "signIn",
        summary: "Sign in to the console: sets the session's cookie",
        tags,
        querystring: NoQuery,
        body: SignInRequest,
        response: { 200: SessionBody },
      },
      config: { open: true, problems: ["UNAUTHORIZED", "FORBIDDEN", "TOO_MANY"] },
    },
    async (request, reply) => {
      const { signIn } = deps;
      // No page of another site signs anybody in as somebody else.
      const foreign = foreignPage(callerOf(request));
      if (foreign !== null) return sendProblem(request, reply, foreign);
      if (signIn === null) return sendProblem(request, reply, nobodySignsIn);
      const opened = await signIn.open({ ...request.body, address: request.ip });
      if ("refused" in opened) return sendProblem(request, reply, problemOf(opened));
      await endFormer(request, deps, signIn);
      const { token, signedIn } = opened;
      setCookie(request, reply, token);
      const { name: actor, role } = signedIn;
      const session = { ...signedIn, token };
      return sessionBody({ actor, role, via: "password", session }, deps);
    },
  );
}

const nobodySignsIn: Problem = { code: "NOT_FOUND", detail: "nobody signs in to this server" };

function problemOf(opened: Extract<Opened, { refused: string }>): Problem {
  switch (opened.refused) {
    case "wrong":
      return { code: "UNAUTHORIZED", detail: "the name or the password is wrong" };
    case "busy":
      return { code: "BUSY", detail: "too many are signing in at this moment" };
    case "locked": {
      const retryAfterSeconds = Math.ceil(opened.lockedMs / 1_000);
      const detail = `too many failed attempts: wait ${retryAfterSeconds} s`;
      return { code: "TOO_MANY", detail, retryAfterSeconds };
    }
  }
}

/** A new session is never the old one under another name. */
async function endFormer(
  request: FastifyRequest,
  { streams }: RouteDeps,
  signIn: SignIn,
): Promise<void> {
  const token = sessionTokenOf(request.headers.cookie);
  const former = token === null ? null : await signIn.find(token);
  if (former === null) return;
  await signIn.end(former, false);
  streams.endSession(former.session);
}

function readRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.get(
    path,
    {
      schema: {
        operationId: "getSession",
        summary: "Who is signed in, what they may, and the token to send with every change",
        tags,
        querystring: NoQuery,
        response: { 200: SessionBody },
      },
    },
    async (request) => sessionBody(request.who, deps),
  );
}

function signOutRoute(app: FastifyInstance, { signIn, streams }: RouteDeps): void {
  app.delete<{ Querystring: Static<typeof SignOutQuery> }>(
    path,
    {
      schema: {
        operationId: "signOut",
        summary: "Sign out, here or `everywhere`; its event streams end",
        tags,
        querystring: SignOutQuery,
      },
    },
    async (request, reply) => {
      const { session } = request.who;
      if (session !== null && signIn !== null) {
        const isEverywhere = isFlagSet(request.query.everywhere);
        await signIn.end(session, isEverywhere);
        streams.endSession(session.session);
        setCookie(request, reply, null);
      }
      return reply.code(204).send();
    },
  );
}

function setCookie(request: FastifyRequest, reply: FastifyReply, token: string | null): void {
  const isSecure = request.protocol === "https";
  const maxAgeSeconds = token === null ? 0 : lifeMs / 1_000;
  reply.header("set-cookie", setSessionCookie(token ?? "", { isSecure, maxAgeSeconds }));
}

function sessionBody({ actor, role, via, session }: Who, { demo }: RouteDeps): SessionBody {
  const isTimed = session !== null;
  return {
    name: actor,
    role,
    via,
    csrfToken: isTimed ? csrfTokenOf(session.token) : null,
    openedAt: isTimed ? isoTime(session.openedAt) : null,
    endsAt: isTimed ? isoTime(session.endsAt) : null,
    idleSeconds: isTimed ? idleMs / 1_000 : null,
    demo: demo !== null,
  };
}
