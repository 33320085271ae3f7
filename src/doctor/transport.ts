import type { Config } from "../config.ts";
import { clusterUrl, isLoopback } from "../config-values.ts";
import { type Checks, type Finding, judgeAll, some, warnWhen } from "./check.ts";

/** How the queues of a ledger are named on its broker, and how many lanes there are. */
export type LanePlace = { readonly prefix: string; readonly count: number };

/**
 * Which stores, by their URLs, and where events go; and, where somebody has read the ledger, the
 * names on the bus.
 */
export type StoreUrls = Pick<Config, "ledger" | "hot" | "bus"> &
  Partial<Pick<Config, "events">> & { readonly lanes?: LanePlace };

export type TransportFacts = { readonly open: readonly string[] };

const encrypted = /^(rediss|amqps):|[?&](tls=on|ca=)/;

/** What goes over a network in the clear can be read and changed on its way. */
export const transportChecks: Checks<TransportFacts> = {
  transport: {
    look: "holdfast config print",
    judge: ({ open }) => warnWhen(open.length > 0, { hosts: some(open), count: open.length }),
  },
};

export function examineTransport({ ledger, hot, bus }: StoreUrls): readonly Finding[] {
  const urls = [ledger, hot, bus].flatMap((store) => ("url" in store ? nodeUrls(store.url) : []));
  const open = urls
    .filter((url) => !encrypted.test(url) && URL.canParse(url))
    .map((url) => new URL(url).hostname)
    .filter((host) => host !== "" && !isLoopback(host));
  return judgeAll(transportChecks, { open: [...new Set(open)] });
}

/** A cluster is named by some of its nodes; anything else by one URL. */
export function nodeUrls(url: string): readonly string[] {
  const cluster = clusterUrl(url);
  return cluster === null ? [url] : cluster.nodes.map((node) => `redis://${cluster.login}${node}`);
}
