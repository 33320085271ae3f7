import { createHmac, timingSafeEqual } from "node:crypto";
import { type Asked, readOrigin } from "./request-origin.ts";
import type { Line } from "./reservation.ts";
import type { LaneItem, Ticket } from "./ticket.ts";
import {
  buyerId,
  type Epoch,
  epoch,
  type Instant,
  type Lane,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "./values.ts";

/**
 * What travels on the bus: one signed envelope for many items.
 *
 *     holdfast1 <kid> <hex HMAC-SHA256 of everything behind it> <JSON>
 *
 * The tag covers the raw bytes and is verified before they are parsed. Queue messages may be
 * old, so a replay is stopped by the ledger's unique keys and the epoch, not by the clock.
 */
export type Envelope = {
  readonly lane: Lane;
  /** Stamped at sending. */
  readonly epoch: Epoch;
  readonly sentAt: Instant;
  readonly items: readonly LaneItem[];
};

export type MessageKey = { readonly kid: string; readonly secret: Buffer };

/** Why a message can never be decided. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

const head = "holdfast1";
const tagLength = 64;

/** The first key signs. */
export function sealEnvelope(envelope: Envelope, keys: readonly MessageKey[]): Buffer {
  const [key] = keys;
  if (key === undefined) throw new MessageError("no message key to sign with");
  const body = Buffer.from(JSON.stringify({ version: 1, ...envelope }));
  return Buffer.concat([Buffer.from(`${head} ${key.kid} ${tagOf(key, body)} `), body]);
}

/** All keys verify: the newest, and older ones until their last message has passed. */
export function openEnvelope(bytes: Buffer, keys: readonly MessageKey[]): Envelope {
  const { kid, tag, body } = split(bytes);
  const key = keys.find((each) => each.kid === kid);
  if (key === undefined) throw new MessageError(`signed with key ${kid}, which is not known here`);
  const expected = Buffer.from(tagOf(key, body));
  if (tag.length !== expected.length || !timingSafeEqual(tag, expected)) {
    throw new MessageError("the signature does not fit the bytes");
  }
  return parseEnvelope(body.toString("utf8"));
}

function tagOf(key: MessageKey, body: Buffer): string {
  const mac = createHmac("sha256", key.secret);
  return mac.update(`${head} ${key.kid} `).update(body).digest("hex");
}

function split(bytes: Buffer): { kid: string; tag: Buffer; body: Buffer } {
  const space = 0x20;
  const first = bytes.indexOf(space);
  const second = bytes.indexOf(space, first + 1);
  const third = second + 1 + tagLength;
  if (
    first < 0 ||
    second < 0 ||
    bytes.subarray(0, first).toString("latin1") !== head ||
    bytes[third] !== space
  ) {
    throw new MessageError("not an envelope of this version");
  }
  return {
    kid: bytes.subarray(first + 1, second).toString("latin1"),
    tag: bytes.subarray(second + 1, third),
    body: bytes.subarray(third + 1),
  };
}

function parseEnvelope(text: string): Envelope {
  try {
    const raw = record(JSON.parse(text));
    if (raw["version"] !== 1) throw new MessageError(`version ${String(raw["version"])}`);
    return {
      lane: integer(raw["lane"]),
      epoch: epoch(raw["epoch"]),
      sentAt: integer(raw["sentAt"]),
      items: list(raw["items"]).map(parseItem),
    };
  } catch (error) {
    if (error instanceof MessageError) throw error;
    throw new MessageError(`content: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function parseItem(value: unknown): LaneItem {
  const raw = record(value);
  const kind = raw["kind"];
  switch (kind) {
    case "ticket":
      return { kind, ticket: parseTicket(raw["ticket"]), admittedAt: integer(raw["admittedAt"]) };
    case "void": {
      const ticket = raw["ticket"] === null ? null : parseTicket(raw["ticket"]);
      return {
        kind,
        id: ticket?.id ?? reservationId(raw["id"]),
        ticket,
        reason: text(raw["reason"]),
      };
    }
    case "cancel":
      return {
        kind,
        id: reservationId(raw["id"]),
        actor: text(raw["actor"]),
        reason: text(raw["reason"]),
        ...parseOrigin(raw["origin"]),
      };
    case "marker":
      return { kind, seq: integer(raw["seq"]) };
    case "barrier":
      return { kind, epoch: epoch(raw["epoch"]) };
    default:
      throw new MessageError(`unknown kind of item: ${String(kind)}`);
  }
}

function parseTicket(value: unknown): Ticket {
  const raw = record(value);
  const kind = raw["kind"];
  const common = {
    fingerprint: text(raw["fingerprint"]),
    lines: parseLines(raw["lines"]),
    ...parseOrigin(raw["origin"]),
  };
  switch (kind) {
    case "reserve":
      return {
        kind,
        id: reservationId(raw["id"]),
        ...common,
        saleId: saleId(raw["saleId"]),
        buyerId: buyerId(raw["buyerId"]),
        idempotencyKey: operationId(raw["idempotencyKey"]),
      };
    case "revive":
      return {
        kind,
        id: text(raw["id"]),
        ...common,
        reservationId: reservationId(raw["reservationId"]),
        saleId: saleId(raw["saleId"]),
        buyerId: buyerId(raw["buyerId"]),
        paymentId: operationId(raw["paymentId"]),
        paidAt: raw["paidAt"] === null ? null : integer(raw["paidAt"]),
      };
    case "take":
      return {
        kind,
        id: text(raw["id"]),
        ...common,
        operation: takeOperation(raw["operation"]),
        sku: skuId(raw["sku"]),
        operationId: operationId(raw["operationId"]),
        actor: text(raw["actor"]),
        reason: text(raw["reason"]),
        ifVersion: raw["ifVersion"] === null ? null : integer(raw["ifVersion"]),
      };
    default:
      throw new MessageError(`unknown kind of ticket: ${String(kind)}`);
  }
}

/** For people alone: one that cannot be read stops no ticket. */
function parseOrigin(value: unknown): Asked {
  return isRecord(value) ? readOrigin(value["requestId"], value["traceId"]) : {};
}

function takeOperation(value: unknown): "withdraw" | "freeze" | "adjust_down" {
  if (value === "withdraw" || value === "freeze" || value === "adjust_down") return value;
  throw new MessageError(`unknown taking: ${String(value)}`);
}

/** One line a SKU, in SKU order: what follows adds them up and locks them one by one. */
function parseLines(value: unknown): readonly Line[] {
  const lines: Line[] = [];
  let last = "";
  for (const each of list(value)) {
    const line = parseLine(each);
    if (line.sku <= last) throw new MessageError("lines: expected one a SKU, in SKU order");
    last = line.sku;
    lines.push(line);
  }
  if (lines.length === 0) throw new MessageError("lines: expected at least one");
  return lines;
}

function parseLine(value: unknown): Line {
  const raw = record(value);
  return { sku: skuId(raw["sku"]), quantity: quantity(raw["quantity"]) };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new MessageError("an object was expected");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new MessageError("a list was expected");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new MessageError("a text was expected");
}

function integer(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new MessageError("an integer was expected");
}
