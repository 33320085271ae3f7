/** What the command line of the simulator asks for. */
export type Args = {
  readonly seeds: number;
  readonly seed: number;
  readonly replay: number | null;
  readonly bug: string | null;
  readonly bugs: boolean;
  readonly check: boolean;
  readonly json: boolean;
  readonly workers: number;
  readonly requests: number | null;
  readonly without: readonly string[];
  readonly shrink: boolean;
};

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage = `npm run sim -- [options]

  --seeds N     how many seeds to run (200)
  --seed S      the first of them (1)
  --replay S    run one seed and print what happened
  --bug NAME    plant a bug of the bank first
  --bugs        list the bank; with --check: run it, and fail unless every bug is found
  --workers N   processes to share the seeds (1)
  --requests N, --without NAME,…   a smaller run of the seed, as shrinking prints it
  --no-shrink   do not look for a smaller run that fails
  --json        one JSON object, alone on the last line of standard output`;

export function parseArgs(argv: readonly string[]): Args {
  const options = new Map<string, string>();
  const flags = new Set<string>();
  for (let at = 0; at < argv.length; at += 1) {
    const [name = "", inline] = (argv[at] ?? "").split("=", 2);
    if (flagNames.has(name) && inline === undefined) {
      flags.add(name);
      continue;
    }
    if (!optionNames.has(name)) throw new UsageError(`unknown option ${argv[at]}`);
    const value = inline ?? argv[at + 1];
    if (value === undefined) throw new UsageError(`${name} needs a value`);
    if (inline === undefined) at += 1;
    options.set(name, value);
  }
  return {
    seeds: number(options, "--seeds") ?? 200,
    seed: number(options, "--seed") ?? 1,
    replay: number(options, "--replay"),
    bug: options.get("--bug") ?? null,
    bugs: flags.has("--bugs"),
    check: flags.has("--check"),
    json: flags.has("--json"),
    workers: number(options, "--workers") ?? 1,
    requests: number(options, "--requests"),
    without: options.get("--without")?.split(",") ?? [],
    shrink: !flags.has("--no-shrink"),
  };
}

const flagNames: ReadonlySet<string> = new Set([...["--bugs", "--check", "--json", "--no-shrink"]]);
const optionNames: ReadonlySet<string> = new Set([
  ...["--seeds", "--seed", "--replay", "--bug", "--workers", "--requests", "--without"],
]);

function number(options: ReadonlyMap<string, string>, name: string): number | null {
  const text = options.get(name);
  if (text === undefined) return null;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new UsageError(`${name}: expected an integer from 1, found ${text}`);
}
