import type { Static } from "typebox";
import {
  type DeadLetterBody,
  DeadLetterOutcomeBody,
  DeadLetterOutcomesBody,
  DeadLetterPage,
} from "../../http/contract.ts";
import {
  type Command,
  type Context,
  exitCodes,
  isOn,
  numberOr,
  type Options,
  textOption,
} from "../context.ts";
import { usageError } from "../failure.ts";
import { atDesk, confirmed, pageSize, path, query, readPages } from "../operator.ts";
import { table } from "../table.ts";
import { column } from "./sale.ts";

export const deadLettersList: Command = (context, options) =>
  atDesk(context, async (desk) => {
    const limit = numberOr(options, "limit", 50);
    const search = query({
      limit: pageSize(limit),
      state: textOption(options, "state"),
      reason: textOption(options, "whereReason"),
      itemId: textOption(options, "whereItem"),
    });
    const first = `/v1/dead-letters${search}`;
    const { items } = await readPages((at) => desk.get(at, DeadLetterPage), first, limit);
    if (items.length === 0) context.say(context.text("deadLetters.none"));
    else for (const line of letterTable(context, items)) context.say(line);
    context.result({ items });
    return exitCodes.done;
  });

function letterTable(context: Context, letters: readonly DeadLetterBody[]): string[] {
  const names = ["id", "state", "item", "tries", "at", "reason"];
  const rows = letters.map(({ id, state, itemId, tries, createdAt, reason }) => [
    String(id),
    context.text(`letterState.${state}`),
    itemId ?? "–",
    String(tries),
    createdAt,
    reason,
  ]);
  const head = names.map((name) => column(context, name));
  return table([head, ...rows], ["right", "left", "left", "right", "left", "left"]);
}

export const deadLettersSettle = {
  replay: settling("replay"),
  discard: settling("discard"),
} as const;

type Settle = keyof typeof deadLettersSettle;
type Outcomes = Static<typeof DeadLetterOutcomesBody>;

function settling(act: "replay" | "discard"): Command {
  return async (context, options, ids) => {
    const isAll = isOn(options, "all");
    const { text } = context;
    if (isAll === ids.length > 0) {
      throw usageError(
        text("deadLetters.which"),
        "",
        `holdfast dead-letters ${act} --all --dry-run`,
      );
    }
    if (!(await mayGoOn(context, options, { act, isAll }))) return exitCodes.failed;
    const outcomes = isAll
      ? await settleAll(context, options, act)
      : await settleEach(context, options, { act, ids });
    for (const { id, outcome, detail } of outcomes.items) {
      context.say(text("deadLetters.outcome", { id: String(id), outcome, detail }));
    }
    if (outcomes.more) context.say(text("deadLetters.more"));
    context.result(outcomes);
    const failed = outcomes.items.some(
      ({ outcome }) => outcome === "failed" || outcome === "not-found",
    );
    return failed ? exitCodes.failed : exitCodes.done;
  };
}

type Asked = { readonly act: Settle; readonly isAll: boolean };

async function mayGoOn(
  context: Context,
  options: Options,
  { act, isAll }: Asked,
): Promise<boolean> {
  if (act !== "discard" || !isAll || isOn(options, "dryRun")) return true;
  const question = context.text("deadLetters.confirm");
  const isSure = await confirmed(context, options, {
    question,
    again: "holdfast dead-letters discard --all --yes",
  });
  if (!isSure) context.note(context.text("confirm.no"));
  return isSure;
}

function settleAll(context: Context, options: Options, act: Settle): Promise<Outcomes> {
  const reason = textOption(options, "whereReason");
  const itemId = textOption(options, "whereItem");
  const body = {
    filter: {
      ...(reason === undefined ? {} : { reason }),
      ...(itemId === undefined ? {} : { itemId }),
    },
    dryRun: isOn(options, "dryRun"),
    reason: reasonOf(options, act),
  };
  return atDesk(context, (desk) =>
    desk.post(`/v1/dead-letters:${act}`, body, { schema: DeadLetterOutcomesBody }),
  );
}

type Each = { readonly act: Settle; readonly ids: readonly string[] };

function settleEach(context: Context, options: Options, { act, ids }: Each): Promise<Outcomes> {
  return atDesk(context, async (desk) => {
    const dryRun = isOn(options, "dryRun");
    const items: Static<typeof DeadLetterOutcomeBody>[] = [];
    for (const id of ids) {
      const said = dryRun
        ? { id: Number(id), outcome: `would-${act}`, detail: "" }
        : await desk.post(
            path("dead-letters", id, act),
            { reason: reasonOf(options, act) },
            {
              schema: DeadLetterOutcomeBody,
            },
          );
      items.push(said);
    }
    return { dryRun, more: false, items };
  });
}

function reasonOf(options: Options, act: Settle): string {
  return textOption(options, "reason") ?? `${act} from the command line`;
}
