import { createHmac, timingSafeEqual } from "node:crypto";
import { isId, type Lane, type ReservationId, reservationId } from "./values.ts";

/** Bytes of the keyed hash: nobody guesses an id; a retry after any loss names the same one. */
const nameBytes = 20;
/** Bytes of the check part: a forged id is refused without touching a store. */
const checkBytes = 9;

export type ReservationName = {
  readonly lane: Lane;
  readonly saleId: string;
  readonly buyerId: string;
  readonly idempotencyKey: string;
};

/** `<lane>.<keyed hash of sale, buyer, key>.<check>`: at most 46 characters of the id alphabet. */
export function makeReservationId(secret: Buffer, name: ReservationName): ReservationId {
  // The three ids cannot hold a line feed, so it frames them.
  const text = `name\n${name.saleId}\n${name.buyerId}\n${name.idempotencyKey}`;
  const hash = createHmac("sha256", secret).update(text).digest();
  const head = `${name.lane}.${hash.subarray(0, nameBytes).toString("base64url")}`;
  return reservationId(`${head}.${checkOf(secret, head)}`);
}

/** The lane of a genuine id; null for anything else. */
export function laneOfReservation(secret: Buffer, text: unknown): Lane | null {
  if (!isId(text)) return null;
  const match = /^(\d{1,5})\.[A-Za-z0-9_-]{27}\.[A-Za-z0-9_-]{12}$/.exec(text);
  if (match === null) return null;
  const cut = text.lastIndexOf(".");
  const expected = Buffer.from(checkOf(secret, text.slice(0, cut)));
  const found = Buffer.from(text.slice(cut + 1));
  if (expected.length !== found.length || !timingSafeEqual(expected, found)) return null;
  return Number(match[1]);
}

function checkOf(secret: Buffer, head: string): string {
  const mac = createHmac("sha256", secret).update(`check\n${head}`).digest();
  return mac.subarray(0, checkBytes).toString("base64url");
}
