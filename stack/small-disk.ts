import { execFile } from "node:child_process";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./private-server.ts";

const run = promisify(execFile);
const largePiece = Buffer.alloc(1_000_000);
const smallPiece = Buffer.alloc(512);

/** A disk of a few megabytes, in memory, that can be full. Only root may mount one. */
export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async mount(megabytes: number): Promise<SmallDisk> {
    const folder = await temporaryFolder("disk");
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
    return new SmallDisk(folder);
  }

  /** A folder on it for a server, which removes its own when it ends. */
  place(): Promise<string> {
    return mkdtemp(join(this.folder, "server-"));
  }

  /** Nothing more goes onto it, until it is eased. Somebody else may write meanwhile. */
  async fill(): Promise<void> {
    const ballast = await open(this.#ballast, "w");
    try {
      for (const piece of [largePiece, smallPiece]) await writeUntilFull(ballast, piece);
    } finally {
      await ballast.close();
    }
  }

  ease(): Promise<void> {
    return rm(this.#ballast, { force: true });
  }

  /** Also under a server that has not quite ended. */
  async unmount(): Promise<void> {
    await run("umount", ["--lazy", this.folder]);
    await rm(this.folder, { recursive: true, force: true });
  }

  get #ballast(): string {
    return join(this.folder, "ballast");
  }
}

async function writeUntilFull(file: FileHandle, piece: Buffer): Promise<void> {
  try {
    for (;;) await file.write(piece);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}
