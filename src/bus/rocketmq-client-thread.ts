import { Worker } from "node:worker_threads";
import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type {
  Resolution,
  ThreadAnswer,
  ThreadData,
  ThreadQuestion,
  ThreadReply,
  ThreadRequest,
  ThreadWork,
} from "./rocketmq-protocol.ts";

/** A runner that reads TypeScript by itself has no thread that does: there the built one serves. */
const isSource = import.meta.url.endsWith(".ts");
const script = isSource ? "../../dist/src/bus/rocketmq-thread.js" : "./rocketmq-thread.js";
/** What leaks is ended with the thread, before it hurts the process. */
const heapMb = 192;

type Waiting = { resolve(answer: ThreadAnswer): void; reject(error: Fault): void };
/** Answers the broker for a transactional message, by its body. */
export type Judge = (body: Uint8Array) => Promise<Resolution>;
export type Succeeded = Exclude<ThreadAnswer, { told: "failed" }>;

/** One life of the client. Whatever it does, each call ends by its deadline. */
export class ClientThread {
  readonly bornAt: number;
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #judge: Judge;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #held = 0;
  #death: string | null = null;

  constructor(data: ThreadData, clock: Clock, judge: Judge) {
    this.#clock = clock;
    this.#judge = judge;
    this.bornAt = clock.mono();
    this.#worker = new Worker(new URL(script, import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.on("message", (reply: ThreadReply) => {
      if ("question" in reply) void this.#answerFor(reply);
      else this.#settle(reply);
    });
    this.#worker.once("error", (error) => this.#die(messageOf(error)));
    this.#worker.once("exit", () => this.#die("it has ended"));
  }

  /** Why it is no longer alive. */
  get death(): string | null {
    return this.#death;
  }

  /** Nobody waits for it, and nothing that it has taken is out. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#held <= 0;
  }

  async ask(work: ThreadWork, deadlineMs: number): Promise<Succeeded> {
    if (this.#death !== null) throw new Fault("BUS_UNAVAILABLE", `RocketMQ: ${this.#death}`);
    const answer = await this.#tell(work, deadlineMs);
    if ("receipts" in work) this.#held -= work.receipts.length;
    if (answer.told === "polled") this.#held += answer.messages.length;
    if (answer.told !== "failed") return answer;
    const code = answer.isUnknown ? "BUS_UNKNOWN" : "BUS_UNAVAILABLE";
    throw new Fault(code, `RocketMQ: ${work.kind}: ${answer.why}`);
  }

  /** At once, with its sockets and timers. */
  async end(): Promise<void> {
    this.#die("the client was ended");
    await this.#worker.terminate();
  }

  async #tell(work: ThreadWork, deadlineMs: number): Promise<ThreadAnswer> {
    const id = this.#nextId++;
    const answered = new AbortController();
    const late = this.#clock.sleep(deadlineMs, answered.signal).then(() => {
      const why = `RocketMQ: ${work.kind}: no answer within ${deadlineMs} ms`;
      this.#waiting.get(id)?.reject(new Fault("BUS_UNKNOWN", why));
    });
    try {
      return await new Promise<ThreadAnswer>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        this.#post({ id, work });
      });
    } finally {
      this.#waiting.delete(id);
      answered.abort();
      await late;
    }
  }

  #post(request: ThreadRequest): void {
    this.#worker.postMessage(request);
  }

  async #answerFor({ question, body }: ThreadQuestion): Promise<void> {
    const resolution = await this.#judge(body).catch(() => "unknown" as const);
    this.#post({ question, resolution });
  }

  #settle({ id, ...answer }: Exclude<ThreadReply, ThreadQuestion>): void {
    this.#waiting.get(id)?.resolve(answer);
  }

  #die(why: string): void {
    this.#death ??= why;
    const fault = new Fault("BUS_UNKNOWN", `RocketMQ: the client has died: ${this.#death}`);
    for (const waiting of this.#waiting.values()) waiting.reject(fault);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
