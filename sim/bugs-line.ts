import type { PlantedBug } from "./bugs.ts";

const rebuilder = "src/workers/rebuilder.js";
const relay = "src/workers/relay.js";
const writer = "src/workers/ledger-writer.js";

/** The line between the two: what could be lost, repeated or believed on the way. */
export const lineBugs: readonly PlantedBug[] = [
  {
    name: "relay-deletes-first",
    breaks: "a ticket leaves the outbox after the broker's confirm",
    file: relay,
    find: "await bus.publish(lane, sealEnvelope(envelope, messageKeys));",
    replace: `await hot.forward(fence, part.map(({ seq }) => seq));
      await bus.publish(lane, sealEnvelope(envelope, messageKeys));`,
  },
  {
    name: "relay-ignores-failures",
    breaks: "what the broker has not confirmed is sent again",
    file: relay,
    find: "await bus.publish(lane, sealEnvelope(envelope, messageKeys));",
    replace: "await bus.publish(lane, sealEnvelope(envelope, messageKeys)).catch(() => {});",
  },
  {
    name: "writer-acknowledges-first",
    breaks: "a message is acknowledged after its decision is committed",
    file: writer,
    find: "const deliveries = await bus.receive(this.#lane, options);",
    replace: `const deliveries = await bus.receive(this.#lane, options);
      await bus.acknowledge(this.#lane, deliveries);`,
  },
  {
    name: "writer-gives-up",
    breaks: "while the ledger is away nothing is acknowledged",
    file: writer,
    find: "await bus.release(this.#lane, deliveries);",
    replace: "await bus.acknowledge(this.#lane, deliveries);",
  },
  {
    name: "resend-by-age",
    breaks: "a ticket is sent again when a marker has overtaken it; a backlog is not a loss",
    file: writer,
    find: "seq: each.item.seq",
    replace: "seq: Number.MAX_SAFE_INTEGER",
  },
  {
    name: "marker-never-looks",
    breaks: "a ticket that the broker lost is found by the marker and sent again",
    file: "src/workers/marker.js",
    find: "if (reply.closed || reply.value.length === 0)",
    replace: "if (true)",
  },
  {
    name: "barrier-not-awaited",
    breaks: "a rebuild loads after everything before its barrier is decided",
    file: rebuilder,
    find: "if (row.met >= row.epoch) {",
    replace: "if (true) {",
  },
  {
    name: "snapshot-before-the-barrier",
    breaks: "a rebuild reads the ledger after its barrier was met",
    file: rebuilder,
    find: "if (row.met >= row.epoch) { await this.#load(fence, underway, lease); return 1; }",
    replace: `if (underway.early === undefined) {
        const held = await hot.heldTickets(fence);
        if (held.closed) return 0;
        underway.early = await this.#parts.ledger.snapshot(fence.lane, held.value);
      }
      if (row.met >= row.epoch) {
        await hot.load(fence, underway.early);
        await fences.refresh();
        this.#underway.delete(row.lane);
        return 1;
      }`,
  },
  {
    name: "incarnation-not-compared",
    breaks: "another hot stock than the ledger's is rebuilt",
    file: rebuilder,
    find: "row.incarnation === seen.incarnation && row.epoch === seen.epoch;",
    replace: "row.epoch === seen.epoch;",
  },
  {
    name: "drift-not-mended",
    breaks: "any doubt about hot stock ends in a rebuild",
    file: "src/workers/reconciler.js",
    find: "fences.doubt(row.lane, `SKU",
    replace: "((..._) => {})(row.lane, `SKU",
  },
  {
    name: "fork-not-stopped",
    breaks: "a ledger that went back stops the SKU and calls a person",
    file: "src/workers/reconciler.js",
    find: "await this.#stop(item.sku, `the ledger went back",
    replace: "await ((..._) => {})(item.sku, `the ledger went back",
  },
  {
    name: "gate-refuses-a-repeat",
    breaks: "a repeat is answered, at a closed gate too",
    file: "src/engine/gate.js",
    find: "if (closed === undefined || closed.ids.has(ticket.id)) return false;",
    replace: "if (closed === undefined) return false;",
  },
  {
    name: "gate-asks-nobody",
    breaks: "the gate refuses on hot stock's word only",
    file: "src/engine/gate.js",
    find: "if (available <= 0 && idsSeen === closed.idsSeen)",
    replace: "if (true)",
  },
  {
    name: "gate-knows-no-other-process",
    breaks: "the gate opens when an id has become known since, by whatever process",
    file: "src/engine/gate.js",
    find: "if (available <= 0 && idsSeen === closed.idsSeen)",
    replace: "if (available <= 0)",
  },
  {
    name: "void-bypasses-the-lane",
    breaks: "a void goes through the lane, behind any ticket of its id",
    file: "src/engine/lookup.js",
    find: `await parts.hot.enqueue(fence, { kind: "void", id, ticket: null, reason });`,
    replace: `{ closed: false };
      const stamp = { lane, epoch: fence.epoch };
      await parts.line.one({ kind: "void", stamp, id, ticket: null, reason });`,
  },
  {
    name: "reserved-before-the-ledger",
    breaks: 'no false success: "reserved" is said after the ledger has committed it',
    file: "src/engine/buyers.js",
    find: "const pending = pendingView(ticket.id, { ticket, admittedAt });",
    replace: `const view = pendingView(ticket.id, { ticket, admittedAt });
      const pending = { ...view, state: "reserved" };`,
  },
  {
    name: "expired-by-another-clock",
    breaks: "whether a deadline has passed is for the ledger's clock to say",
    file: "src/engine/views.js",
    find: "state: stateAt(order, readAt),",
    replace: "state: stateAt(order, Date.now()),",
  },
  {
    name: "answers-mixed-up",
    breaks: "a group commit gives everyone their own answer",
    file: "src/engine/line.js",
    find: "from += own.length;",
    replace: "",
  },
  {
    name: "unknown-taken-for-failure",
    breaks: "an unknown outcome is not a failure: the same commands are told again",
    file: "src/engine/line.js",
    find: "if (!error.retryable || attempt === tries) throw error;",
    replace: `if (error.code === "LEDGER_UNKNOWN")
        return { results: commands.map(() => ({ status: "unknown" })), entries: [], settled: [] };
      if (!error.retryable || attempt === tries) throw error;`,
  },
];
