import { dark, sleep, slow, struck } from "./injections.ts";
import { type FaultRow, row } from "./row.ts";

const workers = "relay,writer,expirer,reconciler";

/** What befalls the network between Holdfast and its stores. */
export const networkRows: readonly FaultRow[] = [
  row("N1", "hot stock is behind a black hole for ten seconds", {
    may: "nothing",
    normalWithin: 12,
    inject: (scene) => dark([scene.network.hot], 10_000),
  }),
  row("N2", "every connection to hot stock is reset, for five seconds", {
    may: "nothing",
    normalWithin: 6,
    inject: async ({ network }) => {
      let cut = 0;
      for (let n = 0; n < 50; n += 1) {
        cut += network.hot.cutAll();
        await sleep(100);
      }
      struck(cut);
    },
  }),
  row("N3", "the answers of hot stock are lost for five seconds", {
    may: "nothing",
    normalWithin: 7,
    inject: ({ network }) => dark([network.hot], 5_000, "lose-replies"),
  }),
  row("N4", "the line sees the bus and not the ledger", {
    isGate: true,
    may: "nothing",
    normalWithin: 10,
    inject: (scene) => dark([scene.network.ledger], 10_000),
  }),
  row("N5", "the buyers' process sees hot stock and not the ledger", {
    apart: { front: "api", behind: workers },
    stage: { split: true },
    may: "nothing",
    normalWithin: 10,
    inject: ({ network }) => dark([network.ledger], 10_000),
  }),
  row("N6", "the relay sees hot stock and not the bus", {
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    stage: { split: true },
    may: "nothing",
    normalWithin: 10,
    inject: ({ networkBehind }) => dark([networkBehind.bus], 10_000),
  }),
  row("N7", "a slow line to hot stock: 200 ms and up to 200 more, a megabit a second", {
    may: "nothing",
    normalWithin: 5,
    inject: ({ network, faultMs }) =>
      slow([network.hot], { ms: faultMs, delayMs: 200, jitterMs: 200, bytesPerSecond: 125_000 }),
  }),
  row("N8", "a fifth of what goes to each store is lost on the way and sent again", {
    may: "nothing",
    normalWithin: 5,
    inject: ({ network, faultMs }) => {
      const lossy = { delayMs: 0, jitterMs: 0, bytesPerSecond: 1e9, lossShare: 0.2 };
      return slow([network.hot, network.bus, network.ledger], { ms: faultMs, ...lossy });
    },
  }),
  row("N9", "every connection dies without a word", {
    may: "nothing",
    normalWithin: 10,
    inject: async ({ network }) => {
      const ends = [network.hot, network.bus, network.ledger].map((each) => each.freezeAll());
      struck(Math.min(...ends));
    },
  }),
];
