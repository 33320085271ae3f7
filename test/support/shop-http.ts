import { onTestFinished } from "vitest";
import { systemRandom } from "../../src/clock.ts";
import { prometheusMetrics } from "../../src/http/metrics.ts";
import { buildServer } from "../../src/http/server.ts";
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

/** The real server over the shop's first process. */
export async function httpOf(shop: Shop): Promise<Ask> {
  const { clock } = shop.time;
  const app = await buildServer({
    engine: shop.first.engine,
    clock,
    random: systemRandom,
    metrics: prometheusMetrics({ clock, version: "test", processMetrics: false }),
    apiKeys: new Map(),
    phase: () => "ready",
    version: "test",
    log: (error) => shop.noted.push(`http ${String(error)}`),
  });
  onTestFinished(() => app.close());
  return async (path, { method, key, headers, body } = {}) => {
    const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const response = await shop.time.drive(
      app.inject({
        method: method ?? (body === undefined ? "GET" : "POST"),
        url: path,
        headers: {
          ...(payload === undefined ? {} : { "content-type": "application/json" }),
          ...(key === undefined ? {} : { "idempotency-key": key }),
          ...headers,
        },
        ...(payload === undefined ? {} : { payload }),
      }),
    );
    const told = parsed(response.body);
    const code = typeof told["code"] === "string" ? told["code"] : null;
    return { status: response.statusCode, code, body: told, headers: response.headers };
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = text === "" ? {} : JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}
