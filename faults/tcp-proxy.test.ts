import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TcpProxy } from "../stack/tcp-proxy.ts";

let server: Server;
let heard: string;
let proxy: TcpProxy;
const clients: Socket[] = [];

/** Says back what it hears. */
beforeEach(async () => {
  heard = "";
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      heard += chunk.toString();
      socket.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  proxy = await TcpProxy.before(typeof address === "object" ? (address?.port ?? 0) : 0);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  await new Promise((resolve) => server.close(resolve));
});

type Ears = { readonly client: Socket; text: string };

async function open(): Promise<Ears> {
  const client = connect(proxy.port, "127.0.0.1");
  clients.push(client);
  client.on("error", () => undefined);
  const ears: Ears = { client, text: "" };
  client.on("data", (chunk) => {
    ears.text += chunk.toString();
  });
  await new Promise((resolve) => client.once("connect", resolve));
  return ears;
}

async function answered(ears: Ears, word: string): Promise<void> {
  ears.client.write(word);
  await expect.poll(() => ears.text, { timeout: 10_000 }).toContain(word);
}

describe("the network between", () => {
  it("loses the answers and nothing else: what was asked is done", async () => {
    const ears = await open();
    await answered(ears, "one");
    proxy.weather = "lose-replies";
    ears.client.write("two");
    await expect.poll(() => proxy.swallowed, { timeout: 10_000 }).toBe(1);
    expect([heard, ears.text]).toEqual(["onetwo", "one"]);
  });

  it("lets a frozen connection stay and carry nothing, and a new one pass", async () => {
    const ears = await open();
    await answered(ears, "one");
    expect(proxy.freezeAll()).toBe(2);
    ears.client.write("two");
    await expect.poll(() => proxy.swallowed, { timeout: 10_000 }).toBe(1);
    await answered(await open(), "three");
    expect([heard, ears.text, ears.client.destroyed]).toEqual(["onethree", "one", false]);
  });

  it("delivers late and in order, whatever each piece takes", async () => {
    proxy.slowness = { delayMs: 5, jitterMs: 30, bytesPerSecond: 1e6, lossShare: 0.3 };
    const ears = await open();
    const words = Array.from({ length: 20 }, (_, n) => `word ${n};`);
    for (const word of words) {
      ears.client.write(word);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => ears.text, { timeout: 30_000 }).toBe(words.join(""));
    expect(proxy.delayed).toBeGreaterThan(0);
  });
});
