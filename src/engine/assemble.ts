import type { Bus, DecisionNews } from "../bus/bus.ts";
import type { Clock, Random } from "../clock.ts";
import type { MessageKey } from "../domain/message.ts";
import type { Events } from "../events.ts";
import type { HotStock } from "../hot-stock/hot-stock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Admissions } from "./admission.ts";
import { Bell } from "./bell.ts";
import { makeBuyers } from "./buyers.ts";
import { Decisions } from "./decisions.ts";
import type { Engine } from "./engine.ts";
import { Fences } from "./fences.ts";
import { SoldOutGate } from "./gate.ts";
import { Leases } from "./leases.ts";
import { Line } from "./line.ts";
import { makeMerchandising } from "./merchandising.ts";
import { makeOversight } from "./oversight.ts";
import type { Parts } from "./parts.ts";
import { Projector } from "./projector.ts";
import { makeSettlement } from "./settlement.ts";

export type Stores = {
  readonly hot: HotStock;
  readonly ledger: Ledger;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  /** The first signs, all verify. */
  readonly messageKeys: readonly MessageKey[];
  /** Null: this process is the only one. */
  readonly news?: DecisionNews | null;
  /** One of the event loop: what has arrived by now is looked at. */
  readonly turn?: () => Promise<void>;
};

const noTurn = (): Promise<void> => Promise.resolve();

/** One process's engine over the stores that it shares with others. */
export async function assemble(stores: Stores): Promise<{ engine: Engine; parts: Parts }> {
  const {
    hot,
    ledger,
    bus,
    clock,
    random,
    events,
    messageKeys,
    news = null,
    turn = noTurn,
  } = stores;
  const idSecret = await ledger.secret("reservation-ids");
  const lanes = (await ledger.lanes()).length;
  const fences = new Fences(ledger, events);
  await fences.refresh();
  const gate = new SoldOutGate();
  const decisions = new Decisions(clock);
  const leases = new Leases({ ledger, clock, holder: random.bytes(12).toString("hex") });
  const projector = new Projector({ hot, ledger, fences, gate, events });
  const line = new Line({ ledger, projector, decisions, clock, random, events, news });
  // Whoever relays every lane itself need not tell anybody that an outbox has something.
  const outboxBell = new Bell(() => {
    if (leases.countOf("relay") < lanes) news?.tellOfWork();
  });
  news?.listen({
    decided: (ids) => decisions.wakeDecided(ids),
    work: () => outboxBell.ringHere(),
  });
  const admissions = new Admissions({ hot, fences, gate, events, outboxBell, turn });
  const parts: Parts = {
    hot,
    ledger,
    bus,
    clock,
    events,
    fences,
    gate,
    admissions,
    decisions,
    projector,
    line,
    outboxBell,
    idSecret,
    messageKeys,
    lanes,
    leases,
    turn,
  };
  const engine: Engine = {
    buyers: makeBuyers(parts),
    settlement: makeSettlement(parts),
    merchandising: makeMerchandising(parts),
    oversight: makeOversight(parts),
  };
  return { engine, parts };
}
