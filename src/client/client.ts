import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { type Clock, nextTurn, systemClock } from "../clock.ts";
import {
  type ConfirmRequest,
  ProblemBody,
  type RefundRequest,
  ReservationBody,
} from "../http/contract.ts";
import { Batches } from "./batches.ts";
import { type Desk, openDesk } from "./desk.ts";
import { NoAnswer, Refusal } from "./desk-errors.ts";

export type { ProblemBody, ReservationBody } from "../http/contract.ts";
export { TooManyWait } from "./batches.ts";
export { NoAnswer, Refusal } from "./desk-errors.ts";

/** One buyer's cart. Asked for again under its key, it is the same reservation. */
export type Cart = {
  readonly saleId: string;
  readonly buyerId: string;
  readonly idempotencyKey: string;
  readonly items: readonly { readonly sku: string; readonly quantity: number }[];
};

/** What became of a cart; a "no" is an answer, not an error. `replayed`: it was known already. */
export type Reserved =
  | {
      readonly ok: true;
      readonly reservation: ReservationBody;
      readonly replayed: boolean;
    }
  | { readonly ok: false; readonly problem: ProblemBody; readonly replayed: boolean };

export type ClientOptions = {
  /** Of the server, with its base path if it has one. */
  readonly url: string;
  /** The secret of one of the server's API keys; null on the server's own machine. */
  readonly apiKey: string | null;
  /** Seconds that a call waits for the ledger's decision, 0 to 30; then it is `pending`. 10. */
  readonly waitSeconds?: number;
  /** Calls for carts under way at once, each with up to 500 carts; 4. */
  readonly calls?: number;
  /** How often a cart is asked for before "later" or silence is the answer; 5. */
  readonly tries?: number;
  /** The language of titles and details. */
  readonly language?: string;
  readonly clock?: Clock;
};

/**
 * A trusted backend's way to a server: connections that stay open, and carts that are asked for
 * together sent together. Errors are `Refusal` (the server said no to a whole call), `NoAnswer`
 * (away; or unknown: it may have been done, so ask again with the same ids) and `TooManyWait`.
 */
export type Client = {
  /**
   * Resolves with the ledger's decision, or `pending` when that took longer than `waitSeconds`.
   * "Later" and silence are asked again, which is safe: a cart is reserved once under its key.
   */
  reserve(cart: Cart): Promise<Reserved>;
  reservation(id: string, waitSeconds?: number): Promise<ReservationBody>;
  confirm(id: string, payment: Static<typeof ConfirmRequest>): Promise<ReservationBody>;
  cancel(id: string, reason?: string): Promise<ReservationBody>;
  refund(id: string, refund: RefundRequest): Promise<ReservationBody>;
  /** At once: what is under way ends without an answer. */
  close(): Promise<void>;
};

const defaults = { waitSeconds: 10, calls: 4, tries: 5 } as const;
/** Beyond what the server itself may wait. */
const patienceMs = 15_000;
const pauseMsFirst = 50;
const pauseMsMax = 2_000;

export function openClient(options: ClientOptions): Client {
  const { url, apiKey, language, clock = systemClock } = options;
  const { waitSeconds, calls, tries } = { ...defaults, ...options };
  const timeoutMs = waitSeconds * 1_000 + patienceMs;
  const spoken = language === undefined ? {} : { language };
  const desk = openDesk({ url, apiKey, timeoutMs, ...spoken });
  const batches = new Batches<Reserved>({
    callsMax: calls,
    turn: nextTurn,
    send: (carts) => sendCarts(desk, carts, waitSeconds),
  });
  const change = (id: string, verb: string, body: object): Promise<ReservationBody> =>
    desk.post(`${pathOf(id)}/${verb}`, body, { schema: ReservationBody });
  return {
    reserve: (cart) => persist(() => batches.ask(cart), { tries, clock }),
    reservation: (id, wait = 0) => desk.get(`${pathOf(id)}?wait=${wait}`, ReservationBody),
    confirm: (id, payment) => change(id, "confirm", payment),
    cancel: (id, reason) => change(id, "cancel", reason === undefined ? {} : { reason }),
    refund: (id, refund) => change(id, "refund", refund),
    close: () => desk.close(),
  };
}

function pathOf(id: string): string {
  return `/v1/reservations/${encodeURIComponent(id)}`;
}

type Patience = { readonly tries: number; readonly clock: Clock };

/** Again, after a pause that grows, for as long as the answer may become another one. */
async function persist(
  ask: () => Promise<Reserved>,
  { tries, clock }: Patience,
): Promise<Reserved> {
  for (let tried = 1; ; tried += 1) {
    try {
      const reserved = await ask();
      if (reserved.ok || !reserved.problem.retryable || tried >= tries) return reserved;
    } catch (error) {
      if (!isPassing(error) || tried >= tries) throw error;
    }
    await clock.sleep(Math.min(pauseMsMax, pauseMsFirst * 2 ** (tried - 1)));
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.problem.retryable;
  return error instanceof NoAnswer && error.kind !== "foreign";
}

/** Bodies are looked at one by one: which form they have is said by their status. */
const Answers = Type.Object({
  items: Type.Array(
    Type.Object({
      idempotencyKey: Type.String(),
      status: Type.Integer(),
      replayed: Type.Boolean(),
      body: Type.Unknown(),
    }),
  ),
});
type Answer = Static<typeof Answers>["items"][number];

const isReservation = Compile(ReservationBody);
const isProblem = Compile(ProblemBody);

async function sendCarts(
  desk: Desk,
  carts: readonly Cart[],
  waitSeconds: number,
): Promise<readonly Reserved[]> {
  const saleId = carts[0]?.saleId;
  const items = carts.map(({ buyerId, idempotencyKey, items: lines }) => {
    return { idempotencyKey, buyerId, items: lines };
  });
  const more = { schema: Answers, headers: { prefer: `wait=${waitSeconds}` } };
  const answer = await desk.post("/v1/reservations:batch", { saleId, items }, more);
  return carts.map(({ idempotencyKey: key }, index) => {
    const own = answer.items[index];
    if (own?.idempotencyKey === key) return reservedOf(own, desk.url);
    throw new NoAnswer("foreign", desk.url, `no answer for the cart under ${key}`);
  });
}

function reservedOf({ body, status, replayed }: Answer, url: string): Reserved {
  if (status < 400 && isReservation.Check(body)) return { ok: true, reservation: body, replayed };
  if (status >= 400 && isProblem.Check(body)) return { ok: false, problem: body, replayed };
  throw new NoAnswer("foreign", url, `an answer of another form, with status ${status}`);
}
