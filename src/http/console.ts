import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Random } from "../clock.ts";
import { sendProblem } from "./answers.ts";
import { consolePolicy } from "./security-headers.ts";

/** Where the built console lies, and the path in front of ours, such as `/ops`, or nothing. */
export type ConsolePlace = { readonly folder: string; readonly basePath: string };

/**
 * The operators' console. Its pages are routes of their own, so that a path which is neither a
 * page nor a call is 404 as ever. A name holds its content's hash: it may be kept for ever; the
 * page that names them all never is. What is served was read at the start: no path reaches a file.
 */
export function consoleRoutes(
  app: FastifyInstance,
  { folder, basePath, random }: ConsolePlace & { readonly random: Random },
): void {
  const index = indexPage(folder, basePath);
  if (index === null) return;
  const page = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const nonce = random.bytes(16).toString("base64");
    return reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", consolePolicy(nonce))
      .send(index.replace("%NONCE%", nonce));
  };
  for (const path of consolePages) app.get(path, openAndHidden, page);
  serveAssets(app, folder);
}

/** The first parts of the console's own addresses; `console/src/routes.tsx` has the same. */
export const consolePages = [
  "/",
  "/sign-in",
  ...["/sales", "/sales/*", "/search", "/reservations/*", "/stock", "/stock/*"],
  ...["/reconciliation", "/dead-letters", "/dead-letters/*", "/doctor", "/audit"],
] as const;

const openAndHidden = { schema: { hide: true }, config: { open: true } } as const;

function indexPage(folder: string, basePath: string): string | null {
  const file = join(folder, "index.html");
  if (!existsSync(file)) return null;
  const text = readFileSync(file, "utf8");
  // Built with relative addresses, which would lead astray below the first level.
  return text.replaceAll('="./', `="${basePath}/`).replace("%BASE%", basePath);
}

type Asset = {
  readonly type: string;
  readonly bodies: Readonly<Record<"br" | "gzip" | "identity", Buffer | undefined>>;
};

function serveAssets(app: FastifyInstance, folder: string): void {
  const assets = readAssets(join(folder, "assets"));
  app.get<{ Params: { "*": string } }>("/assets/*", openAndHidden, async (request, reply) => {
    const asset = assets.get(request.params["*"]);
    if (asset === undefined) {
      return sendProblem(request, reply, { code: "NOT_FOUND", detail: "there is no such path" });
    }
    const encoding = encodingOf(request.headers["accept-encoding"], asset);
    reply
      .type(asset.type)
      .header("cache-control", "public, max-age=31536000, immutable")
      .header("vary", "accept-encoding");
    if (encoding !== "identity") reply.header("content-encoding", encoding);
    return reply.send(asset.bodies[encoding]);
  });
}

function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  if (!existsSync(folder)) return assets;
  for (const found of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(found.name)];
    if (!found.isFile() || type === undefined) continue;
    const file = join(found.parentPath, found.name);
    const name = relative(folder, file).replaceAll("\\", "/");
    const read = (path: string) => (existsSync(path) ? readFileSync(path) : undefined);
    const bodies = { identity: read(file), br: read(`${file}.br`), gzip: read(`${file}.gz`) };
    assets.set(name, { type, bodies });
  }
  return assets;
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

function encodingOf(accepted: string | undefined, { bodies }: Asset): keyof Asset["bodies"] {
  const names = (accepted ?? "").split(",").map((range) => range.split(";", 1)[0]?.trim());
  if (names.includes("br") && bodies.br !== undefined) return "br";
  return names.includes("gzip") && bodies.gzip !== undefined ? "gzip" : "identity";
}
