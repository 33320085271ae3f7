import type { FastifyInstance } from "fastify";
import { sendProblem } from "./answers.ts";

/** A path that is known under other methods is 405 with `Allow`; any other is 404. */
export function answerUnknownPaths(app: FastifyInstance): void {
  const known: { pattern: RegExp; method: string }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    const pattern = patternOf(url);
    for (const each of [method].flat()) known.push({ pattern, method: each });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0) {
      return sendProblem(request, reply, { code: "NOT_FOUND", detail: "there is no such path" });
    }
    const allow = [...new Set(methods)].sort().join(", ");
    reply.header("allow", allow);
    const detail = `expected ${allow}`;
    return sendProblem(request, reply, { code: "METHOD_NOT_ALLOWED", detail });
  });
}

/** The router's own notation: `:name` is one part of a path, `::` a colon, `*` the rest. */
function patternOf(url: string): RegExp {
  const parts = url.split(/(::|:\w+|\*)/).map((part) => {
    if (part === "::") return ":";
    if (part === "*") return ".*";
    return part.startsWith(":") ? "[^/]+" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`);
}
