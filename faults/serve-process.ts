import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemClock } from "../src/clock.ts";
import { freePort } from "../stack/private-server.ts";
import { atFailpoint } from "./failpoints.ts";

const main = fileURLToPath(new URL("../src/cli/main.js", import.meta.url));
const failpoints = new URL("./failpoint-register.js", import.meta.url);
const readyWithinMs = 60_000;
const endWithinMs = 30_000;
const logLines = 60;

export type ServeUrls = { readonly hot: string; readonly ledger: string; readonly bus: string };

export type ServeStart = {
  readonly roles: string;
  /** Flags of Node. */
  readonly node: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly failpoint: string | null;
};

/** `holdfast serve` on a port that stays its own, started again whenever it dies. */
export class ServeProcess {
  readonly url: string;
  readonly #args: readonly string[];
  readonly #log: string[] = [];
  #child: ChildProcess | null = null;
  #isWanted = false;
  #failpoint: string | null = null;
  #started: Promise<void> = Promise.resolve();
  /** Deaths that nobody asked for. */
  deaths = 0;
  /** How often it said that it was at its failpoint. */
  meetings = 0;

  readonly #node: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  private constructor(port: number, urls: ServeUrls, { roles, node, env }: ServeStart) {
    this.url = `http://127.0.0.1:${port}`;
    this.#node = node;
    this.#env = env;
    const stores = ["--hot", urls.hot, "--ledger", urls.ledger, "--bus", urls.bus];
    const own = ["--json", "--port", String(port), "--roles", roles];
    this.#args = [main, "serve", ...own, ...stores];
  }

  static async start(urls: ServeUrls, start: ServeStart): Promise<ServeProcess> {
    const made = new ServeProcess(await freePort(), urls, start);
    await made.start(start.failpoint);
    return made;
  }

  /** With a failpoint it dies there again and again, and comes back each time. */
  async start(failpoint: string | null): Promise<void> {
    this.#isWanted = true;
    this.#failpoint = failpoint;
    this.#started = this.#launch();
    await this.#started;
  }

  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGUSR2"): void {
    this.#child?.kill(signal);
  }

  /** Dead at once, and it stays so. */
  async crash(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** In its own order: nothing that was admitted is left undecided. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** Whether it has said this lately. */
  hasSaid(words: string): boolean {
    return this.#log.some((line) => line.includes(words));
  }

  /** The most memory that this life of it had; null where it does not live. */
  async peakMegabytes(): Promise<number | null> {
    if (this.#child?.pid === undefined) return null;
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
  }

  /** What it said last. */
  log(): string {
    return this.#log.slice(-logLines).join("\n");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGCONT");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), endWithinMs);
    await ended;
    clearTimeout(late);
  }

  async #launch(): Promise<void> {
    const node = [...this.#node, ...this.#imports()];
    const child = spawn(process.execPath, [...node, ...this.#args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...ownEnvironment(), ...this.#env, HOLDFAST_LOG_LEVEL: "warn" },
    });
    this.#child = child;
    const orphan = (): void => void child.kill("SIGKILL");
    process.once("exit", orphan);
    child.once("exit", () => {
      process.removeListener("exit", orphan);
      this.#child = null;
      if (this.#isWanted) this.#comeBack();
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => this.#keep(line));
    }
    await this.#untilReady(child);
  }

  #comeBack(): void {
    this.deaths += 1;
    // Dies at its failpoint while it starts: the next life tries again.
    this.#started = this.#launch().catch(() => undefined);
  }

  #imports(): string[] {
    if (this.#failpoint === null) return [];
    const register = new URL(failpoints);
    register.searchParams.set("name", this.#failpoint);
    return ["--import", register.href];
  }

  #keep(line: string): void {
    if (line === atFailpoint) this.meetings += 1;
    this.#log.push(line);
    if (this.#log.length > 10 * logLines) this.#log.splice(0, this.#log.length - logLines);
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const untilMs = systemClock.mono() + readyWithinMs;
    while (systemClock.mono() < untilMs && child.exitCode === null && child.signalCode === null) {
      const answer = await fetch(`${this.url}/readyz`).catch(() => null);
      if (answer?.ok === true) return;
      await systemClock.sleep(50);
    }
    if (child.signalCode === "SIGKILL" && this.#failpoint !== null) return;
    throw new Error(`holdfast serve is not ready (${child.exitCode}):\n${this.log()}`);
  }
}

function ownEnvironment(): Record<string, string | undefined> {
  const theirs = Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDFAST_"));
  return Object.fromEntries(theirs);
}
