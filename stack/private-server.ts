import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A server of our own: a free loopback port, a temporary folder, and an end with us, however we
 * end. Each is a process group, so that what it starts goes with it and a Ctrl-C meant for us
 * leaves its end to us. Only what was started here is ever signalled, by pid.
 */
export type PrivateServer = {
  readonly name: string;
  readonly folder: string;
  readonly pid: number;
  /** The last lines that it printed: what to show when it does not come up. */
  readonly log: () => string;
  /** Resolves when its process has ended, by whatever. */
  readonly ended: Promise<void>;
  /** Its process only; the folder stays, so that it can be started again on its data. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
  /** Process and folder. */
  readonly stop: () => Promise<void>;
};

export type ServerPlan = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly ready: () => Promise<boolean>;
  readonly readyWithinMs: number;
};

const pollMs = 50;
const stopWithinMs = 15_000;
const logLines = 40;

export async function startServer(plan: ServerPlan): Promise<PrivateServer> {
  const child = spawn(plan.command, plan.args, {
    cwd: plan.folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: plan.folder, ...plan.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const lines = keepLines(child, join(plan.folder, `${plan.name}.log`));
  const log = (): string => lines.slice(-logLines).join("");
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const { pid } = child;
  if (pid === undefined) throw new Error(`${plan.name}: ${plan.command} could not be started`);
  const keeper = startKeeper(pid, plan.folder);
  void ended.then(() => keeper.kill("SIGKILL"));
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) signalGroup(pid, signal);
    if (signal !== "SIGSTOP" && signal !== "SIGCONT") await withDeadline(ended, pid);
  };
  const onExit = (): void => signalGroup(pid, "SIGKILL");
  process.once("exit", onExit);
  void ended.then(() => process.removeListener("exit", onExit));
  await untilReady(plan, child, log);
  const stop = async (): Promise<void> => {
    await kill("SIGTERM");
    await rm(plan.folder, { recursive: true, force: true });
  };
  return { name: plan.name, folder: plan.folder, pid, log, ended, kill, stop };
}

export function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `holdfast-${name}-`));
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

/**
 * Outlives us by a moment: where we die without a word (kill -9), its input ends, and it ends
 * the server and removes its folder.
 */
function startKeeper(pid: number, folder: string): ChildProcess {
  const script = `trap "" INT TERM HUP; read -r _; kill -s KILL -- "-$1"; sleep 1; rm -rf -- "$2"`;
  const keeper = spawn("sh", ["-c", script, "keeper", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  keeper.unref();
  // Its end of the pipe may be gone before ours.
  keeper.stdin.on("error", () => undefined);
  return keeper;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // It ended by itself in this moment.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function keepLines(child: ChildProcess, file: string): string[] {
  const lines: string[] = [];
  const sink = createWriteStream(file);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      lines.push(chunk.toString());
      if (lines.length > 10 * logLines) lines.splice(0, lines.length - logLines);
      sink.write(chunk);
    });
  }
  child.once("error", (error) => lines.push(`${error.message}\n`));
  return lines;
}

async function untilReady(plan: ServerPlan, child: ChildProcess, log: () => string): Promise<void> {
  const deadline = Date.now() + plan.readyWithinMs;
  while (!(await plan.ready().catch(() => false))) {
    const gone = child.exitCode !== null || child.signalCode !== null;
    if (!gone && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      continue;
    }
    if (!gone && child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    const how = gone ? `ended (${child.exitCode})` : `is not ready after ${plan.readyWithinMs} ms`;
    throw new Error(`${plan.name} ${how}:\n${log()}`);
  }
}

async function withDeadline(ended: Promise<void>, pid: number): Promise<void> {
  const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), stopWithinMs);
  await ended;
  clearTimeout(timer);
}
