import { Command as Commander, CommanderError, InvalidArgumentError, Option } from "commander";
import type { OptionKind, OptionSpec } from "./command-options.ts";
import { type CommandSpec, commandTable } from "./command-table.ts";
import { type MessageKey, optionalText, type Text } from "./text.ts";

/** What the command line asks for, once it is understood. */
export type Call = {
  readonly spec: CommandSpec;
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
};

export type Spoken = {
  readonly text: Text;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly version: string;
};

/** A command line that is not one of ours, in the words of its reader. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const everywhere: readonly OptionSpec[] = [
  { flags: "--json", says: "option.json" },
  { flags: "--config <file>", says: "option.config" },
  {
    flags: "--lang <language>",
    says: "option.lang",
    kind: { type: "choice", values: ["en", "zh-CN"] },
  },
  { flags: "--no-color", says: "option.noColor" },
];

/** Understands a command line; null when it only asked for help or the version. */
export async function readCall(argv: readonly string[], spoken: Spoken): Promise<Call | null> {
  let call: Call | null = null;
  const program = newProgram(spoken);
  for (const spec of commandTable) {
    const command = addCommand(program, spec, spoken.text);
    command.action(() => {
      call = { spec, options: command.optsWithGlobals(), args: command.args };
    });
  }
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    throw new UsageError(inWords(error, spoken.text), { cause: error.code });
  }
  return call;
}

function newProgram({ text, out, err, version }: Spoken): Commander {
  const program = new Commander("holdfast");
  program
    .description(text("program.summary"))
    .version(version, "-V, --version", text("option.version"))
    .helpCommand(false)
    .addHelpText("before", examples(text, ["npm start", "holdfast serve", "holdfast demo --json"]));
  configure(program, text);
  for (const option of everywhere) program.addOption(optionOf(option, text));
  program.configureOutput({ writeOut: out, writeErr: err, outputError: () => {} });
  return program;
}

function configure(command: Commander, text: Text): void {
  command.exitOverride();
  command.helpOption("-h, --help", text("option.help"));
  command.optionsGroup(text("help.options"));
  command.configureHelp({
    showGlobalOptions: false,
    styleTitle: (title) => optionalText(text, `help.title.${title.replace(/:$/, "")}`) ?? title,
  });
}

function addCommand(program: Commander, spec: CommandSpec, text: Text): Commander {
  const words = spec.use.split(" ");
  const at = words.findIndex((word) => /^[<[]/.test(word));
  const path = at === -1 ? words : words.slice(0, at);
  const parent = path
    .slice(0, -1)
    .reduce((above, name) => groupIn(above, { name, spec, text }), program);
  const command = parent.command([path.at(-1) ?? "", ...words.slice(path.length)].join(" "));
  configure(command, text);
  command.description(text(spec.summary));
  if (parent === program) command.helpGroup(text(spec.group));
  command.addHelpText("before", examples(text, spec.examples));
  for (const option of spec.options) command.addOption(optionOf(option, text));
  command.optionsGroup(text("help.everywhere"));
  for (const option of everywhere) command.addOption(optionOf(option, text));
  return command;
}

type Group = { readonly name: string; readonly spec: CommandSpec; readonly text: Text };

function groupIn(parent: Commander, { name, spec, text }: Group): Commander {
  const known = parent.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const group = parent.command(name);
  configure(group, text);
  const family = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  group.description(optionalText(text, `family.${family}`) ?? "");
  group.helpGroup(text(spec.group)).helpCommand(false);
  return group;
}

function examples(text: Text, lines: readonly string[]): string {
  return [text("help.examples"), ...lines.map((line) => `  ${line}`), ""].join("\n");
}

function optionOf({ flags, says, kind }: OptionSpec, text: Text): Option {
  const option = new Option(flags, text(says));
  if (kind === undefined) return option;
  if (kind.type === "choice") return option.choices([...kind.values]);
  return option.argParser((value: string, before: unknown) =>
    parseAs(kind, value, { before, text }),
  );
}

type Parsing = { readonly before: unknown; readonly text: Text };

function parseAs(
  kind: Exclude<OptionKind, { type: "choice" }>,
  value: string,
  { before, text }: Parsing,
) {
  if (kind.type === "list") return [...(Array.isArray(before) ? before : []), value];
  const { type, min, max } = kind;
  const form = type === "integer" ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
  const parsed = Number(value);
  if (form.test(value) && parsed >= min && parsed <= max) return parsed;
  throw new InvalidArgumentError(text(`usage.expected.${type}`, { min, max }));
}

/** Commander's own sentences are English: ours say the same in the reader's language. */
function inWords({ code, message }: CommanderError, text: Text): string {
  const quoted = [...message.matchAll(/'([^']+)'/g)].map((match) => match[1] ?? "");
  const [, suggestion] = /Did you mean (?:one of )?([^?]+)\?/.exec(message) ?? [];
  const key = keys[code];
  if (key === undefined) return message.replace(/^error: /, "");
  const said = text(key, { what: quoted[0] ?? "", value: quoted[1] ?? "" });
  const detail = code === "commander.invalidArgument" ? ` ${message.split(". ").at(-1) ?? ""}` : "";
  const meant = suggestion === undefined ? "" : ` ${text("config.meant", { suggestion })}`;
  return said + detail.replace(/^ error:.*/, "") + meant;
}

const keys: Readonly<Record<string, MessageKey>> = {
  "commander.unknownOption": "usage.unknownOption",
  "commander.unknownCommand": "usage.unknownCommand",
  "commander.missingArgument": "usage.missingArgument",
  "commander.optionMissingArgument": "usage.optionMissingArgument",
  "commander.excessArguments": "usage.excessArguments",
  "commander.invalidArgument": "usage.invalidArgument",
  "commander.help": "usage.noCommand",
};
