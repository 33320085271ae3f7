import { createHash } from "node:crypto";
import { realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { platform, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { LedgerUrl } from "../config-values.ts";
import { exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";
import type { Text } from "./text.ts";

/**
 * One process per ledger file: each has its hot stock in memory, and two would fence each other
 * for ever. The claim is a socket that dies with its owner, so a kill leaves nothing behind.
 */
export type Claim = { readonly release: () => Promise<void> };

const unclaimed: Claim = { release: () => Promise.resolve() };

export async function claimLedger(ledger: LedgerUrl, text: Text): Promise<Claim> {
  if (ledger.kind !== "sqlite" || ledger.file === ":memory:") return unclaimed;
  const address = addressOf(ledger.file);
  const server = await listen(address).catch(async (error: unknown) => {
    const owner = await ownerOf(address);
    // A socket file without a listener was left by a kill.
    if (owner === null && isTaken(error) && address.startsWith("/")) {
      rmSync(address, { force: true });
      return listen(address);
    }
    throw new CliError({
      code: "LEDGER_IN_USE",
      what: text("server.ledgerInUse.what", { file: ledger.file, pid: owner ?? "?" }),
      why: text("server.ledgerInUse.why"),
      next: text("server.ledgerInUse.next"),
      exitCode: exitCodes.failed,
    });
  });
  return { release: () => new Promise((done) => server.close(() => done())) };
}

/** The same for every name of the file. On Linux and Windows the kernel keeps it, no file. */
function addressOf(file: string): string {
  const path = resolve(file);
  const real = join(realFolder(dirname(path)), basename(path));
  const name = `holdfast-${createHash("sha256").update(real).digest("hex").slice(0, 32)}`;
  if (platform() === "linux") return `\0${name}`;
  return platform() === "win32" ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function listen(address: string): Promise<Server> {
  const server = createServer((asker) => asker.end(String(process.pid)));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      // The claim keeps nobody alive.
      server.unref();
      resolve(server);
    });
  });
}

/** The process that holds the claim, by its own word; null when nobody answers. */
function ownerOf(address: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(address);
    let said = "";
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on("data", (chunk) => {
      said += chunk.toString();
    });
    socket.on("error", () => resolve(null));
    socket.on("close", () => resolve(said === "" ? null : said));
  });
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}
