import type { FastifyInstance } from "fastify";
import type { UserRole } from "../domain/user-role.ts";

/**
 * What each call needs, by its operation id. A route that is neither here nor open to everybody
 * does not start: nothing is reachable because somebody forgot it.
 */
export const neededRoles = {
  viewer: [
    ...["listSales", "getSale", "watchSale", "getReservation", "watchReservation", "getTimeline"],
    ...[
      "listStock",
      "getStock",
      "lookAtStock",
      "listEntries",
      "reconcile",
      "listAudit",
      "search",
      "doctor",
    ],
    ...["listDeadLetters", "getDeadLetter", "countGivenUp", "metrics", "getSession", "signOut"],
  ],
  operator: [
    ...["startRush", "createSale", "openSale", "pauseSale", "closeSale"],
    ...["reserve", "reserveBatch", "confirm", "cancel", "extend", "refund"],
    ...["restockStock", "withdrawStock", "freezeStock", "unfreezeStock"],
    ...["adjustStock", "countStock", "stopStock", "replayDeadLetter", "replayDeadLetters"],
    // Applying a repair needs more than its dry run: the route says so itself.
    ...["verify", "repair"],
  ],
  admin: ["resumeStock", "discardDeadLetter", "discardDeadLetters"],
} as const satisfies Readonly<Record<UserRole, readonly string[]>>;

const roleByOperation: ReadonlyMap<string, UserRole> = new Map([
  ...neededRoles.viewer.map((id) => [id, "viewer"] as const),
  ...neededRoles.operator.map((id) => [id, "operator"] as const),
  ...neededRoles.admin.map((id) => [id, "admin"] as const),
]);

export function neededRole(operationId: string | undefined): UserRole | null {
  return operationId === undefined ? null : (roleByOperation.get(operationId) ?? null);
}

/** Before the routes: each gets its role, or is open, or stops the start. */
export function requireRoles(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    const isDocs = route.url === "/docs" || route.url.startsWith("/docs/");
    if (route.config?.open === true || isDocs) return;
    const role = neededRole(route.schema?.operationId);
    if (role === null) throw new Error(`${String(route.method)} ${route.url} needs no role`);
    route.config = { ...route.config, role };
  });
}
