import type { PlantedBug } from "../sim/bugs.ts";

const relay = "src/workers/relay.js";
const writer = "src/workers/ledger-writer.js";
const publish = "await bus.publish(lane, sealEnvelope(envelope, messageKeys));";
const acknowledge = "await bus.acknowledge(this.#lane, deliveries);";
const admitted = "this.#outboxBell.ring(); this.#count(reply.value);";
const nothingDue = "if (due.length === 0) return 0;";
const ownLease =
  "return held !== undefined && this.#clock.mono() < held.until ? held.lease : null;";
const turn = "await turn?.();";

/** The line by which a process tells that it is at its failpoint, where it lives on. */
export const atFailpoint = "at the failpoint";

const tells = `process.stderr.write(${JSON.stringify(`${atFailpoint}\n`)});`;

/**
 * Every other pass is the last one of its process: a busy machine makes few of them, because more
 * waits for each.
 */
const dies = `if ((globalThis.passes = (globalThis.passes ?? 0) + 1) % 2 === 0) {
  process.kill(process.pid, "SIGKILL");
}`;

const blockedMs = 5_000;
const lateMs = 5_000;

/**
 * Places where a process dies, stands still, or says something more than once. The program carries
 * no hook for them: they are patched into the compiled text as it is loaded, as the simulator's
 * bugs are.
 */
export const failpoints: readonly PlantedBug[] = [
  {
    name: "dies-between-publish-and-mark",
    breaks: "nothing: what was published is published again",
    file: relay,
    find: publish,
    replace: `${publish}\n${dies}`,
  },
  {
    name: "dies-between-commit-and-acknowledge",
    breaks: "nothing: what was decided is delivered again",
    file: writer,
    find: acknowledge,
    replace: `${dies}\n${acknowledge}`,
  },
  {
    name: "dies-between-deducting-and-answering",
    breaks: "nothing: the same key finds the same ticket",
    file: "src/engine/admission.js",
    find: admitted,
    replace: `if (reply.value.some((each) => each.kind === "admitted")) {\n${dies}\n}\n${admitted}`,
  },
  {
    name: "publishes-thrice",
    breaks: "nothing: what was decided is decided",
    file: relay,
    find: publish,
    replace: `${tells}\n${publish}\n${publish}\n${publish}`,
  },
  {
    name: "publishes-again-late-and-in-any-order",
    breaks: "nothing: what was decided is decided",
    file: relay,
    find: publish,
    replace: `${tells}
      const sealed = sealEnvelope(envelope, messageKeys);
      await bus.publish(lane, sealed);
      for (let copy = 0; copy < 2; copy += 1) {
        const again = () => void bus.publish(lane, sealed).catch(() => undefined);
        setTimeout(again, Math.random() * ${lateMs});
      }`,
  },
  {
    name: "stands-still-between-reading-and-expiring",
    breaks: "nothing: who was first is decided under the lock",
    file: "src/workers/expirer.js",
    find: nothingDue,
    replace: `${nothingDue}\n${tells}\nprocess.kill(process.pid, "SIGSTOP");`,
  },
  {
    name: "believes-in-its-first-leases",
    breaks: "nothing: the store that is written to compares the token",
    file: "src/engine/leases.js",
    find: ownLease,
    replace: `const own = (this.firsts ??= new Map());
      if (held !== undefined && !own.has(name)) own.set(name, held);
      const first = own.get(name);
      if (first !== undefined && this.#clock.mono() >= first.until && held?.lease !== first.lease) {
        ${tells}
      }
      return first?.lease ?? null;`,
  },
  {
    name: "blocks-when-told",
    breaks: "nothing: a process that does not move is a process that is away",
    file: "src/workers/worker.js",
    find: turn,
    replace: `if (globalThis.isListening !== true) {
        globalThis.isListening = true;
        process.on("SIGUSR2", () => {
          ${tells}
          const until = performance.now() + ${blockedMs};
          while (performance.now() < until);
        });
      }
      ${turn}`,
  },
];
