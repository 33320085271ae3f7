import type {} from "@fastify/swagger";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import type { Clock } from "../clock.ts";
import type { StoreUrls } from "../doctor/transport.ts";
import type { UserRole } from "../domain/user-role.ts";
import type { Engine } from "../engine/engine.ts";
import type { Who } from "./access.ts";
import type { ProblemCode } from "./contract.ts";
import type { Demo } from "./demo.ts";
import type { EventStreams } from "./event-streams.ts";
import type { LiveSales } from "./live-sales.ts";
import type { Metrics } from "./metrics.ts";
import type { RefusedActs } from "./refused-acts.ts";
import type { SaleTraffic } from "./sale-traffic.ts";
import type { SignIn } from "./sign-in.ts";

/** What the routes stand on. */
export type RouteDeps = {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly streams: EventStreams;
  readonly phase: () => Phase;
  /** Null: nobody signs in here. */
  readonly signIn: SignIn | null;
  readonly refusedActs: RefusedActs;
  readonly traffic: SaleTraffic;
  readonly liveSales: LiveSales;
  /** Null: nobody starts a rush from a page. */
  readonly demo: Demo | null;
  /** Where the operator keeps traces, `{traceId}` in it; without it nothing leads there. */
  readonly traceUrl?: string | null;
  /** What the doctor looks at beneath the engine; without them, at the engine alone. */
  readonly stores?: StoreUrls;
};

/** Where the process is in its life: only a ready one should get traffic. */
export type Phase = "starting" | "ready" | "stopping";

export type Routes = (app: FastifyInstance, deps: RouteDeps) => void;

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks: the name of the user or the API key, or `local`. */
    actor: string;
    /** And what they may. */
    who: Who;
  }
  interface FastifyContextConfig {
    /** Answered to everybody, without a key. */
    open?: boolean;
    /** What one must be at least; `roles.ts` gives it. */
    role?: UserRole;
    /** The refusals to show in OpenAPI, besides those of every route. */
    problems?: readonly ProblemCode[];
  }
}

/** A schema that the server knows by its name, so that OpenAPI shows it once. */
export function named(name: SchemaName): TSchema {
  return Type.Unsafe({ $ref: `${name}#` });
}

export type SchemaName =
  | "Reservation"
  | "Sale"
  | "SalePage"
  | "Level"
  | "LevelPage"
  | "Entry"
  | "EntryPage"
  | "StockChanged"
  | "Problem";

/** For calls whose every field may be left out: no body is an empty one. */
export async function allowNoBody(request: FastifyRequest): Promise<void> {
  request.body ??= {};
}
