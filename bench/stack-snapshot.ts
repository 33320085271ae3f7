import { Redis } from "ioredis";
import { PrivateRedis } from "../stack/redis.ts";
import { plenty } from "./committed.ts";
import { countedLoop, rateOf } from "./load.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { BrokenInvariant } from "./world.ts";

const stock = { total: plenty, available: plenty, frozen: 0, version: "1" } as const;
const callers = 64;

/** A snapshot of a SKU's stock, kept as a hash or as JSON: the same check and deduction on each. */
export async function stackSnapshotRows(scale: Scale): Promise<Row[]> {
  const redis = await PrivateRedis.start();
  const client = new Redis(redis.url, { protocol: 2 });
  try {
    const [hash, json] = [await Snapshot.asHash(client), await Snapshot.asJson(client)];
    return [await speedRow(scale, hash, json), await bytesRow(hash, json)];
  } finally {
    client.disconnect();
    await redis.stop();
  }
}

async function speedRow(scale: Scale, hash: Snapshot, json: Snapshot): Promise<Row> {
  const plain: Plain = {
    name: "snapshot as a hash, deductions",
    unit: "calls/s",
    baselineName: "as JSON",
    target: null,
    note: `${callers} callers`,
  };
  const count = scale.count * 10;
  const pairs = () =>
    inPairs(
      scale.pairs,
      () => rate(hash, count),
      () => rate(json, count),
    );
  return guarded(plain, async () => rowOf(plain, await pairs()));
}

async function bytesRow(hash: Snapshot, json: Snapshot): Promise<Row> {
  const plain: Plain = {
    name: "snapshot as a hash, memory",
    unit: "bytes",
    baselineName: "as JSON",
    target: null,
    note: "lower is better; with its key",
  };
  return rowOf(plain, [{ ours: await hash.bytes(), baseline: await json.bytes() }]);
}

async function rate(snapshot: Snapshot, count: number): Promise<number> {
  const before = await snapshot.available();
  const tally = await countedLoop({ callers, count }, () => snapshot.take());
  if ((await snapshot.available()) !== before - count) throw new BrokenInvariant("units differ");
  return rateOf(tally);
}

class Snapshot {
  readonly #client: Redis;
  readonly #key: string;
  readonly #script: string;

  private constructor(client: Redis, key: string, script: string) {
    this.#client = client;
    this.#key = key;
    this.#script = script;
  }

  static async asHash(client: Redis): Promise<Snapshot> {
    await client.hset("stock:hash", stock);
    return new Snapshot(client, "stock:hash", await load(client, takeFromHash));
  }

  static async asJson(client: Redis): Promise<Snapshot> {
    await client.set("stock:json", JSON.stringify(stock));
    return new Snapshot(client, "stock:json", await load(client, takeFromJson));
  }

  async take(): Promise<void> {
    const left = await this.#client.evalsha(this.#script, 1, this.#key, stock.version, 1);
    if (typeof left !== "number" || left < 0) throw new BrokenInvariant("nothing was taken");
  }

  /** Asks for no units: the script answers what is left. */
  async available(): Promise<number> {
    return Number(await this.#client.evalsha(this.#script, 1, this.#key, stock.version, 0));
  }

  async bytes(): Promise<number> {
    return Number(await this.#client.memory("USAGE", this.#key));
  }
}

async function load(client: Redis, script: string): Promise<string> {
  return String(await client.script("LOAD", script));
}

const takeFromHash = `
  if redis.call('hget', KEYS[1], 'version') ~= ARGV[1] then return -1 end
  local available, required = tonumber(redis.call('hget', KEYS[1], 'available')), tonumber(ARGV[2])
  if available < required then return -2 end
  return redis.call('hincrby', KEYS[1], 'available', 0 - required)`;

const takeFromJson = `
  local stock, required = cjson.decode(redis.call('get', KEYS[1])), tonumber(ARGV[2])
  if stock.version ~= ARGV[1] then return -1 end
  if stock.available < required then return -2 end
  stock.available = stock.available - required
  redis.call('set', KEYS[1], cjson.encode(stock))
  return stock.available`;
