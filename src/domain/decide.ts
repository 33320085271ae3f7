import type { Book } from "./book.ts";
import type { Command, CommandResult } from "./command.ts";
import { decideRefund, decideSettlePayment } from "./decide-refund.ts";
import { decideCreateSale, decideSaleState, decideSkuStatus } from "./decide-sale.ts";
import {
  decideCancel,
  decideConfirm,
  decideExpire,
  decideExtend,
  decideRefuseLate,
} from "./decide-settlement.ts";
import { decideCount, decideGive } from "./decide-stock.ts";
import { decideTicket } from "./decide-ticket.ts";
import { decideVoid } from "./decide-void.ts";
import { acceptedResult, type CommandOf } from "./decision.ts";
import { noteRequest } from "./note-request.ts";

/**
 * The ledger decides: each rule of the business is in one of these functions. A function checks
 * everything before its first write to the book, so a refusal changes nothing else.
 */
export function decide(book: Book, command: Command): CommandResult {
  // Who was paused, and whose lease another has taken meanwhile, changes nothing.
  if ("lease" in command && command.lease !== undefined && !book.isHeld(command.lease)) {
    return { status: "stale" };
  }
  const before = book.writes;
  const result = decideKind(book, command);
  const isDecided = result.status === "accepted" || result.status === "rejected";
  // A call that changed nothing leaves nothing.
  if (isDecided && !result.replayed && book.writes > before) noteRequest(book, command);
  return result;
}

function decideKind(book: Book, command: Command): CommandResult {
  switch (command.kind) {
    case "ticket":
      return decideTicket(book, command);
    case "void":
      return decideVoid(book, command);
    case "barrier":
      return decideBarrier(book, command);
    case "cancel":
      return decideCancel(book, command);
    case "confirm":
      return decideConfirm(book, command);
    case "refuse-late":
      return decideRefuseLate(book, command);
    case "expire":
      return decideExpire(book, command);
    case "extend":
      return decideExtend(book, command);
    case "refund":
      return decideRefund(book, command);
    case "settle-payment":
      return decideSettlePayment(book, command);
    case "give":
      return decideGive(book, command);
    case "count":
      return decideCount(book, command);
    case "create-sale":
      return decideCreateSale(book, command);
    case "sale-state":
      return decideSaleState(book, command);
    case "sku-status":
      return decideSkuStatus(book, command);
  }
}

function decideBarrier(book: Book, command: CommandOf<"barrier">): CommandResult {
  const lane = book.lane(command.lane);
  const repeated = command.epoch <= lane.met;
  if (!repeated) book.setLane({ ...lane, met: command.epoch });
  return acceptedResult({}, repeated);
}
