import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifySchema } from "fastify";
import {
  EntryBody,
  EntryPage,
  LevelBody,
  LevelPage,
  ProblemBody,
  type ProblemCode,
  ReservationBody,
  SaleBody,
  SalePage,
  StockChangedBody,
} from "./contract.ts";
import { sessionCookie } from "./cookies.ts";
import { messages } from "./language.ts";
import { problemType, problemUrl, statuses } from "./problem.ts";
import { problemsPage } from "./problems-page.ts";
import type { SchemaName } from "./route.ts";
import { pageSecurityPolicy } from "./security-headers.ts";

const schemas: Readonly<Record<SchemaName, object>> = {
  Reservation: ReservationBody,
  Sale: SaleBody,
  SalePage,
  Level: LevelBody,
  LevelPage,
  Entry: EntryBody,
  EntryPage,
  StockChanged: StockChangedBody,
  Problem: ProblemBody,
};

/** Before the routes: it listens for them. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  for (const [name, schema] of Object.entries(schemas)) app.addSchema({ ...schema, $id: name });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Holdfast",
        version,
        description: "A flash-sale inventory engine: sells every unit once, and can prove it.",
      },
      components: {
        securitySchemes: {
          apiKey: { type: "http", scheme: "bearer" },
          session: { type: "apiKey", in: "cookie", name: sessionCookie },
        },
      },
      security: [{ apiKey: [] }, { session: [] }, {}],
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) =>
        typeof json["$id"] === "string" ? json["$id"] : `schema-${index}`,
    },
    transform: ({ schema, url, route }) => ({
      schema: withProblems(schema, route.config?.problems ?? [], route.config?.open === true),
      url,
    }),
  });
}

/** The document, and pages to read it: every asset is ours. */
export async function serveDocs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: false,
    theme: { title: "Holdfast API" },
    uiConfig: { url: "/openapi.json", validatorUrl: null },
    uiHooks: {
      onRequest: (_request, reply, done) => {
        reply.header("content-security-policy", pageSecurityPolicy);
        done();
      },
    },
  });
  const hidden = { schema: { hide: true }, config: { open: true } };
  let document: string | null = null;
  app.get("/openapi.json", hidden, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type("application/json; charset=utf-8").send(document);
  });
  app.get("/docs/problems", hidden, async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", pageSecurityPolicy)
      .send(problemsPage()),
  );
}

const everywhere: readonly ProblemCode[] = ["INVALID", "BUSY", "INTERNAL"];
const guarded: readonly ProblemCode[] = ["UNAUTHORIZED", "FORBIDDEN", "TOO_MANY"];
const withBody: readonly ProblemCode[] = ["TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];

/** Refusals stand in the document only: they are not compiled into serializers. */
function withProblems(
  schema: FastifySchema,
  own: readonly ProblemCode[],
  isOpen: boolean,
): FastifySchema {
  if (schema?.hide === true || isOpen) return schema;
  const bodyCodes = schema.body === undefined ? [] : withBody;
  const codes = new Set([...own, ...everywhere, ...guarded, ...bodyCodes]);
  const responses: Record<string, unknown> = {};
  if (typeof schema.response === "object") Object.assign(responses, schema.response);
  for (const status of new Set([...codes].map((code) => statuses[code]))) {
    responses[status] = problemResponse([...codes].filter((code) => statuses[code] === status));
  }
  return { ...schema, response: responses };
}

function problemResponse(codes: readonly ProblemCode[]): object {
  const examples = codes.map((code) => [code, { value: exampleOf(code) }] as const);
  return {
    description: codes.map((code) => `\`${code}\` ${messages.en.titles[code]}`).join(" · "),
    content: {
      [problemType]: { schema: { $ref: "Problem#" }, examples: Object.fromEntries(examples) },
    },
  };
}

function exampleOf(code: ProblemCode): object {
  return {
    type: problemUrl(code),
    code,
    status: statuses[code],
    title: messages.en.titles[code],
    detail: messages.en.advice[code],
    instance: "1f0c-2a",
    retryable: statuses[code] === 503,
  };
}
