import { existsSync, readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "./packages.ts";
import { temporaryFolder } from "./private-server.ts";

const libraries = "/usr/lib";
const library = join("faketime", "libfaketime.so.1");

/** The wall clock of a process, turned while it runs; its monotonic clock stays as it is. */
export class TurnedClock {
  readonly #folder: string;
  readonly #library: string;

  private constructor(folder: string, path: string) {
    this.#folder = folder;
    this.#library = path;
  }

  static async make(): Promise<TurnedClock> {
    await findProgram("faketime", "faketime");
    const path = readdirSync(libraries)
      .map((name) => join(libraries, name, library))
      .find((each) => existsSync(each));
    if (path === undefined) throw new Error(`no ${library} under ${libraries}`);
    const clock = new TurnedClock(await temporaryFolder("clock"), path);
    await clock.turn(0);
    return clock;
  }

  /** What the process has to be started with. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** So many seconds before the real time, or behind it. */
  async turn(seconds: number): Promise<void> {
    await writeFile(this.#file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#folder, "clock");
  }
}
