import { Fault } from "../domain/fault.ts";
import { InvariantError } from "../domain/invariant.ts";
import { Disturbed } from "./disturbed.ts";

/**
 * What a failed statement means for its transaction.
 *
 * - `again`: another transaction was in the way, and this one is undone: all of it is run again.
 * - `overtaken`: another one has written what this one was about to: run again, it is seen. When
 *   that does not help, our own rules are wrong.
 * - `away`: it passes by itself, or can be mended from outside.
 * - `bug`: our own mistake.
 */
export type Trouble = "again" | "overtaken" | "away" | "bug";

const troubleOf: ReadonlyMap<number, Trouble> = new Map([
  // Deadlock; lock wait; MariaDB's snapshot conflict; a certificate refused by a cluster.
  ...[1213, 1205, 1020, 3101].map((errno) => [errno, "again"] as const),
  // A key that is there already.
  ...[1062, 1586].map((errno) => [errno, "overtaken"] as const),
  // Read-only: `read_only`, by mode, by transaction, `super_read_only` of a group.
  ...[1290, 1836, 1792, 3100].map((errno) => [errno, "away"] as const),
  // Connections: too many, of this user, by quota; not allowed; database or rights missing.
  ...[1040, 1203, 1226, 1129, 1130, 1044, 1045, 1049, 1142, 1227, 1698, 4151].map(
    (errno) => [errno, "away"] as const,
  ),
  // Disk or table full, an error of the file system, out of memory, out of logs.
  ...[1114, 1021, 1026, 1030, 3, 20, 1037, 1038, 1041, 1197, 1534, 1598].map(
    (errno) => [errno, "away"] as const,
  ),
  // Shutting down, killed, interrupted, took too long, node of a cluster not ready.
  ...[1053, 1077, 1317, 1927, 3024, 1969, 1047, 1180, 1181, 1152, 1158, 1159, 1160, 1161, 4031].map(
    (errno) => [errno, "away"] as const,
  ),
]);

/** The server's own number of an error that it answered; null when it did not answer. */
export function errnoOf(error: unknown): number | null {
  if (!(error instanceof Error) || !("errno" in error) || !("sqlState" in error)) return null;
  return typeof error.errno === "number" && typeof error.sqlState === "string" ? error.errno : null;
}

/** After these the connection is of no more use: the next one may lead to another server. */
export function endsConnection(error: unknown): boolean {
  const errno = errnoOf(error);
  if (errno === null) return true;
  return [1290, 1836, 3100, 1053, 1077, 1927, 1047, 4031].includes(errno);
}

/** A failure before COMMIT: nothing has happened. */
export function mysqlFailure(error: unknown, what: string): Error {
  if (error instanceof Fault || error instanceof InvariantError || error instanceof Disturbed) {
    return error;
  }
  const message = `${what}: ${error instanceof Error ? error.message : String(error)}`;
  const errno = errnoOf(error);
  if (errno === null) return withoutAnswer(error, message);
  const trouble = troubleOf.get(errno) ?? "bug";
  if (trouble === "again" || trouble === "overtaken") return new Disturbed(trouble, message, error);
  if (trouble === "away") return new Fault("LEDGER_UNAVAILABLE", message, error);
  return new InvariantError(`MySQL ${errno}: ${message}`, { cause: error });
}

function withoutAnswer(error: unknown, message: string): Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isNetwork = /^E[A-Z0-9_]+$|^PROTOCOL_|^HANDSHAKE_|^AUTH_|^CERT_/.test(code);
  return isNetwork || /closed state|packets out of order/i.test(message)
    ? new Fault("LEDGER_UNAVAILABLE", message, error)
    : new InvariantError(message, { cause: error });
}
