import type { PlantedBug } from "./bugs.ts";

const ticket = "src/domain/decide-ticket.js";
const settlement = "src/domain/decide-settlement.js";

/** The ledger decides: what it could decide wrongly. */
export const ledgerBugs: readonly PlantedBug[] = [
  {
    name: "repeat-decided-again",
    breaks: "asked twice, done once: the first decision under an id stands",
    file: ticket,
    find: `const known = book.orders.get(ticket.id);
      if (known !== undefined) return repeatOrder(book, known, command.stamp.lane);`,
    replace: "",
  },
  {
    name: "stock-not-rechecked",
    breaks: "never oversold: the ledger looks again, because hot stock may lie",
    file: ticket,
    find: "const short = rows.find((each) => each.row.balances.available < needed(each));",
    replace: "const short = undefined;",
  },
  {
    name: "limit-not-rechecked",
    breaks: "the limit for one buyer holds in the ledger",
    file: ticket,
    find: "if (held + quantity > limit) {",
    replace: "if (false) {",
  },
  {
    name: "reject-without-entry",
    breaks: "every decision on a ticket is an entry with the next version",
    file: ticket,
    find: `const operation = refusal === null ? "reserve" : "reject";`,
    replace: `if (refusal !== null) continue; const operation = "reserve";`,
  },
  {
    name: "old-epoch-decided",
    breaks: "behind a barrier a ticket of an older epoch decides nothing",
    file: ticket,
    find: `if (stamp.epoch < book.lane(stamp.lane).met) return { status: "stale" };`,
    replace: "",
  },
  {
    name: "void-leaves-no-tombstone",
    breaks: "a pending ticket ends in one state; a late message cannot bring it back",
    file: "src/domain/decide-void.js",
    find: `const order = tombstone(book, reservationId(command.id), "void", command.reason);`,
    replace: `const unknown = { saleId: null, lines: [], fingerprint: null };
      const order = { ...unknown, id: command.id, state: "void" };`,
  },
  {
    name: "paid-after-expiry",
    breaks: "the deadline rules, by the ledger's clock",
    file: settlement,
    find: `const order = writeDownExpiry(book, found);
      if (order.state === "expired") return { status: "late", order };`,
    replace: "const order = found;",
  },
  {
    name: "expired-too-early",
    breaks: "a hold lasts until its deadline",
    file: settlement,
    find: "return order.expiresAt !== null && now >= order.expiresAt;",
    replace: "return order.expiresAt !== null && now + 1500 >= order.expiresAt;",
  },
  {
    name: "expired-again-and-again",
    breaks: "units are given back once: a bucket is the sum of its orders",
    file: settlement,
    find: `if (order.state !== "reserved" || !isOverdue(order, book.now)) return order;`,
    replace: "if (!isOverdue(order, book.now)) return order;",
  },
  {
    name: "payment-decided-twice",
    breaks: "a payment is decided once, however often it is told",
    file: settlement,
    find: `if (known !== undefined) return repeatPayment(book, found, known);`,
    replace: "",
  },
  {
    name: "late-payment-forgotten",
    breaks: "a payment that finds no units is due back, and recorded",
    file: "src/engine/settlement.js",
    find: `return settle(parts, found, { kind: "refuse-late", ...told });`,
    replace: `return refused("REFUND_DUE", "nothing is left for it");`,
  },
  {
    name: "payment-changes-its-answer",
    breaks: "the first decision on a payment is its answer for ever",
    file: ticket,
    find: `return { code: known.code ?? "REFUND_DUE", detail };`,
    replace: `return { code: "REFUND_DUE", detail };`,
  },
  {
    name: "cart-decided-in-part",
    breaks: "a cart is decided as a whole, all or nothing",
    file: ticket,
    find: "for (const { sku, quantity } of ticket.lines) { const operation",
    replace: "for (const { sku, quantity } of ticket.lines.slice(0, 1)) { const operation",
  },
  {
    name: "refund-exceeds",
    breaks: "never more is refunded than was sold",
    file: "src/domain/decide-refund.js",
    find: "if (units > left)",
    replace: "if (false)",
  },
  {
    name: "refund-repeated",
    breaks: "a refund is made once, however often it is told",
    file: "src/domain/decide-refund.js",
    find: `if (known !== undefined) return repeatRefund(book, order, known, fingerprint);
      if (order.state !== "confirmed")`,
    replace: `if (order.state !== "confirmed")`,
  },
  {
    name: "chain-not-chained",
    breaks: "every entry carries the hash of the one before it",
    file: "src/domain/book.js",
    find: "previousHash: row.hash,",
    replace: `previousHash: "0".repeat(64),`,
  },
  {
    name: "epoch-not-raised",
    breaks: "every rebuild has an epoch of its own, which fences what it left behind",
    file: "src/ledger/rebuild.js",
    find: "update lanes set epoch = epoch + 1, incarnation = ?",
    replace: "update lanes set epoch = max(epoch, 1), incarnation = ?",
  },
  {
    name: "epoch-taken-twice",
    breaks: "the next epoch is given to whoever saw the present one",
    file: "src/ledger/rebuild.js",
    find: "where lane = ? and epoch = ?",
    replace: "where lane = ? and ? >= 0",
  },
  {
    name: "void-ids-not-restored",
    breaks: "a rebuild restores every decision, so a repeat is answered",
    file: "src/ledger/rebuild.js",
    find: "for await (const order of unseenOrders(reader, lane)) answers.push(answerOf(order));",
    replace: "",
  },
  {
    name: "told-beyond-what-was-sent",
    breaks: "events are told in order per SKU, at least once",
    file: "src/workers/publisher.js",
    find: "marks.set(sku, Math.max(version, marks.get(sku) ?? 0));",
    replace: "marks.set(sku, version + 1);",
  },
];
