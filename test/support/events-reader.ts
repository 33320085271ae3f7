import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { CloudEvent } from "../../src/outlet/outlet.ts";

/**
 * A reader outside of Holdfast: the one that `docs/events.md` shows, run as it stands there, in a
 * process of its own. It prints every event that it is given, one a line.
 */
export class EventsReader {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #events: CloudEvent[] = [];
  #rest = "";
  #complaints = "";
  #look: () => void = () => undefined;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.stdout?.on("data", (chunk) => this.#hear(String(chunk)));
    child.stderr?.on("data", (chunk) => {
      this.#complaints += String(chunk);
      this.#look();
    });
    child.once("close", () => this.#look());
  }

  /** Resolves when it reads. */
  static async start(name: string, env: Readonly<Record<string, string>>): Promise<EventsReader> {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-reader-"));
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, snippet(name));
    const child = spawn(process.execPath, [file], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const reader = new EventsReader(child, folder);
    await reader.#until(() => reader.#complaints.includes("reading"));
    return reader;
  }

  /** What it has been given so far, in that order. */
  get events(): readonly CloudEvent[] {
    return this.#events;
  }

  /** Once it has been given all of these, with all that came meanwhile. */
  async seen(ids: readonly string[]): Promise<readonly CloudEvent[]> {
    const missing = new Set(ids);
    await this.#until(() => {
      for (const { id } of this.#events) missing.delete(id);
      return missing.size === 0;
    });
    return [...this.#events];
  }

  async end(): Promise<void> {
    const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
    if (!hasEnded) {
      const closed = new Promise((done) => this.#child.once("close", done));
      this.#child.kill("SIGKILL");
      await closed;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #hear(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    this.#events.push(...lines.map((line): CloudEvent => JSON.parse(line)));
    this.#look();
  }

  /** Bounded by the time of the test. */
  #until(holds: () => boolean): Promise<void> {
    return new Promise((done, fail) => {
      this.#look = () => {
        if (holds()) done();
        else if (this.#child.exitCode !== null) {
          fail(new Error(`the reader has ended: ${this.#complaints}`));
        }
      };
      this.#look();
    });
  }
}

/** A block of the document, by the name in its first line. */
function snippet(name: string): string {
  const text = readFileSync("docs/events.md", "utf8");
  const found = text.split("```js\n").find((block) => block.startsWith(`// ${name}.mjs\n`));
  if (found === undefined) throw new Error(`docs/events.md shows no ${name}.mjs`);
  return found.slice(0, found.indexOf("```"));
}
