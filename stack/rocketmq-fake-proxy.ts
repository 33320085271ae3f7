import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";

/**
 * What a send is answered with instead of the server's own word. With some statuses the server has
 * stored the message all the same, and only cannot vouch for it; with others it has not.
 */
export type SendAnswer = {
  readonly name: string;
  readonly code: number;
  readonly isStored: boolean;
};

/** By their names in the broker, where the proxy has others. */
export const notOkAnswers: readonly SendAnswer[] = [
  { name: "FLUSH_DISK_TIMEOUT", code: 50_401, isStored: true },
  { name: "FLUSH_SLAVE_TIMEOUT", code: 50_402, isStored: true },
  { name: "SLAVE_NOT_AVAILABLE", code: 50_002, isStored: true },
  { name: "TOO_MANY_REQUESTS", code: 42_900, isStored: false },
  { name: "INTERNAL_SERVER_ERROR", code: 50_001, isStored: true },
  { name: "MESSAGE_NOT_FOUND", code: 40_401, isStored: false },
  { name: "MULTIPLE_RESULTS", code: 30_000, isStored: false },
  { name: "a code that nobody knows", code: 20_001, isStored: true },
  { name: "no code", code: 0, isStored: false },
];

/**
 * Stands between a client and RocketMQ's gRPC proxy and answers sends as it is told; all else goes
 * through. Where the server tells a client to go to itself, the client is told to come back here.
 */
export class RocketmqFakeProxy {
  readonly port: number;
  readonly #server: Http2Server;
  readonly #target: number;
  readonly #sessions = new Set<ServerHttp2Session>();
  #turn = 0;
  /** Given in turn; with none, every send is passed on. */
  answers: readonly SendAnswer[] = [];
  /** Sends are taken, and never answered. */
  isSilent = false;
  /** Whoever ends a transaction is never answered, and the server never hears of it. */
  losesEnds = false;
  /** How many of those there were. */
  endsLost = 0;
  /** How often each name was told. */
  readonly told = new Map<string, number>();

  private constructor(server: Http2Server, { port, target }: { port: number; target: number }) {
    this.#server = server;
    this.port = port;
    this.#target = target;
  }

  static async before(target: number): Promise<RocketmqFakeProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const proxy = new RocketmqFakeProxy(server, { port: address.port, target });
    server.on("session", (session) => proxy.#join(session));
    return proxy;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #join(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    const upstream = connect(`http://127.0.0.1:${this.#target}`);
    const end = (): void => {
      this.#sessions.delete(session);
      session.destroy();
      upstream.destroy();
    };
    for (const side of [session, upstream]) side.on("error", end).on("close", end);
    session.on("stream", (stream, headers) => {
      stream.on("error", () => undefined);
      this.#serve(stream, { headers, upstream });
    });
  }

  #serve(stream: ServerHttp2Stream, asked: Asked): void {
    const call = asked.headers[":path"]?.split("/").at(-1) ?? "";
    if (call.startsWith("Query")) this.#route(stream, asked);
    else if (call === "SendMessage") this.#send(stream, asked);
    else if (call === "EndTransaction" && this.losesEnds) this.#lose(stream);
    else pass(stream, asked);
  }

  #lose(stream: ServerHttp2Stream): void {
    this.endsLost += 1;
    stream.resume();
  }

  #send(stream: ServerHttp2Stream, asked: Asked): void {
    if (this.isSilent) {
      stream.resume();
      return;
    }
    const answer = this.answers[this.#turn % this.answers.length];
    if (answer === undefined) {
      pass(stream, asked);
      return;
    }
    this.#turn += 1;
    this.told.set(answer.name, (this.told.get(answer.name) ?? 0) + 1);
    const meanwhile = answer.isStored ? forward(stream, asked) : stream;
    meanwhile.resume().on("end", () => tell(stream, answer));
  }

  #route(stream: ServerHttp2Stream, asked: Asked): void {
    const [theirs, ours] = [number(2, this.#target), number(2, this.port)];
    if (theirs.length !== ours.length) throw new Error("ports of different lengths");
    pass(stream, asked, (chunk) => replaced(chunk, theirs, ours));
  }
}

function replaced(chunk: Buffer, old: Buffer, young: Buffer): Buffer {
  for (let at = chunk.indexOf(old); at >= 0; at = chunk.indexOf(old, at))
    at += young.copy(chunk, at);
  return chunk;
}

type Asked = { readonly headers: IncomingHttpHeaders; readonly upstream: ClientHttp2Session };

function pass(
  stream: ServerHttp2Stream,
  asked: Asked,
  change: (chunk: Buffer) => Buffer = (chunk) => chunk,
): void {
  const request = forward(stream, asked);
  let trailers: IncomingHttpHeaders | null = null;
  request.on("trailers", (told) => {
    trailers = told;
  });
  request.on("response", (headers, flags) => {
    if (stream.destroyed) return;
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(plain(headers), { endStream, waitForTrailers: !endStream });
    if (endStream) return;
    request.on("data", (chunk: Buffer) => stream.write(change(chunk)));
    request.on("end", () => stream.end());
  });
  stream.on("wantTrailers", () => stream.sendTrailers(plain(trailers ?? {})));
}

function forward(stream: ServerHttp2Stream, { headers, upstream }: Asked): ClientHttp2Stream {
  const request = upstream.request(plain(headers), { endStream: false });
  request.on("error", () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  stream.on("close", () => request.close(constants.NGHTTP2_CANCEL));
  stream.pipe(request);
  return request;
}

/** Without what the library hangs on to it. */
function plain(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = Object.entries(headers).filter(([name]) => name !== ":status-message");
  return Object.fromEntries(named.map(([name, value]) => [name, value ?? ""]));
}

/** As the real proxy words it: the same status for the answer and for its one message. */
function tell(stream: ServerHttp2Stream, { code, name }: SendAnswer): void {
  if (stream.destroyed) return;
  const status = Buffer.concat([number(1, code), bytes(2, Buffer.from(name))]);
  const entry = Buffer.concat([bytes(1, status), bytes(2, Buffer.from("0".repeat(34)))]);
  const message = Buffer.concat([bytes(1, status), bytes(2, entry)]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const type = { "content-type": "application/grpc" };
  stream.respond({ ":status": 200, ...type }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.concat([head, message]));
}

/** Fields of a protocol buffer: a number, and bytes with their length. */
function number(field: number, value: number): Buffer {
  return Buffer.from([field << 3, ...varint(value)]);
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(value.length)]), value]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
