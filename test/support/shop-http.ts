import { onTestFinished } from "vitest";
import { realServer } from "./real-server.ts";
import type { Shop } from "./shop.ts";

export type Asked = {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is. */
  readonly body?: unknown;
};

export type Answered = {
  readonly status: number;
  /** The code of a problem. */
  readonly code: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
};

export type Ask = (path: string, asked?: Asked) => Promise<Answered>;

/** The real server over the shop's first process: the one that listens, or one of its own. */
export async function httpOf(shop: Shop): Promise<Ask> {
  const { url } = shop.first;
  if (url !== null) return (path, asked = {}) => shop.time.drive(overNetwork(url + path, asked));
  const { clock } = shop.time;
  const app = await realServer({
    engine: shop.first.engine,
    clock,
    log: (error) => shop.noted.push(`http ${String(error)}`),
  });
  onTestFinished(() => app.close());
  return async (path, asked = {}) => {
    const { payload, ...plain } = plainly(asked);
    const sent = payload === undefined ? {} : { payload };
    const response = await shop.time.drive(app.inject({ ...plain, url: path, ...sent }));
    return answered(response.statusCode, response.body, response.headers);
  };
}

async function overNetwork(url: string, asked: Asked): Promise<Answered> {
  const { payload, ...plain } = plainly(asked);
  const response = await fetch(url, {
    ...plain,
    ...(payload === undefined ? {} : { body: payload }),
  });
  const headers = Object.fromEntries(response.headers);
  return answered(response.status, await response.text(), headers);
}

function plainly({ method, key, headers, body }: Asked) {
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return {
    method: method ?? (body === undefined ? ("GET" as const) : ("POST" as const)),
    headers: {
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
      ...headers,
    },
    payload,
  };
}

function answered(status: number, text: string, headers: Answered["headers"]): Answered {
  const body = parsed(text);
  const code = typeof body["code"] === "string" ? body["code"] : null;
  return { status, code, body, headers };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = text === "" ? {} : JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}
