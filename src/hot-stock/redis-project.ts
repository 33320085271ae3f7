import type { ProjectedEntry, Settled } from "../domain/entry.ts";
import { Fault } from "../domain/fault.ts";
import { type SkuId, skuId } from "../domain/values.ts";
import type { Fence, Projection, ProjectReply, Reply } from "./hot-stock.ts";
import { type RedisLane, skuArguments } from "./redis-lane.ts";
import { entryWords, settledWords, skusOf } from "./redis-words.ts";

/** News in one script call. */
const newsMax = 100;
const skusMax = 1_000;
/** A held ticket names SKUs that its news do not: told again with them, once is enough. */
const triesMax = 3;

const lacks = "MORE ";

type News = ProjectedEntry | Settled;

/**
 * In order, in parts: each leaves invariant I as it was, and a repeat changes nothing. The next is
 * spelled out and sent while the server has the last in hand.
 */
export async function projectLane(
  lane: RedisLane,
  fence: Fence,
  { entries, settled }: Projection,
): Promise<Reply<ProjectReply>> {
  const parts = [...partsOf([...entries, ...settled])];
  const told = parts.map((part) => projectPart(lane, fence, part));
  const found = new Findings();
  for (const reply of await Promise.all(told)) {
    if (reply.closed) return reply;
    for (const words of reply.value) found.add(words);
  }
  // An empty call is asked too: whether the lane is closed.
  if (parts.length === 0) {
    const call = await lane.run(fence, { name: "project", args: skuArguments([]) });
    if (call.closed) return call;
  }
  return { closed: false, value: found.reply() };
}

/** What the server said, call by call. */
async function projectPart(
  lane: RedisLane,
  fence: Fence,
  part: readonly News[],
): Promise<Reply<readonly (readonly string[])[]>> {
  const said: (readonly string[])[] = [];
  let skus = [...new Set(part.flatMap(skusOf))];
  let news = part;
  for (let attempt = 1; attempt <= triesMax; attempt += 1) {
    const told = new Map<SkuId, string>();
    const words = news.map((each) =>
      "versions" in each ? settledWords(each) : entryWords(each, told),
    );
    const args = [...skuArguments(skus), ...words];
    const call = await lane.run(fence, { name: "project", skus, args });
    if (call.closed) return call;
    said.push(call.value.filter((words) => !words.startsWith(lacks)));
    const lacking = call.value.filter((words) => words.startsWith(lacks));
    if (lacking.length === 0) return { closed: false, value: said };
    skus = [...new Set([...skus, ...lacking.map((words) => skuId(words.slice(lacks.length)))])];
    news = news.filter((each) => "versions" in each);
  }
  throw new Fault("HOT_UNAVAILABLE", "project: tickets with ever more SKUs");
}

function* partsOf(news: readonly News[]): Generator<readonly News[]> {
  let part: News[] = [];
  let skus = 0;
  for (const each of news) {
    const more = skusOf(each).length;
    if (part.length >= newsMax || (part.length > 0 && skus + more > skusMax)) {
      yield part;
      part = [];
      skus = 0;
    }
    part.push(each);
    skus += more;
  }
  if (part.length > 0) yield part;
}

class Findings {
  readonly #gaps = new Map<SkuId, number>();
  readonly #forks = new Map<SkuId, number>();
  readonly #missing = new Set<SkuId>();
  readonly #gaveBack = new Set<SkuId>();

  add(words: readonly string[]): void {
    for (const [word, name, version] of words.map((each) => each.split(" "))) {
      const sku = skuId(name);
      if (word === "APPLIED") this.#gaps.delete(sku);
      else if (word === "GAVE") this.#gaveBack.add(sku);
      else if (word === "GAP") this.#gaps.set(sku, Number(version));
      else if (word === "FORK") this.#forks.set(sku, Number(version));
      else if (word === "LACKS") this.#missing.add(sku);
      else throw new TypeError(`project.lua: an unknown word: ${word}`);
    }
  }

  reply(): ProjectReply {
    const points = (map: ReadonlyMap<SkuId, number>) =>
      [...map].map(([sku, version]) => ({ sku, version }));
    return {
      gaps: points(this.#gaps),
      forks: points(this.#forks),
      missing: [...this.#missing],
      gaveBack: [...this.#gaveBack],
    };
  }
}
