import type { PlantedBug } from "./bugs.ts";

const admit = "src/hot-stock/admit.js";
const load = "src/hot-stock/load.js";
const memory = "src/hot-stock/memory.js";
const project = "src/hot-stock/project.js";
const state = "src/hot-stock/lane-state.js";

/** Hot stock admits and follows: what it could get wrong. */
export const hotStockBugs: readonly PlantedBug[] = [
  {
    name: "admit-not-idempotent",
    breaks: "asked twice, done once: a repeat takes no units",
    file: admit,
    find: "const refusal = replay(state, ticket) ?? refuse(state, ticket, now);",
    replace: "const refusal = refuse(state, ticket, now);",
  },
  {
    name: "other-content-replayed",
    breaks: "the same id with other content is a conflict",
    file: admit,
    find: `if (held.ticket.fingerprint !== ticket.fingerprint) return refused("KEY_REUSED");`,
    replace: "",
  },
  {
    name: "refused-before-replay",
    breaks: "a repeat is answered before anything is refused",
    file: admit,
    find: "const refusal = replay(state, ticket) ?? refuse(state, ticket, now);",
    replace: "const refusal = refuse(state, ticket, now) ?? replay(state, ticket);",
  },
  {
    name: "admitted-without-outbox",
    breaks: "an admission and the record of it are one step",
    file: admit,
    find: `const seq = append(state, { kind: "ticket", ticket, admittedAt: now }, now);`,
    replace: "const seq = state.nextSeq++;",
  },
  {
    name: "buyer-not-counted-in-flight",
    breaks: "tickets in flight count for the buyer's limit",
    file: state,
    find: "countUnits(sku, ticket, quantity);",
    replace: "",
  },
  {
    name: "buyer-not-given-back",
    breaks: "units that come back no longer count for the buyer",
    file: project,
    find: "addUnits(sku, entry.saleId, entry.buyerId, entry.unitsDelta);",
    replace: "addUnits(sku, entry.saleId, entry.buyerId, Math.max(0, entry.unitsDelta));",
  },
  {
    name: "release-not-projected",
    breaks: "never leaked: what comes back is on sale again",
    file: state,
    find: "sku.available += entry.availableDelta;",
    replace: "sku.available += Math.min(0, entry.availableDelta);",
  },
  {
    name: "ticket-kept-after-its-entry",
    breaks: "an entry gives back what its ticket held",
    file: project,
    find: "if (entry.ticketId !== null) letGo(state, entry.ticketId, entry.sku);",
    replace: "",
  },
  {
    name: "projection-skips-versions",
    breaks: "entries are applied in version order, each once",
    file: project,
    find: `if (entry.version > sku.version + 1) { found.gaps.set(entry.sku, sku.version); return; }
      if (entry.previousHash !== sku.hash) { fork(sku, entry, found); return; }`,
    replace: "",
  },
  {
    name: "projection-without-hash-check",
    breaks: "an entry goes only on top of the one that it was made on",
    file: project,
    find: "if (entry.previousHash !== sku.hash) {",
    replace: "if (false) {",
  },
  {
    name: "drop-before-its-version",
    breaks: "a decided ticket is dropped once the version that decided it is here",
    file: project,
    find: "if (isBefore(state, settled, line.sku)) continue;",
    replace: "",
  },
  {
    name: "answer-not-remembered",
    breaks: "a decision is the answer to its id for ever",
    file: project,
    find: "if (entry.answer !== null) remember(state, entry.answer);",
    replace: "",
  },
  {
    name: "no-incarnation-fence",
    breaks: "fail-closed: nothing is admitted between a loss and the rebuild",
    file: memory,
    find: `if (fence.incarnation !== this.#incarnation) return "incarnation";`,
    replace: "",
  },
  {
    name: "admits-while-rebuilding",
    breaks: "fail-closed: a lane that waits for its barrier admits nothing",
    file: memory,
    find: `if (state.rebuilding) return closed("rebuilding");`,
    replace: "",
  },
  {
    name: "mark-lowered",
    breaks: "a mark never lowers an epoch",
    file: memory,
    find: `if (state.epoch > fence.epoch) return closed("epoch");`,
    replace: "",
  },
  {
    name: "load-into-an-open-lane",
    breaks: "a load goes only into a lane that still waits for this very barrier",
    file: memory,
    find: `if (!state.rebuilding) return closed("open");`,
    replace: "",
  },
  {
    name: "outbox-cleared-by-forward",
    breaks: "only what the broker has confirmed leaves the outbox",
    file: memory,
    find: "for (const seq of seqs) state.outbox.delete(seq);",
    replace: "if (seqs.length > 0) state.outbox.clear();",
  },
  {
    name: "rebuild-without-overlay",
    breaks: "a rebuild subtracts the tickets that are still in flight",
    file: load,
    find: "hold(state, held.ticket); kept += 1;",
    replace: "kept += 1;",
  },
  {
    name: "rebuild-drops-kept-tickets",
    breaks: "a rebuild keeps the undecided tickets that hot stock still has",
    file: load,
    find: "if (snapshot.decided.has(id) || !isWhole(state, held)) {",
    replace: "if (true) {",
  },
  {
    name: "rebuild-keeps-decided-tickets",
    breaks: "a rebuild does not hold again what the ledger has decided",
    file: load,
    find: "if (snapshot.decided.has(id) || !isWhole(state, held)) {",
    replace: "if (!isWhole(state, held)) {",
  },
  {
    name: "rebuild-without-buyers",
    breaks: "a rebuild restores what every buyer holds",
    file: load,
    find: "addUnits(sku, sku.saleId, buyerId, units);",
    replace: ";",
  },
  {
    name: "rebuild-without-decisions",
    breaks: "a rebuild restores every decision, so a repeat is answered",
    file: load,
    find: "for (const answer of snapshot.answers) remember(state, answer);",
    replace: "",
  },
  {
    name: "rebuild-lowers-a-version",
    breaks: "a ledger that went back is never repaired by machine",
    file: load,
    find: "const ahead = known !== undefined && known.version > level.version;",
    replace: "const ahead = false;",
  },
];
