import { createServer } from "node:net";
import { exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";
import type { Text } from "./text.ts";

export type PortWish = {
  readonly host: string;
  readonly port: number;
  /** Where the port is taken: the next free one, instead of a refusal. */
  readonly mayMove: boolean;
};

const portsTried = 50;

/** A port that can be listened on, found before anything else is opened. */
export async function freePort({ host, port, mayMove }: PortWish, text: Text): Promise<number> {
  const last = mayMove ? Math.min(65_535, port + portsTried) : port;
  for (let candidate = port; candidate <= last; candidate++) {
    if (candidate === 0 || (await isFree(host, candidate))) return candidate;
  }
  throw portTaken({ host, port, mayMove }, text);
}

export function portTaken({ host, port }: PortWish, text: Text): CliError {
  return new CliError({
    code: "PORT_TAKEN",
    what: text("server.portTaken.what", { port: String(port), host }),
    why: text("server.portTaken.why"),
    next: text("server.portTaken.next", { port: String(port + 1) }),
    exitCode: exitCodes.failed,
  });
}

export function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

function isFree(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once("error", (error) => {
      if (isTaken(error)) resolve(false);
      else reject(error);
    });
    probe.listen({ host, port }, () => probe.close(() => resolve(true)));
  });
}
