import { randomBytes } from "node:crypto";
import { type Desk, openDesk } from "../../client/desk.ts";
import { isLoopback } from "../../config-values.ts";
import { LevelBody, SaleBody } from "../../http/contract.ts";
import { httpWitness } from "../../loadtest/http-witness.ts";
import { buyersMax, type CrowdPlan, usualCrowd } from "../../loadtest/plan.ts";
import type { SkuStart } from "../../loadtest/prove.ts";
import {
  type Command,
  type Context,
  isOn,
  numberOption,
  numberOr,
  type Options,
  textOption,
} from "../context.ts";
import { usageError } from "../failure.ts";
import { path } from "../operator.ts";
import { openSale, rush } from "../rush.ts";
import { tellStory } from "../story.ts";
import { codeOf } from "./demo.ts";

const usualRate = 200;
const usualSeconds = 10;

/** Load on a running server, and the verdict on what it answered. */
export const loadtest: Command = async (context, options) => {
  const { url, apiKey } = context.loaded.config;
  refuseRemote(context, options, url);
  const load = readLoad(context, options);
  const signal = context.stopping();
  const desk = openDesk({ url, apiKey, language: context.text.language });
  try {
    const { saleId, skus } = await saleFor(options, desk);
    context.say(context.text("loadtest.begins", { url, saleId, buyers: load.buyers }));
    const result = await rush(context, {
      ...{ desk, apiKey, saleId, skus, signal, buyers: load.buyers, plan: load.plan },
      seed: numberOption(options, "seed"),
      witness: httpWitness(desk),
      isBeside: false,
      runOutSeconds: textOption(options, "sale")
        ? null
        : (numberOption(options, "holdSeconds") ?? null),
    });
    tellStory(context, result);
    context.result(result.verdict.report);
    return codeOf(result);
  } finally {
    await desk.close();
  }
};

function refuseRemote({ text }: Context, options: Options, url: string): void {
  const { hostname } = new URL(url);
  if (isLoopback(hostname) || isOn(options, "allowRemote")) return;
  const next = `holdfast loadtest --url ${url} --allow-remote`;
  throw usageError(text("loadtest.remote", { url }), text("loadtest.remote.why"), next);
}

type Load = { readonly buyers: number; readonly plan: Partial<CrowdPlan> };

function readLoad({ text }: Context, options: Options): Load {
  const rate = numberOption(options, "rate");
  const seconds = numberOption(options, "seconds");
  const crowd = numberOption(options, "buyers");
  const isRush = crowd !== undefined && rate === undefined && seconds === undefined;
  const perSecond = rate ?? usualRate;
  const buyers = crowd ?? Math.max(1, Math.round(perSecond * (seconds ?? usualSeconds)));
  if (buyers > buyersMax) {
    throw usageError(
      text("loadtest.tooMany", { buyers, buyersMax }),
      "",
      "--rate 500 --seconds 60",
    );
  }
  const arrival = isRush
    ? ({ kind: "rush", overMs: 0 } as const)
    : ({
        kind: "rate",
        perSecond: seconds === undefined || crowd === undefined ? perSecond : crowd / seconds,
      } as const);
  const plan = {
    arrival,
    settling: isRush ? "after" : "thinking",
    repeatShare: numberOr(options, "repeatShare", usualCrowd.repeatShare),
    payShare: numberOr(options, "payShare", usualCrowd.payShare),
    cancelShare: numberOr(options, "cancelShare", usualCrowd.cancelShare),
    quantityMax: numberOr(options, "quantityMax", usualCrowd.quantityMax),
    connections: numberOr(options, "connections", usualCrowd.connections),
  } as const;
  return { buyers, plan };
}

type Place = { readonly saleId: string; readonly skus: readonly SkuStart[] };

/** The sale that was named, as it stands; else a sale of our own. */
async function saleFor(options: Options, desk: Desk): Promise<Place> {
  const named = textOption(options, "sale");
  if (named === undefined) {
    const saleId = `load-${randomBytes(5).toString("hex")}`;
    const stock = numberOr(options, "stock", 1_000);
    const holdSeconds = numberOr(options, "holdSeconds", 900);
    const sale = { saleId, sku: `${saleId}-sku`, title: saleId, stock, holdSeconds };
    return { saleId, skus: [await openSale(desk, sale)] };
  }
  const { items } = await desk.get(path("sales", named), SaleBody);
  const skus: SkuStart[] = [];
  for (const { sku } of items) {
    const { version } = await desk.get(path("stock", sku), LevelBody);
    skus.push({ sku, stocked: null, version });
  }
  return { saleId: named, skus };
}
