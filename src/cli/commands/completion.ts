import { commandTable } from "../command-table.ts";
import { type Command, exitCodes } from "../context.ts";
import { usageError } from "../failure.ts";

const shells = { bash, zsh, fish } as const;

/** A script that completes commands and options; made from the table of commands. */
export const completion: Command = async (context, _options, [shell = ""]) => {
  const write = Object.entries(shells).find(([name]) => name === shell)?.[1];
  if (write === undefined) {
    const { text } = context;
    throw usageError(text("completion.which", { shell }), "", "holdfast completion bash");
  }
  context.say(write());
  context.result({ shell });
  return exitCodes.done;
};

type Known = { readonly path: string; readonly words: readonly string[] };

const everywhere = ["--json", "--config", "--lang", "--no-color", "--help"];

/** What may follow each path: its sub-commands, or its options. */
function known(): readonly Known[] {
  const paths = commandTable.map(({ use, options }) => ({
    path: use.replace(/ [<[].*/, ""),
    words: [...options.map(({ flags }) => flags.split(" ")[0] ?? ""), ...everywhere],
  }));
  const groups = new Map<string, string[]>([["", []]]);
  for (const { path } of paths) {
    const [first = "", second] = path.split(" ");
    if (groups.get("")?.includes(first) === false) groups.get("")?.push(first);
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return [...[...groups].map(([path, words]) => ({ path, words })), ...paths];
}

function bash(): string {
  const cases = known().map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`);
  return `_holdfast() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _holdfast holdfast`;
}

function zsh(): string {
  return ["autoload -U +X bashcompinit && bashcompinit", bash()].join("\n");
}

function fish(): string {
  const lines = known().flatMap(({ path, words }) => {
    const seen = path.split(" ").filter((word) => word !== "");
    const isThere = seen.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    const when = isThere === "" ? "__fish_use_subcommand" : isThere;
    return words.map((word) =>
      word.startsWith("--")
        ? `complete -c holdfast -n '${when}' -l ${word.slice(2)}`
        : `complete -c holdfast -f -n '${when}' -a ${word}`,
    );
  });
  return lines.join("\n");
}
