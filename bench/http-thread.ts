import { connect, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import type { HttpOrder, HttpTally } from "./http-order.ts";

// The load generator, in a thread beside the server: bare sockets, so that it costs little.

const headEnd = "\r\n\r\n";

async function run(order: HttpOrder): Promise<HttpTally> {
  const state = { next: order.firstBuyer ?? 0, answered: 0, strange: 0, example: "", lastAt: 0 };
  const from = performance.now();
  const until = from + order.seconds * 1000;
  const onAnswer = (status: number, text: string): void => {
    state.answered += order.batch ?? 1;
    state.lastAt = performance.now();
    if (status === order.status && areReserved(order, text)) return;
    if (state.strange === 0) state.example = text;
    state.strange += 1;
  };
  const connection = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: order.port, host: "127.0.0.1", noDelay: true });
      const more = (): void => {
        if (performance.now() < until) socket.write(requestText(order, state.next++));
        else socket.end();
      };
      socket.on("connect", more);
      readAnswers(socket, (status, text) => {
        onAnswer(status, text);
        more();
      });
      socket.on("error", reject);
      socket.on("close", () => resolve());
    });
  await Promise.all(Array.from({ length: order.connections }, connection));
  const { answered, strange, example, lastAt } = state;
  return { answered, strange, example, seconds: (lastAt - from) / 1000 };
}

/** Of a batch every order must be. */
function areReserved({ batch }: HttpOrder, text: string): boolean {
  return batch === undefined || text.split('"status":201').length === batch + 1;
}

function requestText(order: HttpOrder, n: number): string {
  const items = [{ sku: order.sku, quantity: 1 }];
  const { saleId, batch } = order;
  const one = (m: number) => ({ idempotencyKey: `key-${m}`, buyerId: `buyer-${m}`, items });
  const many = () => Array.from({ length: batch ?? 0 }, (_, m) => one(n * (batch ?? 0) + m));
  const body = JSON.stringify(
    batch === undefined ? { saleId, buyerId: `buyer-${n}`, items } : { saleId, items: many() },
  );
  const head = [
    `POST ${order.path} HTTP/1.1`,
    `host: 127.0.0.1:${order.port}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
    `idempotency-key: key-${n}`,
    "prefer: wait=30",
  ];
  return `${head.join("\r\n")}${headEnd}${body}`;
}

/** One answer at a time on a connection, each with its length. */
function readAnswers(socket: Socket, onAnswer: (status: number, text: string) => void): void {
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    const cut = text.indexOf(headEnd);
    if (cut < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
    const end = cut + headEnd.length + Number(length);
    if (text.length < end) return;
    const whole = text;
    text = "";
    onAnswer(Number(whole.slice(9, 12)), whole);
  });
}

const order: HttpOrder = workerData;
parentPort?.postMessage(await run(order));
