import cluster, { type Worker } from "node:cluster";
import { systemClock } from "../clock.ts";
import { type Config, refuseUnsafe } from "../config.ts";
import { type FleetFamilies, FleetMetrics } from "../http/fleet-metrics.ts";
import { aborted } from "./aborted.ts";
import { type Context, exitCodes } from "./context.ts";
import { answerOf, type FromMember, isFromMember, type ToMember } from "./fleet-words.ts";
import { freePort } from "./free-port.ts";
import { refuseSettings } from "./refuse-settings.ts";

/** A process that ends is followed after this pause, longer each time it ends soon. */
const pauseMinMs = 200;
const pauseMaxMs = 10_000;
/** One that has lived for so long ended for another reason than the last one. */
const soundAfterMs = 30_000;
/** Beyond the delay of the shutdown: draining takes ten seconds at most. */
const stopWithinMs = 25_000;
const metricsWithinMs = 2_000;

type Member = {
  readonly worker: Worker;
  readonly since: number;
  isReady: boolean;
  /** What it counted when it was asked last. */
  families: FleetFamilies;
};

/**
 * Several processes behind one port, each with everything in it. The first of them that is ready
 * makes the fleet ready; one that ends is followed; what they count is told as one. They share
 * nothing but the stores, so a fleet is what several servers behind a balancer are.
 */
export class Fleet {
  readonly #context: Context;
  readonly #config: Config;
  readonly #metrics = new FleetMetrics();
  readonly #members = new Map<number, Member>();
  readonly #asked = new Map<number, (families: FleetFamilies) => void>();
  readonly #stopping = new AbortController();
  #questions = 0;
  #url: ((url: string) => void) | null = null;
  #failed: ((code: number) => void) | null = null;

  constructor(context: Context, config: Config) {
    this.#context = context;
    this.#config = config;
  }

  /** The url when all are ready, or the exit code of one that could not begin. */
  async start(): Promise<string | number> {
    const ready = new Promise<string>((resolve) => {
      this.#url = resolve;
    });
    const failed = new Promise<number>((resolve) => {
      this.#failed = resolve;
    });
    for (let place = 0; place < this.#config.processes; place += 1) this.#launch(place, 0);
    const first = await Promise.race([ready, failed]);
    this.#failed = null;
    if (typeof first === "number") await this.stop();
    return first;
  }

  /** In the order in which each stops: not ready, no new connections, nothing in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const delayMs = this.#config.shutdownDelaySeconds * 1_000;
    const running = [...this.#members.values()];
    const ended = running.map(({ worker }) => endOf(worker));
    for (const { worker } of running) worker.process.kill("SIGTERM");
    const late = new AbortController();
    const impatience = systemClock.sleep(delayMs + stopWithinMs, late.signal).then(() => {
      for (const { worker } of this.#members.values()) worker.process.kill("SIGKILL");
    });
    await Promise.all(ended);
    late.abort();
    await impatience;
  }

  #launch(place: number, soonEnds: number): void {
    const worker = cluster.fork();
    const since = systemClock.mono();
    const member: Member = { worker, since, isReady: false, families: [] };
    this.#members.set(place, member);
    worker.on("message", (message: unknown) => {
      if (isFromMember(message)) void this.#hear(member, message);
    });
    worker.once("exit", (code: number | null, signal: string | null) => {
      void this.#ended(place, member, { soonEnds, how: signal ?? `code ${code}`, code });
    });
  }

  async #ended(
    place: number,
    member: Member,
    { soonEnds, how, code }: { soonEnds: number; how: string; code: number | null },
  ): Promise<void> {
    this.#members.delete(place);
    this.#metrics.gone(member.families);
    if (this.#stopping.signal.aborted) return;
    // What the very first one refuses, all would.
    if (this.#failed !== null && code !== null && code !== 0) return this.#failed(code);
    const isSoon = systemClock.mono() - member.since < soundAfterMs;
    const ends = isSoon ? soonEnds + 1 : 0;
    const pauseMs = Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(ends, 10));
    this.#metrics.restarted();
    const pid = String(member.worker.process.pid);
    const { text, note } = this.#context;
    note(text("serve.process.ended", { pid, how, pause: String(pauseMs) }));
    await systemClock.sleep(pauseMs, this.#stopping.signal);
    if (!this.#stopping.signal.aborted) this.#launch(place, ends);
  }

  async #hear(member: Member, message: FromMember): Promise<void> {
    switch (message.kind) {
      case "ready": {
        member.isReady = true;
        const all = [...this.#members.values()];
        const isWhole = all.length === this.#config.processes && all.every((each) => each.isReady);
        if (isWhole) this.#url?.(message.url);
        return;
      }
      case "families":
        this.#asked.get(message.question)?.(message.families);
        this.#asked.delete(message.question);
        return;
      case "metrics": {
        const rendered = await this.#render(member);
        if (member.worker.isConnected()) {
          say(member.worker, { kind: "rendered", question: message.question, ...rendered });
        }
        return;
      }
    }
  }

  /** The one that was asked tells of the stores; of the others only what they count. */
  async #render(asked: Member) {
    const members = [asked, ...[...this.#members.values()].filter((each) => each !== asked)];
    const told = members.map(async (member) => {
      const families = await this.#familiesOf(member, member === asked);
      if (families !== null) member.families = families;
      return member.families;
    });
    return this.#metrics.render(await Promise.all(told), this.#members.size);
  }

  async #familiesOf({ worker }: Member, isAsked: boolean): Promise<FleetFamilies | null> {
    if (!worker.isConnected()) return null;
    this.#questions += 1;
    const question = this.#questions;
    const families = answerOf(this.#asked, question, metricsWithinMs);
    say(worker, { kind: "count", question, isAsked });
    return families;
  }
}

/** Runs until it is told to stop. What every process would refuse is refused once, here. */
export async function serveFleet(context: Context, config: Config): Promise<number> {
  const { text } = context;
  const stopping = context.stopping();
  refuseUnsafe(config, "serve");
  await refuseSettings(config, systemClock, text);
  await freePort({ ...config, mayMove: false }, text);
  const fleet = new Fleet(context, config);
  const url = await fleet.start();
  if (typeof url === "number") return url;
  context.announce({ url });
  if (!context.isJson) {
    const processes = String(config.processes);
    context.say(text("serve.ready.processes", { url, processes }));
    context.say(text("serve.docs", { url }));
  }
  if (!stopping.aborted) await aborted(stopping);
  context.note(text("serve.stopping"));
  await fleet.stop();
  return exitCodes.done;
}

function say(worker: Worker, message: ToMember): void {
  // It may die in this moment: then it needs no answer.
  worker.send(message, () => undefined);
}

function endOf(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isDead()) resolve();
    else worker.once("exit", () => resolve());
  });
}
