/** The public API: open a Holdfast in your own process, or put an adapter of your own behind it. */
export type { Bus, Delivery, ReceiveOptions } from "./bus/bus.ts";
export { MemoryBus } from "./bus/memory.ts";
export { type Clock, ManualClock, type Random, systemClock, systemRandom } from "./clock.ts";
export type { LedgerEntry } from "./domain/entry.ts";
export { entryHash } from "./domain/entry.ts";
export { Fault, type FaultCode } from "./domain/fault.ts";
export { InvariantError } from "./domain/invariant.ts";
export type { Outcome, Refused } from "./domain/outcome.ts";
export { type Rejection, rejections } from "./domain/rejection.ts";
export {
  type BuyerId,
  buyerId,
  type OperationId,
  operationId,
  type Quantity,
  quantity,
  type ReservationId,
  reservationId,
  type SaleId,
  type SkuId,
  saleId,
  skuId,
  ValueError,
} from "./domain/values.ts";
export type {
  Buyers,
  Engine,
  LevelView,
  Merchandising,
  Oversight,
  Reconciliation,
  ReservationView,
  Settlement,
} from "./engine/engine.ts";
export { type Events, silentEvents } from "./events.ts";
export type { HotStock } from "./hot-stock/hot-stock.ts";
export { MemoryHotStock } from "./hot-stock/memory.ts";
export { buildServer, type ServerDeps } from "./http/server.ts";
export type { Ledger } from "./ledger/ledger.ts";
export { openSqliteLedger } from "./ledger/sqlite-ledger.ts";
export { type CloudEvent, NotAllTold, type Outlet, type StockEntry } from "./outlet/outlet.ts";
export { type Holdfast, type OpenOptions, openHoldfast } from "./wire.ts";
