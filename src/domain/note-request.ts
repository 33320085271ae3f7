import type { Book } from "./book.ts";
import {
  type Command,
  type RequestRecord,
  scopeOfOrder,
  scopeOfSale,
  scopeOfSku,
} from "./command.ts";
import type { Ticket } from "./ticket.ts";
import type { OperationId, ReservationId } from "./values.ts";

type Change = Omit<RequestRecord, "origin" | "at">;

/** Whoever looks for a call finds what it changed. What the engine does by itself has no call. */
export function noteRequest(book: Book, command: Command): void {
  const { origin } = command.kind === "ticket" ? command.ticket : command;
  if (origin === undefined) return;
  const change = changeOf(command);
  if (change !== null) book.changes.requests.push({ ...change, origin, at: book.now });
}

/** Null: nobody calls for it, or its call stands on the order itself. */
function changeOf(command: Command): Change | null {
  switch (command.kind) {
    case "ticket":
      return ticketChange(command.ticket);
    case "void":
    case "barrier":
    case "expire":
      return null;
    case "cancel":
      return { scope: scopeOfOrder(command.id), operation: "cancel", operationId: "" };
    case "confirm":
    case "refuse-late":
      return paid(command.id, command.paymentId);
    case "extend":
      return {
        scope: scopeOfOrder(command.id),
        operation: "extend",
        operationId: command.operationId,
      };
    case "refund":
    case "settle-payment":
      return {
        scope: scopeOfOrder(command.id),
        operation: "refund",
        operationId: command.refundId,
      };
    case "give":
      return stockChange(command);
    case "count":
      return stockChange({ ...command, operation: "count" });
    case "create-sale":
      return { scope: scopeOfSale(command.saleId), operation: "create", operationId: "" };
    case "sale-state":
      return moved(scopeOfSale(command.saleId), command);
    case "sku-status":
      return moved(scopeOfSku(command.sku), command);
  }
}

function ticketChange(ticket: Ticket): Change | null {
  switch (ticket.kind) {
    case "reserve":
      return null;
    case "revive":
      return paid(ticket.reservationId, ticket.paymentId);
    case "take":
      return stockChange(ticket);
  }
}

/** However a payment ends, it is the same call that told of it. */
function paid(id: ReservationId, paymentId: OperationId): Change {
  return { scope: scopeOfOrder(id), operation: "confirm", operationId: paymentId };
}

function stockChange({ sku, operation, operationId }: StockCommand): Change {
  return { scope: scopeOfSku(sku), operation, operationId };
}

type StockCommand = Pick<Extract<Ticket, { kind: "take" }>, "sku" | "operationId"> & {
  readonly operation: string;
};

function moved(scope: string, to: { to: string; operationId: OperationId | null }): Change {
  return { scope, operation: to.to, operationId: to.operationId ?? "" };
}
