import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDesk } from "../../client/desk.ts";
import type { Config } from "../../config.ts";
import {
  type Command,
  type Context,
  exitCodes,
  isOn,
  numberOption,
  numberOr,
  type Options,
  textOption,
} from "../context.ts";
import { withLedger } from "../ledger-file.ts";
import { ledgerWitness } from "../ledger-witness.ts";
import { runWithBug } from "../planted-bug.ts";
import { runServer, storyLogLevel } from "../run-server.ts";
import { openSale, type RushResult, rush } from "../rush.ts";
import { tellStory } from "../story.ts";
import { onOwnStack, refuseServersAlone } from "./demo-stack.ts";

const saleId = "demo";
const sku = "demo-phone";

/** The rush in a world of its own, judged, and gone again. */
export const demo: Command = async (context, options) => {
  refuseServersAlone(context, options);
  const bug = textOption(options, "bug");
  if (bug !== undefined) return runWithBug(context, bug);
  const signal = context.stopping();
  const rushAt = (stores: Stores): Promise<number> =>
    rushIn(context, options, { stores, signal }).then((result) => conclude(context, result));
  return isOn(options, "stack")
    ? onOwnStack(context, options, { signal, rushAt })
    : onOwnFile(context, rushAt);
};

/** Where a demo keeps its stock: what `serve` would be told by its flags. */
export type Stores = Pick<Config, "ledger" | "hot" | "bus">;

async function onOwnFile(
  context: Context,
  rushAt: (stores: Stores) => Promise<number>,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
  const file = join(folder, "ledger.db");
  const memory = { kind: "memory" } as const;
  let code: number | null = null;
  try {
    code = await rushAt({ ledger: { kind: "sqlite", file }, hot: memory, bus: memory });
  } finally {
    if (code !== exitCodes.broken) rmSync(folder, { recursive: true, force: true });
  }
  if (code === exitCodes.broken) {
    const command = `holdfast audit verify --ledger sqlite:${file}`;
    context.note(context.text("demo.kept", { command }));
  }
  return code;
}

function conclude(context: Context, result: RushResult): number {
  tellStory(context, result);
  context.result(result.verdict.report);
  return codeOf(result);
}

export function codeOf({ verdict, evidence }: RushResult): number {
  if (evidence.crowd.isInterrupted) return exitCodes.interrupted;
  return verdict.ok ? exitCodes.done : exitCodes.broken;
}

type Place = { readonly stores: Stores; readonly signal: AbortSignal };

async function rushIn(
  context: Context,
  options: Options,
  { stores, signal }: Place,
): Promise<RushResult> {
  const { text } = context;
  const stock = numberOr(options, "stock", 1_000);
  const buyers = numberOr(options, "buyers", 20_000);
  const holdSeconds = numberOr(options, "holdSeconds", 900);
  const config = {
    ...context.loaded.config,
    ...stores,
    ...{ host: "127.0.0.1", port: 0, shutdownDelaySeconds: 0, logLevel: storyLogLevel(context) },
  };
  const server = await runServer(context, { config, purpose: "dev", mayMove: false });
  const apiKey = config.apiKeys[0]?.secret ?? null;
  const desk = openDesk({ url: server.url, apiKey, language: text.language });
  try {
    context.say(text("demo.opening", { stock, buyers }));
    const start = await openSale(desk, { saleId, sku, title: "Demo", stock, holdSeconds });
    return await withLedger(stores.ledger, text, (beside) =>
      rush(context, {
        ...{ desk, apiKey, saleId, buyers, signal },
        skus: [start],
        seed: numberOption(options, "seed"),
        witness: ledgerWitness(beside),
        isBeside: true,
        runOutSeconds: numberOption(options, "holdSeconds") ?? null,
      }),
    );
  } finally {
    await desk.close();
    await server.stop();
  }
}
