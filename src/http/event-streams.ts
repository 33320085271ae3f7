import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import { securityHeaders } from "./security-headers.ts";

/**
 * Server-sent events. A stream ends with the session that opened it. It has a bound on what waits
 * for a slow reader (then it is cut: the browser comes back with `Last-Event-ID`), a heartbeat
 * that keeps proxies from closing it, and ends when the server stops, because an open stream
 * would keep it from closing.
 */
export type StreamLimits = {
  readonly streamsMax: number;
  readonly heartbeatMs: number;
  readonly retryMs: number;
  readonly bufferBytesMax: number;
  /** Of one who has signed in. */
  readonly perSessionMax: number;
  /** Asked at every heartbeat: a session that was ended elsewhere ends its streams here. */
  readonly isStillIn: (session: string) => Promise<boolean>;
};

export type StreamEvent = {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
};

export class EventStreams {
  readonly #clock: Clock;
  readonly #limits: StreamLimits;
  readonly #open = new Set<EventStream>();
  #stopping = false;

  constructor(clock: Clock, limits: StreamLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Null when there are too many already, or the server is stopping. */
  open(request: FastifyRequest, reply: FastifyReply): EventStream | null {
    if (this.#stopping || this.#open.size >= this.#limits.streamsMax) return null;
    const session = request.who.session?.session ?? null;
    if (session !== null && this.#of(session).length >= this.#limits.perSessionMax) return null;
    reply.hijack();
    const stream = new EventStream(reply, { requestId: request.id, session }, this.#limits);
    this.#open.add(stream);
    stream.signal.addEventListener("abort", () => this.#open.delete(stream), { once: true });
    void this.#beat(stream);
    return stream;
  }

  /** Whoever has signed out sees nothing more. */
  endSession(session: string): void {
    for (const stream of this.#of(session)) stream.end();
  }

  /** Ends every stream and opens no more. */
  close(): void {
    this.#stopping = true;
    for (const stream of this.#open) stream.end();
  }

  #of(session: string): EventStream[] {
    return [...this.#open].filter((stream) => stream.session === session);
  }

  async #beat(stream: EventStream): Promise<void> {
    for (;;) {
      await this.#clock.sleep(this.#limits.heartbeatMs, stream.signal);
      if (stream.signal.aborted) return;
      if (!(await this.#mayGoOn(stream))) return stream.end();
      stream.comment("alive");
    }
  }

  /** A ledger that is away says nothing of a session: the next beat asks again. */
  async #mayGoOn({ session }: EventStream): Promise<boolean> {
    if (session === null) return true;
    try {
      return await this.#limits.isStillIn(session);
    } catch (error) {
      if (error instanceof Fault) return true;
      throw error;
    }
  }
}

const behindBytes = 64 * 1024;

type Opened = { readonly requestId: string; readonly session: string | null };

export class EventStream {
  readonly #raw: FastifyReply["raw"];
  readonly #bufferBytesMax: number;
  readonly #ended = new AbortController();
  /** Null: whoever reads has not signed in, but has a key or is of this machine. */
  readonly session: string | null;

  constructor(reply: FastifyReply, opened: Opened, limits: StreamLimits) {
    const { requestId, session } = opened;
    this.session = session;
    this.#raw = reply.raw;
    this.#bufferBytesMax = limits.bufferBytesMax;
    const end = (): void => this.#ended.abort();
    this.#raw.on("close", end);
    this.#raw.on("error", end);
    this.#raw.writeHead(200, {
      ...securityHeaders,
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      "x-request-id": requestId,
    });
    this.#write(`retry: ${limits.retryMs}\n\n`);
  }

  /** Aborts when nobody reads any more: the client has gone, or the stream was ended. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** What was sent last is still waiting for the reader. */
  get isBehind(): boolean {
    return this.#raw.writableLength > behindBytes;
  }

  send({ id, event, data }: StreamEvent): void {
    this.#write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  comment(text: string): void {
    this.#write(`: ${text}\n\n`);
  }

  /** Without waiting for what has not been read. */
  cut(): void {
    this.#ended.abort();
    this.#raw.destroy();
  }

  end(): void {
    this.#ended.abort();
    this.#raw.end();
  }

  #write(text: string): void {
    if (this.#ended.signal.aborted) return;
    if (this.#raw.writableLength <= this.#bufferBytesMax) {
      this.#raw.write(text);
      return;
    }
    this.cut();
  }
}

/** Only a plain id comes back from a browser; anything else is as if it had not been sent. */
export function lastEventId(request: FastifyRequest): string | null {
  const id = request.headers["last-event-id"];
  return typeof id === "string" && /^[A-Za-z0-9._-]{1,64}$/.test(id) ? id : null;
}
