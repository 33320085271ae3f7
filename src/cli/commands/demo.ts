import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDesk } from "../../loadtest/desk.ts";
import {
  type Command,
  type Context,
  exitCodes,
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

const saleId = "demo";
const sku = "demo-phone";

/** The rush in a world of its own, judged, and gone again. */
export const demo: Command = async (context, options) => {
  const bug = textOption(options, "bug");
  if (bug !== undefined) return runWithBug(context, bug);
  const signal = context.stopping();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
  const file = join(folder, "ledger.db");
  let result: RushResult;
  try {
    result = await rushIn(context, options, { file, signal });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  tellStory(context, result);
  context.result(result.verdict.report);
  const code = codeOf(result);
  if (code === exitCodes.broken) {
    context.note(
      context.text("demo.kept", { command: `holdfast audit verify --ledger sqlite:${file}` }),
    );
  } else {
    rmSync(folder, { recursive: true, force: true });
  }
  return code;
};

export function codeOf({ verdict, evidence }: RushResult): number {
  if (evidence.crowd.isInterrupted) return exitCodes.interrupted;
  return verdict.ok ? exitCodes.done : exitCodes.broken;
}

type Place = { readonly file: string; readonly signal: AbortSignal };

async function rushIn(
  context: Context,
  options: Options,
  { file, signal }: Place,
): Promise<RushResult> {
  const { text } = context;
  const ledger = { kind: "sqlite", file } as const;
  const stock = numberOr(options, "stock", 1_000);
  const buyers = numberOr(options, "buyers", 20_000);
  const holdSeconds = numberOr(options, "holdSeconds", 900);
  const config = {
    ...context.loaded.config,
    ...{
      ledger,
      host: "127.0.0.1",
      port: 0,
      shutdownDelaySeconds: 0,
      logLevel: storyLogLevel(context),
    },
  };
  const server = await runServer(context, { config, purpose: "dev", mayMove: false });
  const apiKey = config.apiKeys[0]?.secret ?? null;
  const desk = openDesk({ url: server.url, apiKey, language: text.language });
  try {
    context.say(text("demo.opening", { stock, buyers }));
    const start = await openSale(desk, { saleId, sku, title: "Demo", stock, holdSeconds });
    return await withLedger(ledger, text, (beside) =>
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
