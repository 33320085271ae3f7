import { parseArgs } from "node:util";
import { isServerName, type ServerName, type Started, starters } from "./servers.ts";

// Private copies of every server, until this process ends: by Ctrl-C, by a signal, or with the
// one who started it. They never outlive it, however it dies.

const help = `npm run stack -- [--json] [--only redis,mariadb]

Starts private servers on free loopback ports: ${Object.keys(starters).join(", ")}.
When all are ready, one line of JSON on standard output says their URLs, as the flags of
\`holdfast serve\` take them. Ctrl-C stops them and removes what they wrote.

  --only LIST           start these only; each of them must start
  --json                accepted everywhere; the line is JSON in any case
  --while-stdin-open    also stop when standard input ends
`;

class UsageError extends Error {}

type Request = {
  readonly names: readonly ServerName[];
  /** Somebody counts on each of them. */
  readonly isStrict: boolean;
  readonly followsInput: boolean;
};

const parentPollMs = 500;
/** One key press reaches a process twice when npm passes it on. */
const doubleMs = 200;
const stopping = new AbortController();
let firstAtMs = Number.NEGATIVE_INFINITY;

process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
process.exitCode = await main(process.argv.slice(2));
process.stdin.destroy();

/** Once: in order. Twice: at once; the keepers of the servers clean up. */
function onSignal(signal: NodeJS.Signals): void {
  if (performance.now() - firstAtMs < doubleMs) return;
  if (stopping.signal.aborted) process.exit(signal === "SIGTERM" ? 143 : 130);
  firstAtMs = performance.now();
  stopping.abort();
}

async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    process.stdout.write(help);
    return 0;
  }
  try {
    return await runStack(readRequest(argv));
  } catch (error) {
    say(reasonOf(error));
    if (!isUsage(error)) return 1;
    say("Next: npm run stack -- --help");
    return 2;
  }
}

function readRequest(argv: readonly string[]): Request {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: "boolean" },
      only: { type: "string" },
      "while-stdin-open": { type: "boolean" },
    },
  });
  const { only, "while-stdin-open": followsInput = false } = values;
  const all = Object.keys(starters).filter(isServerName);
  const names = only?.split(",").map((word) => {
    if (isServerName(word)) return word;
    throw new UsageError(`there is no server "${word}"; the stack has ${all.join(", ")}`);
  });
  return { names: [...new Set(names ?? all)], isStrict: only !== undefined, followsInput };
}

async function runStack({ names, isStrict, followsInput }: Request): Promise<number> {
  const running = new Map<ServerName, Started>();
  const failed: string[] = [];
  const ended = untilEnd(followsInput);
  const begin = async (name: ServerName): Promise<void> => {
    const started = await start(name).catch((error: unknown) => notStarted(name, error));
    if (started === null) failed.push(name);
    else running.set(name, started);
  };
  await Promise.all(names.map(begin));
  const isEnough = running.size > 0 && (failed.length === 0 || !isStrict);
  if (isEnough && !stopping.signal.aborted) {
    const urls = names.flatMap((name) => {
      const url = running.get(name)?.url;
      return url === undefined ? [] : [[name, url] as const];
    });
    say(`ready${failed.length > 0 ? `, WITHOUT ${failed.join(", ")}` : ""}. Ctrl-C stops it.`);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(urls))}\n`);
    await ended;
  }
  say("stopping");
  await Promise.all([...running.values()].map((server) => server.stop()));
  return isEnough ? 0 : 1;
}

async function start(name: ServerName): Promise<Started> {
  const fromMs = performance.now();
  const server = await starters[name]();
  say(`${name.padEnd(10)} ${seconds(fromMs).padStart(6)}  ${server.url}`);
  return server;
}

/** Said loudly: what does not run proves nothing. */
function notStarted(name: string, error: unknown): null {
  process.stderr.write(`\nNOT STARTED: ${name}\n${reasonOf(error)}\n\n`);
  return null;
}

/** A signal, the end of our input, or of the npm that started us and may die without a word. */
function untilEnd(followsInput: boolean): Promise<void> {
  const { signal } = stopping;
  const stop = (): void => stopping.abort();
  if (followsInput) process.stdin.resume().once("end", stop).once("error", stop);
  const parent = process.ppid;
  const isNpm = process.env["npm_lifecycle_event"] !== undefined;
  // The timer also keeps us alive: a signal alone does not.
  const timer = setInterval(() => {
    if (isNpm && process.ppid !== parent) stop();
  }, parentPollMs);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      resolve();
    });
  });
}

function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  return error instanceof Error && "code" in error && /^ERR_PARSE_ARGS/.test(String(error.code));
}

function seconds(fromMs: number): string {
  return `${((performance.now() - fromMs) / 1000).toFixed(1)} s`;
}

function say(line: string): void {
  process.stderr.write(`stack: ${line}\n`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
