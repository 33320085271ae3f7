import { keyedHash } from "./keyed-hash.ts";

const nameLength = 12;

/**
 * What tells one ledger from another on a server or a broker that both use: `secret` is the one
 * that its reservation ids are made with, and the name does not give it away.
 */
export function ledgerName(secret: Buffer): string {
  return keyedHash(secret, "key-prefix").slice(0, nameLength);
}
