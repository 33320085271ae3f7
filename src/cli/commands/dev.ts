import { openDesk } from "../../client/desk.ts";
import { isDefault } from "../../config.ts";
import { httpWitness } from "../../loadtest/http-witness.ts";
import type { Witness } from "../../loadtest/witness.ts";
import { aborted } from "../aborted.ts";
import {
  type Command,
  type Context,
  exitCodes,
  numberOption,
  numberOr,
  type Options,
} from "../context.ts";
import { DemoRush } from "../demo-rush.ts";
import { tellFirstPurchase } from "../first-purchase.ts";
import { freshSaleId } from "../fresh-sale-id.ts";
import { hasLedger, withLedger } from "../ledger-file.ts";
import { ledgerWitness } from "../ledger-witness.ts";
import { ledgerNameOf, type RunningServer, runServer, storyLogLevel } from "../run-server.ts";
import { openSale, type RushResult, rush } from "../rush.ts";
import { tellStory } from "../story.ts";
import { codeOf } from "./demo.ts";

/** A server with something to see: a sale, a rush, the proof; then it stays. */
export const dev: Command = async (context, options) => {
  const { text, paint } = context;
  const stopping = context.stopping();
  const config = { ...context.loaded.config, logLevel: storyLogLevel(context) };
  const mayMove = isDefault(context.loaded, "port");
  const demo = new DemoRush({
    apiKey: config.apiKeys[0]?.secret ?? null,
    language: text.language,
    onFailure: (error) => context.note(String(error)),
  });
  const server = await runServer(context, { config, purpose: "dev", mayMove, demo });
  demo.at(server.url);
  try {
    if (mayMove && server.port !== config.port) {
      const [wanted, port] = [String(config.port), String(server.port)];
      context.say(paint.yellow(text("dev.moved", { wanted, port })));
    }
    context.say(text("serve.ready", { url: server.url, ledger: ledgerNameOf(config) }));
    const result = await rushAt(server, { context, options, stopping });
    tellStory(context, result);
    if (result.evidence.crowd.isInterrupted) return exitCodes.interrupted;
    if (!result.verdict.ok) return codeOf(result);
    return await stay(context, { server, result, stopping });
  } finally {
    await demo.stop();
    await server.stop();
  }
};

type Scene = {
  readonly context: Context;
  readonly options: Options;
  readonly stopping: AbortSignal;
};

async function rushAt(server: RunningServer, scene: Scene): Promise<RushResult & Sale> {
  const { context, options, stopping: signal } = scene;
  const { text, loaded } = context;
  const { apiKeys, ledger } = loaded.config;
  const apiKey = apiKeys[0]?.secret ?? null;
  const stock = numberOr(options, "stock", 100);
  const buyers = numberOr(options, "buyers", 2_000);
  const holdSeconds = numberOr(options, "holdSeconds", 120);
  const desk = openDesk({ url: server.url, apiKey, language: text.language });
  try {
    const saleId = await freshSaleId(desk);
    const sku = `${saleId}-phone`;
    context.say(text("dev.opening", { saleId, stock, buyers, sku }));
    const start = await openSale(desk, { saleId, sku, title: saleId, stock, holdSeconds });
    const judgedBy = (witness: Witness, isBeside: boolean): Promise<RushResult> =>
      rush(context, {
        ...{ desk, apiKey, saleId, buyers, signal, witness, isBeside },
        skus: [start],
        seed: numberOption(options, "seed"),
        runOutSeconds: null,
      });
    const result = hasLedger(ledger)
      ? await withLedger(ledger, text, (beside) => judgedBy(ledgerWitness(beside), true))
      : await judgedBy(httpWitness(desk), false);
    return { ...result, saleId, sku, holdSeconds };
  } finally {
    await desk.close();
  }
}

type Sale = { readonly saleId: string; readonly sku: string; readonly holdSeconds: number };

type Stay = {
  readonly server: RunningServer;
  readonly result: RushResult & Sale;
  readonly stopping: AbortSignal;
};

async function stay(context: Context, { server, result, stopping }: Stay): Promise<number> {
  const { text } = context;
  const { saleId, sku, holdSeconds, verdict } = result;
  const { url } = server;
  context.announce({ url, saleId, sku, report: verdict.report });
  const { available = 0, reserved = 0 } = result.evidence.skus[0]?.level.buckets ?? {};
  context.say();
  if (reserved > 0) context.say(text("dev.onHold", { reserved, holdSeconds }));
  const isKeyed = context.loaded.config.apiKeys.length > 0;
  tellFirstPurchase(context, { url, saleId, sku, isKeyed, available });
  if (!stopping.aborted) await aborted(stopping);
  context.note(text("serve.stopping"));
  return exitCodes.done;
}
