import { connect, createServer, type Socket } from "node:net";

/**
 * What becomes of a statement on its way:
 *
 * - `pass`: nothing special.
 * - `cut-before`: the connection ends and the server never hears of it.
 * - `cut-after`: the server runs it; the connection ends before its answer comes.
 * - a number: the server never hears of it and seems to answer this error.
 */
export type Fate = "pass" | "cut-before" | "cut-after" | number;

export type Judge = (statement: string, connection: number) => Fate;

export type MysqlProxy = {
  readonly port: number;
  /** Decides from now on, on every connection. */
  judge: Judge;
  /** Where connections lead from now on. */
  target: number;
  readonly close: () => Promise<void>;
};

const queryCommand = 0x03;
const headerLength = 4;

/** Between an adapter and its server, at the level of the protocol's packets. */
export async function startMysqlProxy(target: number): Promise<MysqlProxy> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(proxy.target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    relay(proxy, { client, upstream, connection: connections });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const proxy: MysqlProxy = {
    port: address.port,
    judge: () => "pass",
    target,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

type Pair = { readonly client: Socket; readonly upstream: Socket; readonly connection: number };

function relay(proxy: MysqlProxy, { client, upstream, connection }: Pair): void {
  let pending = Buffer.alloc(0);
  let cutsNext = false;
  upstream.on("data", (chunk) => {
    if (cutsNext) client.destroy();
    else client.write(chunk);
  });
  client.on("data", (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const length = pending.length < headerLength ? Infinity : pending.readUIntLE(0, 3);
      if (pending.length < headerLength + length) return;
      const packet = pending.subarray(0, headerLength + length);
      pending = pending.subarray(headerLength + length);
      const fate = fateOf(packet, (statement) => proxy.judge(statement, connection));
      if (fate === "cut-before") {
        client.destroy();
        return;
      }
      if (typeof fate === "number") client.write(errorPacket(fate));
      else upstream.write(packet);
      cutsNext = fate === "cut-after";
    }
  });
}

function fateOf(packet: Buffer, judge: (statement: string) => Fate): Fate {
  const isQuery = packet[3] === 0 && packet[headerLength] === queryCommand;
  return isQuery ? judge(packet.subarray(headerLength + 1).toString()) : "pass";
}

function errorPacket(errno: number): Buffer {
  const payload = Buffer.from(`\0\0\0#40001injected error ${errno}`);
  payload[0] = 0xff;
  payload.writeUInt16LE(errno, 1);
  const header = Buffer.alloc(headerLength);
  header.writeUIntLE(payload.length, 0, 3);
  header[3] = 1;
  return Buffer.concat([header, payload]);
}
