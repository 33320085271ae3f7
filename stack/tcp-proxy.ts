import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * What a network does between a client and a server.
 *
 * - `pass`: everything goes through.
 * - `black-hole`: nothing does, either way; connections stay.
 * - `lose-replies`: requests go through and are done; nothing of the server's comes back.
 * - `cut-reply`: requests go through, and when the reply comes both sides are cut off.
 * - `cut-request`: the connection is cut when a request comes; the server never sees it.
 */
export type Weather = "pass" | "black-hole" | "lose-replies" | "cut-reply" | "cut-request";

/** A slow line, either way: what came first arrives first. */
export type Slowness = {
  readonly delayMs: number;
  /** Each piece takes up to this much longer. */
  readonly jitterMs: number;
  readonly bytesPerSecond: number;
  /** The chance of a piece that it is lost once and has to be sent again. */
  readonly lossShare?: number;
};

/** How long a sender waits before it sends again what was lost. */
const resendMs = 250;

export class TcpProxy {
  readonly port: number;
  /** Where new connections go; those that are there stay where they are. */
  target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #frozen = new WeakSet<Socket>();
  weather: Weather = "pass";
  slowness: Slowness | null = null;
  /** Replies and requests that were cut off. */
  cuts = 0;
  /** What was lost on its way: pieces, as they came. */
  swallowed = 0;
  /** What came late: pieces, as they came. */
  delayed = 0;
  /** Only requests that hold these bytes meet the weather. */
  trigger: string | null = null;
  /** Of the requests that would be cut, each so many-th is. */
  everyNth = 1;
  #meant = 0;

  private constructor(server: Server, { port, target }: { port: number; target: number }) {
    this.#server = server;
    this.port = port;
    this.target = target;
  }

  static async before(target: number): Promise<TcpProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const proxy = new TcpProxy(server, { port: address.port, target });
    server.on("connection", (client) => proxy.#join(client));
    return proxy;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Everything that is connected is cut off at once; says how many ends that were. */
  cutAll(): number {
    const ends = this.#sockets.size;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    return ends;
  }

  /** What is connected stays so and carries nothing any more; says how many ends that were. */
  freezeAll(): number {
    for (const socket of this.#sockets) this.#frozen.add(socket);
    return this.#sockets.size;
  }

  #join(client: Socket): void {
    const server = connect(this.target, "127.0.0.1");
    let isArmed = false;
    const cut = (): void => {
      this.cuts += 1;
      client.resetAndDestroy();
      server.destroy();
    };
    for (const [own, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(own);
      own.on("error", () => other.destroy());
      own.on("close", () => {
        this.#sockets.delete(own);
        // The other end of a frozen connection does not hear of it, either.
        if (!this.#frozen.has(own)) other.destroy();
      });
    }
    const [up, down] = [this.#wayTo(server), this.#wayTo(client)];
    client.on("data", (chunk) => {
      if (this.#isLost(client, ["black-hole"])) return;
      const isMet = this.weather !== "pass" && this.#meets(chunk);
      if (this.weather === "cut-request" && isMet) return cut();
      if (this.weather === "cut-reply" && isMet) isArmed = true;
      up(chunk);
    });
    server.on("data", (chunk) => {
      if (this.#isLost(server, ["black-hole", "lose-replies"])) return;
      if (isArmed) return cut();
      down(chunk);
    });
  }

  #isLost(from: Socket, weathers: readonly Weather[]): boolean {
    if (!this.#frozen.has(from) && !weathers.includes(this.weather)) return false;
    this.swallowed += 1;
    return true;
  }

  /** In order, whatever each piece takes. */
  #wayTo(end: Socket): (chunk: Buffer) => void {
    const under: { readonly chunk: Buffer; readonly atMs: number }[] = [];
    const deliver = (): void => {
      for (let next = under[0]; next !== undefined; next = under[0]) {
        const aheadMs = next.atMs - performance.now();
        if (aheadMs > 0) return void setTimeout(deliver, aheadMs);
        under.shift();
        end.write(next.chunk);
      }
    };
    return (chunk) => {
      const { slowness } = this;
      const last = under.at(-1);
      if (slowness === null && last === undefined) {
        end.write(chunk);
        return;
      }
      const takesMs = slowness === null ? 0 : timeOf(slowness, chunk.length);
      if (takesMs > 0) this.delayed += 1;
      under.push({ chunk, atMs: Math.max(last?.atMs ?? 0, performance.now() + takesMs) });
      if (last === undefined) deliver();
    };
  }

  #meets(chunk: Buffer): boolean {
    if (this.trigger !== null && !chunk.includes(this.trigger)) return false;
    this.#meant += 1;
    return this.#meant % this.everyNth === 0;
  }
}

function timeOf(slowness: Slowness, bytes: number): number {
  const { delayMs, jitterMs, bytesPerSecond, lossShare = 0 } = slowness;
  let takesMs = delayMs + Math.random() * jitterMs + (bytes / bytesPerSecond) * 1_000;
  for (let again = resendMs; Math.random() < lossShare; again *= 2) takesMs += again;
  return takesMs;
}
