import type { Book } from "./book.ts";
import { type CommandResult, type OperationRecord, type SkuRow, scopeOfSku } from "./command.ts";
import { keyReused } from "./decide-settlement.ts";
import { acceptedResult, type CommandOf, rejectedResult } from "./decision.ts";
import type { Operation } from "./stock.ts";
import type { SkuId } from "./values.ts";

/** What gives to `available` comes from the ledger to hot stock; what takes goes as a ticket. */
export function decideGive(book: Book, command: CommandOf<"give">): CommandResult {
  const { sku, quantity } = command;
  const row = book.skus.get(sku);
  if (row === undefined) return unknownSku(sku);
  const known = book.operation(scopeOfSku(sku), command.operationId);
  if (known !== undefined) return repeat(book, known, command.fingerprint, row);
  const moved = versionMoved(row, command.ifVersion);
  if (moved !== null) return moved;
  if (!book.canMove(sku, command.operation, quantity)) {
    const { frozen } = row.balances;
    const detail = `${command.operation} of ${quantity}: not covered by ${frozen} frozen`;
    return rejectedResult("NOT_ENOUGH", detail, { level: row });
  }
  const moves: Act["moves"] = quantity > 0 ? [[command.operation, quantity]] : [];
  return act(book, row, { ...command, moves, content: {} });
}

/** Units found of those that are frozen: found ones go back on sale, the rest is lost. */
export function decideCount(book: Book, command: CommandOf<"count">): CommandResult {
  const row = book.skus.get(command.sku);
  if (row === undefined) return unknownSku(command.sku);
  const { found } = command;
  const fingerprint = `count ${found}`;
  const known = book.operation(scopeOfSku(row.sku), command.operationId);
  if (known !== undefined) return repeat(book, known, fingerprint, row);
  const moved = versionMoved(row, command.ifVersion ?? null);
  if (moved !== null) return moved;

  const { frozen } = row.balances;
  const moves: [Operation, number][] = [
    ["count_found", Math.min(found, frozen)],
    ["count_lost", Math.max(0, frozen - found)],
    ["count_surplus", Math.max(0, found - frozen)],
  ];
  return act(book, row, {
    ...command,
    operation: "count",
    fingerprint,
    moves: moves.filter(([, quantity]) => quantity > 0),
    content: { found, frozen },
  });
}

type Act = {
  readonly operation: string;
  readonly operationId: OperationRecord["operationId"];
  readonly fingerprint: string;
  readonly moves: readonly [Operation, number][];
  readonly content: OperationRecord["content"];
  readonly actor: string;
  readonly reason: string;
};

function act(book: Book, row: SkuRow, what: Act): CommandResult {
  const { sku } = row;
  const { operationId, actor, reason } = what;
  for (const [operation, quantity] of what.moves) {
    book.append({ sku, operation, operationId, quantity, order: null, actor, reason });
  }
  const level = book.skus.get(sku) ?? row;
  const operation = book.record({
    scope: scopeOfSku(sku),
    operationId,
    operation: what.operation,
    fingerprint: what.fingerprint,
    code: null,
    detail: "",
    versions: new Map([[sku, level.version]]),
    actor,
    reason,
    content: what.content,
  });
  book.audit({
    actor,
    action: `stock.${what.operation}`,
    subject: scopeOfSku(sku),
    reason,
    before: { ...row.balances, version: row.version },
    after: { ...level.balances, version: level.version },
  });
  return acceptedResult({ level, operation });
}

function repeat(
  book: Book,
  known: OperationRecord,
  fingerprint: string,
  level: SkuRow,
): CommandResult {
  if (known.fingerprint !== fingerprint) return keyReused(known.operationId);
  const subject = { level: book.skus.get(level.sku) ?? level, operation: known };
  if (known.code !== null) return rejectedResult(known.code, known.detail, subject, true);
  return acceptedResult(subject, true);
}

/** The refusal of an act that was decided on numbers which are no longer so; it changes nothing. */
export function versionMoved(row: SkuRow, ifVersion: number | null): CommandResult | null {
  if (ifVersion === null || ifVersion === row.version) return null;
  const detail = `decided on version ${ifVersion}, the SKU is at ${row.version}`;
  return rejectedResult("VERSION_MOVED", detail, { level: row });
}

export function unknownSku(sku: SkuId): CommandResult {
  return rejectedResult("SKU_NOT_FOUND", `SKU ${sku} is not in the ledger`, {});
}
