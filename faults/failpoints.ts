import type { PlantedBug } from "../sim/bugs.ts";

const relay = "src/workers/relay.js";
const writer = "src/workers/ledger-writer.js";
const publish = "await bus.publish(lane, sealEnvelope(envelope, messageKeys));";
const acknowledge = "await bus.acknowledge(this.#lane, deliveries);";

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

/**
 * Places where a process dies, or says something more than once. The program carries no hook for
 * them: they are patched into the compiled text as it is loaded, as the simulator's bugs are.
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
    name: "publishes-thrice",
    breaks: "nothing: what was decided is decided",
    file: relay,
    find: publish,
    replace: `${tells}\n${publish}\n${publish}\n${publish}`,
  },
];
