import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { MessageKey } from "../domain/message.ts";
import type { Events } from "../events.ts";
import type { HotStock } from "../hot-stock/hot-stock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Admissions } from "./admission.ts";
import type { Bell } from "./bell.ts";
import type { Decisions } from "./decisions.ts";
import type { Fences } from "./fences.ts";
import type { SoldOutGate } from "./gate.ts";
import type { Leases } from "./leases.ts";
import type { Line } from "./line.ts";
import type { Projector } from "./projector.ts";

/** What the engine's files and the workers share: made once, in `assemble.ts`. */
export type Parts = {
  readonly hot: HotStock;
  readonly ledger: Ledger;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly events: Events;
  readonly fences: Fences;
  readonly gate: SoldOutGate;
  readonly admissions: Admissions;
  readonly decisions: Decisions;
  readonly projector: Projector;
  readonly line: Line;
  readonly outboxBell: Bell;
  /** The secret of reservation ids. */
  readonly idSecret: Buffer;
  readonly messageKeys: readonly MessageKey[];
  readonly lanes: number;
  readonly leases: Leases;
  /** Lets everybody else run: between the parts of long work, and before a batch of admissions. */
  readonly turn: () => Promise<void>;
};
