import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * What a network does between a client and a server.
 *
 * - `pass`: everything goes through.
 * - `black-hole`: nothing does, either way; connections stay.
 * - `cut-reply`: requests go through, and when the reply comes both sides are cut off.
 * - `cut-request`: the connection is cut when a request comes; the server never sees it.
 */
export type Weather = "pass" | "black-hole" | "cut-reply" | "cut-request";

export class TcpProxy {
  readonly port: number;
  /** Where new connections go; those that are there stay where they are. */
  target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  weather: Weather = "pass";
  /** Replies and requests that were cut off. */
  cuts = 0;
  /** What went into a black hole, either way: pieces, as they came. */
  swallowed = 0;
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
        other.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (this.#swallows()) return;
      const isMet = this.weather !== "pass" && this.#meets(chunk);
      if (this.weather === "cut-request" && isMet) return cut();
      if (this.weather === "cut-reply" && isMet) isArmed = true;
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (this.#swallows()) return;
      if (isArmed) return cut();
      client.write(chunk);
    });
  }

  #swallows(): boolean {
    if (this.weather !== "black-hole") return false;
    this.swallowed += 1;
    return true;
  }

  #meets(chunk: Buffer): boolean {
    if (this.trigger !== null && !chunk.includes(this.trigger)) return false;
    this.#meant += 1;
    return this.#meant % this.everyNth === 0;
  }
}
