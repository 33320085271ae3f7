import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** The built command line: what a user runs. */
export const mainFile = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

export type RunOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
};

export type Ran = {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Standard output line by line, the end of the last one left out. */
  readonly lines: readonly string[];
};

const plainEnv = { PATH: process.env["PATH"] ?? "", LANG: "C", NO_COLOR: "1" };

/** Runs one command line to its end. */
export async function runCommand(args: readonly string[], options: RunOptions): Promise<Ran> {
  const running = spawnCommand(args, options);
  const [code] = await once(running.child, "close");
  const out = running.out();
  const lines = out.replace(/\n$/, "").split("\n");
  return { code: typeof code === "number" ? code : null, out, err: running.err(), lines };
}

export type Running = {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves once standard output holds the text. */
  readonly said: (text: string) => Promise<void>;
  /** Sends a signal to this one process and waits for its end. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
};

export function spawnCommand(args: readonly string[], { cwd, env }: RunOptions): Running {
  const child = spawn(process.execPath, [mainFile, ...args], {
    cwd,
    env: { ...plainEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const heard = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    heard.out += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    heard.err += String(chunk);
  });
  return {
    child,
    out: () => heard.out,
    err: () => heard.err,
    said: (text) => said(child, () => heard.out, { text, err: () => heard.err }),
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const closed = once(child, "close");
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

type Wanted = { readonly text: string; readonly err: () => string };

function said(child: ChildProcess, out: () => string, { text, err }: Wanted): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (out().includes(text)) resolve();
    };
    child.stdout?.on("data", look);
    child.once("close", (code) => reject(new Error(`ended with ${code}: ${out()}${err()}`)));
    look();
  });
}

export type Server = Running & { readonly url: string };

/** Starts `serve` and waits until it is ready. */
export async function startServer(args: readonly string[], options: RunOptions): Promise<Server> {
  const running = spawnCommand(["serve", "--json", ...args], options);
  await running.said("}\n");
  const [line = ""] = running.out().split("\n");
  const { url }: { url: string } = JSON.parse(line);
  return { ...running, url };
}

export async function aFreePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
