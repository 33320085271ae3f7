import { connect, type Socket } from "node:net";

export type RawAnswer = {
  readonly text: string;
  /** Of the first answer; null when the connection was closed without one. */
  readonly status: number | null;
};

/** Sends bytes as they are and reads until the server closes the connection. */
export function rawRequest(port: number, parts: readonly string[]): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    // A server that refuses a request may reset what is still being sent.
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("close", () => resolve({ text, status: statusOf(text) }));
    for (const part of parts) socket.write(part, "latin1");
  });
}

/** A connection whose reader never reads. */
export function deafConnection(port: number, request: string): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause();
  socket.on("error", () => {});
  socket.write(request, "latin1");
  return socket;
}

function statusOf(text: string): number | null {
  const digits = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
