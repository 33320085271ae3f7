import { systemClock } from "../clock.ts";
import { type Flags, loadConfig } from "../config.ts";
import { commandTable } from "./command-table.ts";
import { type Context, exitCodes, paintWith, textOption } from "./context.ts";
import { type Failure, failureOf } from "./failure.ts";
import { type Call, readCall, UsageError } from "./program.ts";
import { languageOf, type Text, textIn } from "./text.ts";
import { versionLine } from "./version.ts";

/** The surroundings of one run of the command line. */
export type World = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isOutTerminal: boolean;
  readonly isErrTerminal: boolean;
  readonly isInteractive: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly ask: (question: string) => Promise<string>;
  readonly stopping: () => AbortSignal;
};

/** Runs one command line; answers its exit code and never throws. */
export async function run(world: World): Promise<number> {
  const text = textIn(languageOf(languageFlag(world.argv), world.env));
  const isJson = world.argv.includes("--json");
  try {
    const version = versionLine();
    const call = await readCall(world.argv, { text, out: world.out, err: world.err, version });
    if (call === null) return exitCodes.done;
    return await perform(call, world, text);
  } catch (error) {
    const failure =
      error instanceof UsageError ? usage(error, world.argv, text) : failureOf(error, text);
    report(failure, { world, text, isJson });
    return failure.exitCode;
  }
}

async function perform(call: Call, world: World, text: Text): Promise<number> {
  const { options, args } = call;
  const loaded = loadConfig({ flags: flagsOf(call), env: world.env });
  const results: object[] = [];
  const context = contextOf({ world, text, loaded, results, isJson: options["json"] === true });
  const command = await call.spec.load();
  const code = await command(context, options, args);
  context.progress("");
  for (const result of results) world.out(`${JSON.stringify(result)}\n`);
  return code;
}

type Setting = Pick<Context, "text" | "loaded" | "isJson"> & {
  readonly world: World;
  readonly results: object[];
};

function contextOf({ world, text, loaded, results, isJson }: Setting): Context {
  const colours = !world.argv.includes("--no-color") && (world.env["NO_COLOR"] ?? "") === "";
  const isTerminal = isJson ? world.isErrTerminal : world.isOutTerminal;
  const say = isJson ? world.err : world.out;
  let drawn = false;
  const clear = (): void => {
    if (drawn) world.err("\r\u001b[2K");
    drawn = false;
  };
  return {
    text,
    loaded,
    isJson,
    paint: paintWith(colours && isTerminal),
    isWatched: world.isErrTerminal,
    isInteractive: world.isInteractive,
    clock: systemClock,
    say: (line = "") => {
      clear();
      say(`${line}\n`);
    },
    write: say,
    note: (line) => {
      clear();
      world.err(`${line}\n`);
    },
    result: (object) => {
      if (isJson) results.splice(0, results.length, object);
    },
    announce: (object) => {
      if (isJson) world.out(`${JSON.stringify(object)}\n`);
    },
    progress: (line) => {
      clear();
      if (!world.isErrTerminal || line === "") return;
      world.err(line);
      drawn = true;
    },
    ask: async (question) => /^\s*(y|yes|是)\s*$/i.test(await world.ask(`${question} [y/N] `)),
    stopping: world.stopping,
  };
}

const flagNames = [
  ...["host", "port", "basePath", "ledger", "hot", "bus", "roles", "processes", "logLevel"],
  ...["events", "shutdownDelaySeconds", "trustedProxies", "rateLimit", "traceUrl", "url"],
  ...["apiKey", "config"],
];

/** An option that says itself what it may be is the command's own, whatever its name. */
function flagsOf({ spec, options }: Call): Flags {
  const own = spec.options.filter(({ kind }) => kind !== undefined).map(({ flags }) => flags);
  const isOwn = (name: string): boolean => own.some((flags) => flags.startsWith(`--${name} `));
  const names = flagNames.filter((name) => !isOwn(name));
  return Object.fromEntries(names.map((name) => [name, textOption(options, name)]));
}

/** Needed before the command line is understood: its errors have a language too. */
function languageFlag(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => word === "--lang" || word.startsWith("--lang="));
  const word = argv[at];
  return word === "--lang" ? argv[at + 1] : word?.slice("--lang=".length);
}

function usage(error: UsageError, argv: readonly string[], text: Text): Failure {
  const command = ["holdfast", ...pathIn(argv), "--help"].join(" ");
  return {
    code: "USAGE",
    what: error.message,
    why: "",
    next: text("usage.next", { command }),
    exitCode: exitCodes.usage,
  };
}

/** The words of a command line that name a command or its group. */
function pathIn(argv: readonly string[]): readonly string[] {
  const paths = commandTable.map(({ use }) =>
    use.split(" ").filter((word) => /^[a-z-]+$/.test(word)),
  );
  for (let length = 2; length > 0; length--) {
    const words = argv.slice(0, length);
    if (
      words.length === length &&
      paths.some((path) => words.every((word, at) => path[at] === word))
    ) {
      return words;
    }
  }
  return [];
}

type Place = { readonly world: World; readonly text: Text; readonly isJson: boolean };

function report(failure: Failure, { world, text, isJson }: Place): void {
  const colours = !world.argv.includes("--no-color") && (world.env["NO_COLOR"] ?? "") === "";
  const paint = paintWith(colours && world.isErrTerminal);
  const { code, what, why, next } = failure;
  const lines = [
    paint.red(paint.bold(`${text("error")}${what}`)),
    ...why
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => `  ${line}`),
    ...(next === "" ? [] : [`${text("next")}${next}`]),
  ];
  world.err(`${lines.join("\n")}\n`);
  if (isJson) world.out(`${JSON.stringify({ error: { code, what, why, next } })}\n`);
}
