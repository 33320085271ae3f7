import type { Dispatcher } from "undici";
import { Pool } from "undici";
import type { AnswerKind } from "./history.ts";

/** What the server said to one call, before a buyer makes something of it. */
export type Told = {
  readonly kind: AnswerKind;
  readonly what: string;
  readonly id: string | null;
  /** How long the server asks to wait before the next try. */
  readonly retryMs: number;
};

export type Order = {
  readonly saleId: string;
  readonly buyerId: string;
  readonly sku: string;
  readonly quantity: number;
};

export type Shop = {
  reserve(key: string, order: Order): Promise<Told>;
  look(id: string): Promise<Told>;
  pay(id: string, paymentId: string): Promise<Told>;
  cancel(id: string): Promise<Told>;
  close(): Promise<void>;
};

export type ShopOptions = {
  readonly url: string;
  readonly apiKey: string | null;
  readonly connections: number;
  readonly waitSeconds: number;
};

const retryMsMax = 5_000;

/** The buyers' door: HTTP/1.1 over a bounded number of connections. */
export function openShop({ url, apiKey, connections, waitSeconds }: ShopOptions): Shop {
  const timeoutMs = (waitSeconds + 30) * 1000;
  const pool = new Pool(new URL(url).origin, {
    connections,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const common = {
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    prefer: `wait=${waitSeconds}`,
  };
  const call = (method: "GET" | "POST", path: string, more: Call): Promise<Told> =>
    tell(pool, {
      method,
      path,
      headers: { ...common, ...more.headers },
      body: more.body === undefined ? null : JSON.stringify(more.body),
    });
  const json = { "content-type": "application/json" };
  const at = (id: string): string => `/v1/reservations/${encodeURIComponent(id)}`;
  return {
    reserve: (key, { saleId, buyerId, sku, quantity }) =>
      call("POST", "/v1/reservations", {
        headers: { ...json, "idempotency-key": key },
        body: { saleId, buyerId, items: [{ sku, quantity }] },
      }),
    look: (id) => call("GET", `${at(id)}?wait=${waitSeconds}`, {}),
    pay: (id, paymentId) =>
      call("POST", `${at(id)}/confirm`, { headers: json, body: { paymentId } }),
    cancel: (id) => call("POST", `${at(id)}/cancel`, { headers: json, body: {} }),
    close: () => pool.destroy(),
  };
}

type Call = { readonly headers?: Record<string, string>; readonly body?: unknown };
type Request = Dispatcher.RequestOptions;

async function tell(pool: Pool, request: Request): Promise<Told> {
  try {
    const { statusCode, headers, body } = await pool.request(request);
    const text = await body.text();
    return readAnswer(statusCode, text, headers["retry-after"]);
  } catch (error) {
    // Sent or not, done or not: nobody knows. The same key will find out.
    return { kind: "unknown", what: reasonOf(error), id: null, retryMs: 100 };
  }
}

/** Exported for its test: what each status and body means to a buyer. */
export function readAnswer(status: number, text: string, retryAfter: unknown): Told {
  const body = parse(text);
  const retryMs = Math.min(Number(retryAfter ?? 0) * 1000 || 100, retryMsMax);
  const plain = (kind: AnswerKind, what: string, id: string | null): Told => ({
    kind,
    what,
    id,
    retryMs,
  });
  if (status < 300) return readState(body, plain);
  const code = stringOf(body, "code") ?? `HTTP ${status}`;
  if (status === 429 || status === 503) return plain("later", code, null);
  if (status >= 500 || status === 408) return plain("unknown", code, null);
  return plain("refused", code, stringOf(objectOf(body, "reservation"), "reservationId"));
}

type Make = (kind: AnswerKind, what: string, id: string | null) => Told;

function readState(body: unknown, plain: Make): Told {
  const id = stringOf(body, "reservationId");
  const state = stringOf(body, "state") ?? "unreadable";
  switch (state) {
    case "reserved":
    case "confirmed":
      return plain("held", state, id);
    case "cancelled":
    case "expired":
    case "refunded":
      return plain("over", state, id);
    case "pending":
      return plain("pending", state, id);
    case "rejected":
    case "void":
      return plain("refused", stringOf(body, "code") ?? state.toUpperCase(), id);
    default:
      return plain("unknown", state, id);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function objectOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function stringOf(value: unknown, name: string): string | null {
  const found = objectOf(value, name);
  return typeof found === "string" ? found : null;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? ("code" in error && String(error.code)) || error.message : "?";
}
