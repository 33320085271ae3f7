import type { FastifyInstance } from "fastify";
import type { Finding } from "../../doctor/check.ts";
import { examineServer } from "../../doctor/examine.ts";
import { inWords } from "../../doctor/words.ts";
import { DoctorBody } from "../contract.ts";
import { languageOf } from "../language.ts";
import { NoQuery } from "../queries.ts";
import type { RouteDeps } from "../route.ts";

/** Everything that is looked at, in the reader's language. However many ask, one looks. */
export function doctorRoute(app: FastifyInstance, deps: RouteDeps): void {
  const look = oneAtATime(() => {
    const { engine, stores, clock } = deps;
    return examineServer(engine.oversight, stores === undefined ? null : { urls: stores, clock });
  });
  app.get(
    "/v1/doctor",
    {
      schema: {
        operationId: "doctor",
        summary: "What is well, what is not, why, and what to do about it",
        tags: ["proof"],
        querystring: NoQuery,
        response: { 200: DoctorBody },
      },
    },
    async (request) => {
      const language = languageOf(request.headers["accept-language"]);
      const checks = (await look()).map((finding) => inWords(finding, language));
      return { ok: checks.every(({ state }) => state !== "fail"), checks };
    },
  );
}

function oneAtATime(work: () => Promise<readonly Finding[]>): () => Promise<readonly Finding[]> {
  let running: Promise<readonly Finding[]> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
