import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { Pool } from "undici";
import { ProblemBody } from "../http/contract.ts";
import { NoAnswer, Refusal } from "./desk-errors.ts";

/** The operator's door: typed calls to a running server, each checked against the contract. */
export type Desk = {
  readonly url: string;
  get<T extends TSchema>(path: string, schema: T): Promise<Static<T>>;
  post<T extends TSchema>(path: string, body: unknown, options: PostOptions<T>): Promise<Static<T>>;
  /** A long answer, piece by piece. */
  stream(path: string): AsyncIterable<string>;
  close(): Promise<void>;
};

export type PostOptions<T extends TSchema> = {
  readonly schema: T;
  readonly headers?: Readonly<Record<string, string>>;
};

export type DeskOptions = {
  readonly url: string;
  readonly apiKey: string | null;
  /** The language of titles and details. */
  readonly language?: string;
  /** Sockets that are kept open; 16. */
  readonly connections?: number;
  /** Milliseconds that an answer may take; 60,000. */
  readonly timeoutMs?: number;
};

const timeoutMsDefault = 60_000;
const connectionsDefault = 16;

export function openDesk(options: DeskOptions): Desk {
  const { url, apiKey, language } = options;
  const { connections = connectionsDefault, timeoutMs = timeoutMsDefault } = options;
  const limits = { connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const pool = new Pool(new URL(url).origin, limits);
  const base = new URL(url).pathname.replace(/\/$/, "");
  const common = {
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(language === undefined ? {} : { "accept-language": language }),
  };
  const call = async (method: "GET" | "POST", path: string, more: More): Promise<unknown> => {
    const headers = { ...common, ...more.headers };
    const body = more.body === undefined ? null : JSON.stringify(more.body);
    const answer = await pool
      .request({ method, path: base + path, headers, body })
      .then(async (found) => ({ status: found.statusCode, text: await found.body.text() }))
      .catch((error: unknown) => {
        throw awayOrUnknown(error, url);
      });
    return read(answer, url);
  };
  return {
    url,
    get: async (path, schema) => checked(await call("GET", path, {}), schema, url),
    post: async (path, body, { schema, headers }) => {
      const more = { body, headers: { "content-type": "application/json", ...headers } };
      return checked(await call("POST", path, more), schema, url);
    },
    stream: (path) => stream(pool, { url, path: base + path, headers: common }),
    close: () => pool.destroy(),
  };
}

type Streamed = { readonly url: string; readonly path: string; readonly headers: Headers };
type Headers = Readonly<Record<string, string>>;

async function* stream(pool: Pool, { url, path, headers }: Streamed): AsyncIterable<string> {
  try {
    const { statusCode, body } = await pool.request({ method: "GET", path, headers });
    if (statusCode >= 400) read({ status: statusCode, text: await body.text() }, url);
    body.setEncoding("utf8");
    for await (const piece of body) yield String(piece);
  } catch (error) {
    throw error instanceof Refusal || error instanceof NoAnswer ? error : awayOrUnknown(error, url);
  }
}

type More = { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

function read({ status, text }: { status: number; text: string }, url: string): unknown {
  const body = parse(text);
  if (status < 400 && body !== undefined) return body;
  if (Value.Check(ProblemBody, body)) throw new Refusal(body);
  throw new NoAnswer("foreign", url, `HTTP ${status}: ${text.slice(0, 120)}`);
}

function checked<T extends TSchema>(body: unknown, schema: T, url: string): Static<T> {
  if (Value.Check(schema, body)) return body;
  const [first] = Value.Errors(schema, body);
  const where = first === undefined ? "" : ` at ${first.instancePath}: ${first.message}`;
  throw new NoAnswer("foreign", url, `an answer of another form${where}`);
}

function awayOrUnknown(error: unknown, url: string): NoAnswer {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isAway = ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "EAI_AGAIN"].includes(code);
  const message = error instanceof Error ? error.message || code : String(error);
  return new NoAnswer(isAway ? "away" : "unknown", url, message, error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
