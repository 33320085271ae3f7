import { setTimeout as sleep } from "node:timers/promises";
import { reserveAll } from "./answers.ts";
import { plenty, reserve } from "./committed.ts";
import { closedLoop, rateOf, type Tally } from "./load.ts";
import { guarded, type Plain, quantile, rowOf, type Scale } from "./pairs.ts";
import type { Pair, Row } from "./report.ts";
import {
  BrokenInvariant,
  openSale,
  openWorld,
  prove,
  requestOf,
  type Sale,
  type World,
} from "./world.ts";

const lag: Plain = {
  name: "expiry lag, p99",
  unit: "ms",
  baselineName: null,
  target: { of: "value", is: "<=", bound: 1_000 },
};
const meanwhile: Plain = {
  name: "committed while as many holds end",
  unit: "reservations/s",
  baselineName: "while none ends",
  target: { of: "ratio", is: ">=", bound: 0.8 },
};
const holdSeconds = 4;
const callers = 64;
const waitMs = 30_000;
const patienceMs = 60_000;

/**
 * So many holds that end together, and buyers beside them, as many as can be served, until the
 * last hold has ended: how late each ends, and what the buyers get meanwhile, against a time in
 * which nothing ends.
 */
export async function expiryRows(scale: Scale): Promise<Row[]> {
  const lags: number[] = [];
  const pairs: Pair[] = [];
  const holds = scale.count * 5;
  const note = `${holds} holds`;
  const row = await guarded(lag, async () => {
    for (let n = 0; n < scale.pairs; n += 1) {
      const one = await onePair(scale, holds);
      lags.push(...one.lags);
      pairs.push(one.pair);
    }
    const said = { ...lag, note: `${note}; p50 ${quantile(lags, 0.5).toFixed(0)} ms` };
    return rowOf(said, [{ ours: quantile(lags, 0.99), baseline: null }]);
  });
  if (row.ours === null) return [row];
  return [row, rowOf({ ...meanwhile, note: `${note}; ${callers} callers` }, pairs)];
}

async function onePair(scale: Scale, holds: number): Promise<{ lags: number[]; pair: Pair }> {
  const lags: number[] = [];
  await using world = await openWorld({ expired: (_count, lagMs) => lags.push(lagMs) });
  const brief = await openSale(world, { name: "brief", stock: holds, holdSeconds });
  const lasting = await openSale(world, { name: "lasting", stock: plenty });
  const buyers = new Buyers(world, lasting);
  await buyers.rate(scale.seconds / 4);
  await holdAll(world, brief, holds);
  const endAt = performance.now() + holdSeconds * 1_000;
  const baseline = await buyers.rate(scale.seconds / 2);
  await sleep(Math.max(0, endAt - performance.now()));
  const until = performance.now() + patienceMs;
  const ours = await buyers.rateWhile(() => lags.length < holds && performance.now() < until);
  if (lags.length !== holds) throw new BrokenInvariant(`${lags.length} of ${holds} holds expired`);
  await prove(world, { sale: brief, reserved: 0 });
  await prove(world, { sale: lasting, reserved: buyers.served });
  return { lags, pair: { ours, baseline } };
}

async function holdAll(world: World, sale: Sale, holds: number): Promise<void> {
  const { buyers } = world.holdfast.engine;
  await reserveAll(holds, async (n) => {
    const outcome = await buyers.reserve(requestOf(sale, n), { waitMs });
    // On a busy machine a short hold may be over when its answer comes.
    if (!outcome.ok) throw new BrokenInvariant(`a buyer was told ${outcome.code}`);
  });
}

/** Short against the time that the holds take, long against one answer. */
const stretchSeconds = 0.1;

class Buyers {
  readonly #world: World;
  readonly #sale: Sale;
  served = 0;

  constructor(world: World, sale: Sale) {
    this.#world = world;
    this.#sale = sale;
  }

  async rate(seconds: number): Promise<number> {
    return rateOf(await this.#stretch(seconds));
  }

  async rateWhile(isOn: () => boolean): Promise<number> {
    let [answered, seconds] = [0, 0];
    do {
      const tally = await this.#stretch(stretchSeconds);
      answered += tally.answered;
      seconds += tally.seconds;
    } while (isOn());
    return answered / seconds;
  }

  #stretch(seconds: number): Promise<Tally> {
    const call = () => reserve(this.#world, this.#sale, this.served++);
    return closedLoop({ callers, seconds }, call);
  }
}
