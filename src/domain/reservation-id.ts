import { timingSafeEqual } from "node:crypto";
import { keyedHash } from "./keyed-hash.ts";
import { isId, type Lane, type ReservationId, reservationId } from "./values.ts";

/**
 * Characters of the keyed hash, 132 bits: nobody guesses an id, and a retry after any loss names
 * the same. Not more, because the index of all ids is what a commit writes most of.
 */
const nameLength = 22;
/** Characters of the check part: a forged id is refused without touching a store. */
const checkLength = 6;

export type ReservationName = {
  readonly lane: Lane;
  readonly saleId: string;
  readonly buyerId: string;
  readonly idempotencyKey: string;
};

/** `<lane>.<keyed hash of sale, buyer, key>.<check>`: at most 35 characters of the id alphabet. */
export function makeReservationId(secret: Buffer, name: ReservationName): ReservationId {
  // The three ids cannot hold a line feed, so it frames them.
  const text = `name\n${name.saleId}\n${name.buyerId}\n${name.idempotencyKey}`;
  const head = `${name.lane}.${keyedHash(secret, text).slice(0, nameLength)}`;
  return reservationId(`${head}.${checkOf(secret, head)}`);
}

/** The lane of a genuine id; null for anything else. */
export function laneOfReservation(secret: Buffer, text: unknown): Lane | null {
  if (!isId(text)) return null;
  const match = /^(\d{1,5})\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{6}$/.exec(text);
  if (match === null) return null;
  const cut = text.lastIndexOf(".");
  const expected = Buffer.from(checkOf(secret, text.slice(0, cut)));
  const found = Buffer.from(text.slice(cut + 1));
  if (expected.length !== found.length || !timingSafeEqual(expected, found)) return null;
  return Number(match[1]);
}

function checkOf(secret: Buffer, head: string): string {
  return keyedHash(secret, `check\n${head}`).slice(0, checkLength);
}
