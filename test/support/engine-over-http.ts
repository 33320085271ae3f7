import { isoTime } from "../../src/clock.ts";
import { Fault, type FaultCode } from "../../src/domain/fault.ts";
import { accepted, type Outcome, refused, replayed } from "../../src/domain/outcome.ts";
import { isRejection } from "../../src/domain/rejection.ts";
import type { Instant } from "../../src/domain/values.ts";
import type {
  Buyers,
  Engine,
  LevelView,
  Merchandising,
  Oversight,
  Reconciliation,
  RefundRequest,
  ReservationView,
  StockChange,
} from "../../src/engine/engine.ts";
import type { LevelBody, ReservationBody } from "../../src/http/contract.ts";

type Answer = {
  readonly status: number;
  readonly isReplayed: boolean;
  readonly body: Readonly<Record<string, unknown>>;
};
type Asked = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };
type Ask = (path: string, asked?: Asked) => Promise<Answer>;

/**
 * The engine as its clients see it: every call is a request to a server that listens. So what is
 * written for an engine runs over HTTP as it is.
 */
export function engineOverHttp(url: string): Engine {
  const ask: Ask = async (path, { body, headers } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const told = JSON.parse(await response.text()) as Answer["body"];
    const isReplayed = response.headers.get("idempotency-replayed") === "true";
    return { status: response.status, isReplayed, body: told };
  };
  return {
    buyers: onlyThese<Buyers>({
      reserve: async ({ saleId, buyerId, idempotencyKey, lines }, { waitMs }) =>
        reservationOutcome(
          await ask("/v1/reservations", {
            headers: { "idempotency-key": idempotencyKey, prefer: `wait=${waitMs / 1_000}` },
            body: { saleId, buyerId, items: lines },
          }),
        ),
      reservation: async (id, { waitMs }) => {
        const answer = await ask(`${pathOf(id)}?wait=${waitMs / 1_000}`);
        return answer.body["code"] === "RESERVATION_NOT_FOUND" ? null : viewIn(whole(answer));
      },
    }),
    settlement: settlementOver(ask),
    merchandising: merchandisingOver(ask),
    oversight: oversightOver(ask),
  };
}

function pathOf(id: string): string {
  return `/v1/reservations/${id}`;
}

function settlementOver(ask: Ask): Engine["settlement"] {
  const settle = async (id: string, verb: string, asked: Asked) =>
    reservationOutcome(await ask(`${pathOf(id)}/${verb}`, asked));
  return {
    confirm: (id, { paymentId, paidAt }) =>
      settle(id, "confirm", {
        body: { paymentId, ...(paidAt === null ? {} : { paidAt: isoTime(paidAt) }) },
      }),
    cancel: (id, { reason, waitMs }) =>
      settle(id, "cancel", { body: { reason }, headers: { prefer: `wait=${waitMs / 1_000}` } }),
    extend: (id, extension) => settle(id, "extend", { body: extension }),
    refund: (id, request) => settle(id, "refund", { body: refundBody(request) }),
  };
}

function refundBody(request: RefundRequest): unknown {
  const { refundId } = request;
  if (request.kind === "payment") return { refundId, paymentId: request.paymentId };
  const { lines, restock } = request;
  return { refundId, restock, ...(lines === null ? {} : { items: lines }) };
}

function merchandisingOver(ask: Ask): Engine["merchandising"] {
  const verbs = { open: "open", paused: "pause", closed: "close" } as const;
  return onlyThese<Merchandising>({
    createSale: async ({ saleId, title, holdSeconds, limitPerBuyer: limit, items }) =>
      outcomeOf(
        await ask("/v1/sales", {
          body: {
            saleId,
            title,
            holdSeconds,
            items,
            ...(limit === null ? {} : { limitPerBuyer: limit }),
          },
        }),
      ),
    moveSale: async (saleId, { to }) =>
      outcomeOf(await ask(`/v1/sales/${saleId}/${verbs[to]}`, { body: {} })),
    changeStock: async (change, { reason }) => outcomeOf(await askChange(ask, change, reason)),
    stopSku: async (sku, operationId, { reason }) =>
      outcomeOf(await ask(`/v1/stock/${sku}/stop`, { body: { operationId, reason } })),
  });
}

function askChange(ask: Ask, change: StockChange, reason: string): Promise<Answer> {
  const { kind, sku, operationId } = change;
  const path = `/v1/stock/${sku}`;
  const named = { operationId, reason };
  switch (kind) {
    case "adjust":
      return ask(`${path}/adjust`, { body: { ...named, delta: change.delta } });
    case "set-total": {
      const headers = { "if-match": `"${change.ifVersion}"` };
      return ask(`${path}/adjust`, { body: { ...named, total: change.total }, headers });
    }
    case "count":
      return ask(`${path}/count`, { body: { ...named, found: change.found } });
    case "restock":
    case "withdraw":
    case "freeze":
    case "unfreeze":
      return ask(`${path}/${kind}`, { body: { ...named, quantity: change.quantity } });
  }
}

function oversightOver(ask: Ask): Oversight {
  return onlyThese<Oversight>({
    level: async (sku) => {
      const answer = await ask(`/v1/stock/${sku}`);
      return answer.body["code"] === "SKU_NOT_FOUND" ? null : levelIn(whole(answer));
    },
    levels: async () => {
      const levels: LevelView[] = [];
      for (let path: string | null = "/v1/stock?limit=200"; path !== null; ) {
        const page: Answer["body"] = whole(await ask(path));
        levels.push(...(page["items"] as LevelBody[]).map(levelIn));
        path = page["next"] as string | null;
      }
      return levels;
    },
    reconciliation: async () => whole(await ask("/v1/reconciliation")) as Reconciliation,
    repair: async ({ dryRun, sku }, { reason }) => {
      const body = { dryRun, reason, ...(sku === null ? {} : { sku }) };
      return whole(await ask("/v1/reconciliation/repair", { body })) as never;
    },
    verify: async (sku) =>
      whole(await ask("/v1/audit/verify", { body: sku === null ? {} : { sku } })) as never,
    replayDeadLetter: async (id, { reason }) =>
      whole(await ask(`/v1/dead-letters/${id}/replay`, { body: { reason } })) as never,
    search: async (text) => whole(await ask(`/v1/search?q=${encodeURIComponent(text)}`)) as never,
    health: async () => {
      const { status } = await ask("/readyz");
      return { ready: status === 200, parts: [] };
    },
  });
}

/** A value or a refusal; a store that is away is thrown, as the engine does. */
function outcomeOf<T>(answer: Answer, valueIn: (body: Answer["body"]) => T = theBody): Outcome<T> {
  const { status, isReplayed, body } = answer;
  if (status < 400) return isReplayed ? replayed(valueIn(body)) : accepted(valueIn(body));
  const { code, detail, fault, ...facts } = body;
  if (typeof fault === "string") throw new Fault(fault as FaultCode, String(detail));
  if (!isRejection(code)) throw new Error(`${status} ${String(code)}: ${String(detail)}`);
  return { ...refused(code, String(detail), facts), replayed: isReplayed };
}

function reservationOutcome(answer: Answer): Outcome<ReservationView> {
  const outcome = outcomeOf(answer, viewIn);
  const shown = outcome.ok ? undefined : outcome.facts?.["reservation"];
  if (outcome.ok || shown === undefined) return outcome;
  const reservation = viewIn(shown as Answer["body"]);
  return { ...outcome, facts: { ...outcome.facts, reservation } };
}

function theBody<T>(body: Answer["body"]): T {
  return body as T;
}

function whole(answer: Answer): Answer["body"] {
  const outcome = outcomeOf<Answer["body"]>(answer);
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.detail}`);
  return outcome.value;
}

function viewIn(body: Answer["body"]): ReservationView {
  const { reservationId: id, items: lines, ...rest } = body as unknown as ReservationBody;
  const payment = (each: ReservationBody["payments"][number]) => ({
    ...each,
    paidAt: at(each.paidAt),
    recordedAt: at(each.recordedAt),
  });
  return {
    ...rest,
    ...{ id, lines, createdAt: at(rest.createdAt), decidedAt: at(rest.decidedAt) },
    ...{ expiresAt: at(rest.expiresAt), endedAt: at(rest.endedAt) },
    refunds: rest.refunds.map(({ items, ...each }) => ({ ...each, lines: items, at: at(each.at) })),
    refundDue: rest.refundDue.map(payment),
    payments: rest.payments.map(payment),
  } as unknown as ReservationView;
}

function levelIn(body: unknown): LevelView {
  const { available, reserved, sold, frozen, lost, ...rest } = body as LevelBody;
  return { ...rest, balances: { available, reserved, sold, frozen, lost } } as LevelView;
}

function at(text: string | null): Instant | null {
  return text === null ? null : Date.parse(text);
}

/** What no test asks for is not there, and says so. */
function onlyThese<T extends object>(some: Partial<T>): T {
  return new Proxy(some as T, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (found === undefined) throw new Error(`${String(name)} is not asked for over HTTP`);
      return found;
    },
  });
}
