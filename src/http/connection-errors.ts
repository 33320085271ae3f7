import type { Socket } from "node:net";
import type { ProblemCode } from "./contract.ts";
import { problemBody, problemType, statuses } from "./problem.ts";
import { securityHeaders } from "./security-headers.ts";

/**
 * What the HTTP parser refuses never becomes a request: it is answered on the bare socket, and
 * the connection is closed, because nobody knows where the next request would begin.
 */
export function answerConnectionError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codes[error.code ?? ""] ?? "INVALID";
  socket.end(answer(code), () => socket.destroy());
}

const codes: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
};

const details: Readonly<Partial<Record<ProblemCode, string>>> = {
  REQUEST_TIMEOUT: "the request did not arrive in time",
  HEADERS_TOO_LARGE: "the headers and the URL have at most 8 KB",
};

function answer(code: ProblemCode): string {
  const detail = details[code] ?? "this is not a request in HTTP/1.1";
  const asked = { requestId: "", language: "en" as const };
  const body = JSON.stringify(problemBody({ code, detail }, asked));
  const headers = Object.entries({
    ...securityHeaders,
    "content-type": problemType,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statuses[code]} ${code}\r\n${lines.join("")}\r\n${body}`;
}
