import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findProgram } from "./packages.ts";
import { freePort, type PrivateServer, startServer, temporaryFolder } from "./private-server.ts";

/** A Redis of our own, as one that holds hot stock should be: AOF every second, no eviction. */
export class PrivateRedis {
  readonly port: number;
  readonly #folder: string;
  readonly #program: string;
  readonly #more: readonly string[];
  #server: PrivateServer;
  #client: Redis;

  private constructor(made: {
    port: number;
    folder: string;
    program: string;
    more: readonly string[];
    server: PrivateServer;
  }) {
    this.port = made.port;
    this.#folder = made.folder;
    this.#program = made.program;
    this.#more = made.more;
    this.#server = made.server;
    this.#client = plainClient(made.port);
  }

  /** `place`: an empty folder for its files. */
  static async start(more: readonly string[] = [], place?: string): Promise<PrivateRedis> {
    const program = await findProgram("redis-server", "redis-server");
    const [port, folder] = [await freePort(), place ?? (await temporaryFolder("redis"))];
    const server = await launch({ program, port, folder, more });
    return new PrivateRedis({ port, folder, program, more, server });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** For what an operator or an accident does to it; never for what is tested. */
  get plain(): Redis {
    return this.#client;
  }

  /** How long its log of commands is: bytes. */
  async written(): Promise<number> {
    const told = await this.#client.info("persistence");
    return Number(/^aof_current_size:(\d+)/m.exec(told)?.[1] ?? 0);
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    return this.#server.kill(signal);
  }

  /** The process is gone at once; its files stay. */
  async crash(): Promise<void> {
    this.#client.disconnect();
    await this.#server.kill("SIGKILL");
  }

  /** What is on its disk now; the function that is returned puts it back under a dead server. */
  async keepFiles(): Promise<() => Promise<void>> {
    const [files, kept] = [join(this.#folder, "appendonlydir"), join(this.#folder, "kept")];
    await rm(kept, { recursive: true, force: true });
    await cp(files, kept, { recursive: true });
    return async () => {
      await rm(files, { recursive: true });
      await cp(kept, files, { recursive: true });
    };
  }

  /** What it holds now, as a dump beside its log. */
  async keepDump(): Promise<void> {
    await this.#client.save();
    await cp(join(this.#folder, "dump.rdb"), join(this.#folder, "kept.rdb"));
  }

  /** A dead server starts again from that dump, as from a backup; its log begins anew. */
  async restartFromDump(): Promise<void> {
    await rm(join(this.#folder, "appendonlydir"), { recursive: true });
    await cp(join(this.#folder, "kept.rdb"), join(this.#folder, "dump.rdb"));
    await this.restart(["--appendonly", "no"]);
    await this.#client.config("SET", "appendonly", "yes");
  }

  /** On the data that the last life left behind. */
  async restart(more: readonly string[] = []): Promise<void> {
    this.#client.disconnect();
    await this.#server.kill("SIGTERM");
    this.#server = await launch({
      program: this.#program,
      port: this.port,
      folder: this.#folder,
      more: [...this.#more, ...more],
    });
    this.#client = plainClient(this.port);
  }

  /** Resolves when its process has ended, by whatever. */
  get ended(): Promise<void> {
    return this.#server.ended;
  }

  /** At once: nobody needs what it holds, and a replica takes its time over an orderly end. */
  async stop(): Promise<void> {
    this.#client.disconnect();
    await this.#server.kill("SIGKILL");
    await this.#server.stop();
  }
}

function launch(plan: {
  program: string;
  port: number;
  folder: string;
  more: readonly string[];
}): Promise<PrivateServer> {
  const { program, port, folder, more } = plan;
  return startServer({
    name: `redis-${port}`,
    command: program,
    args: [...settings(port, folder), ...more],
    folder,
    ready: () => answers(port),
    readyWithinMs: 20_000,
  });
}

function settings(port: number, folder: string): string[] {
  const place = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder];
  const safety = ["--appendonly", "yes", "--appendfsync", "everysec"];
  const quick = ["--repl-diskless-sync-delay", "0"];
  return [...place, ...safety, ...quick, "--save", "", "--maxmemory-policy", "noeviction"];
}

async function answers(port: number): Promise<boolean> {
  const client = plainClient(port);
  try {
    return (await client.ping()) === "PONG";
  } finally {
    client.disconnect();
  }
}

function plainClient(port: number): Redis {
  const client = new Redis({
    host: "127.0.0.1",
    port,
    lazyConnect: true,
    maxRetriesPerRequest: 2,
    retryStrategy: (times) => (times > 3 ? null : 50),
  });
  client.on("error", () => undefined);
  return client;
}
