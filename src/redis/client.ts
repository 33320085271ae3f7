import type { Redis, RedisOptions } from "ioredis";

/**
 * What every connection must be: nothing waits in a queue of the client, nothing is sent twice,
 * and a deadline means that the outcome is unknown. With the client's defaults a script whose
 * reply is lost runs twice. Each connection lives once: the next one is another.
 */
export const clientOptions = {
  protocol: 2,
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
  reconnectOnError: null,
  enableReadyCheck: true,
  enableAutoPipelining: false,
  maxLoadingRetryTime: 100,
} as const satisfies RedisOptions;

export type Patience = { readonly commandTimeout: number; readonly connectTimeout: number };

/** Connected and ready. Optional dependency: only whoever configures Redis needs the client. */
export async function connected(url: string, patience: Patience): Promise<Redis> {
  const { Redis } = await import("ioredis").catch((error: unknown) => {
    throw new Error("The Redis client is not installed: npm install ioredis", { cause: error });
  });
  const redis = new Redis(url, { ...clientOptions, ...patience });
  // Every call hears of its own error; without a listener the client prints them.
  let why: unknown = null;
  redis.on("error", (error) => {
    why = error;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new Error(`Redis: ${messageOf(why ?? error)}`, { cause: error });
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
