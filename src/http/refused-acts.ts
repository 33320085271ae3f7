import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../clock.ts";
import type { AuditRecord } from "../domain/command.ts";
import { roleCovers, type UserRole } from "../domain/user-role.ts";
import { sendProblem } from "./answers.ts";
import type { Problem } from "./problem.ts";

/** What one actor's refusals may write into the audit log in a minute. */
const recordsMax = 30;
const windowMs = 60_000;
const actorsMax = 1_000;

export type WriteAudit = (record: Omit<AuditRecord, "at">) => Promise<void>;

/**
 * Failed attempts are in the audit log too. Nobody can fill it with them: of one actor, or of all
 * who are unknown together, so many are written in a minute.
 */
export class RefusedActs {
  readonly #clock: Clock;
  readonly #write: WriteAudit;
  readonly #counts = new Map<string, number>();
  #windowFromMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, write: WriteAudit) {
    this.#clock = clock;
    this.#write = write;
  }

  async note(request: FastifyRequest, actor: string | null, reason: string): Promise<void> {
    if (!this.#mayWrite(actor ?? "")) return;
    await this.#write({
      actor: actor ?? "unknown",
      action: "access.refused",
      subject: `${request.method} ${request.routeOptions.url ?? "unknown path"}`,
      reason,
      before: null,
      after: { address: request.ip, path: request.url.slice(0, 200) },
    });
  }

  #mayWrite(actor: string): boolean {
    const now = this.#clock.mono();
    if (now - this.#windowFromMs >= windowMs) {
      this.#windowFromMs = now;
      this.#counts.clear();
    }
    const count = this.#counts.get(actor) ?? 0;
    if (count >= recordsMax || (count === 0 && this.#counts.size >= actorsMax)) return false;
    this.#counts.set(actor, count + 1);
    return true;
  }
}

/** The problem when the one who asks may less than is needed; null when it is enough. */
export function lackOfRole(role: UserRole, needed: UserRole): Problem | null {
  if (roleCovers(role, needed)) return null;
  const detail = `this needs the role ${needed}, yours is ${role}`;
  return { code: "FORBIDDEN", detail, facts: { role, needed } };
}

/** For a route of which only some calls need more than the route itself. */
export async function refusedBelow(
  request: FastifyRequest,
  reply: FastifyReply,
  { needed, refusedActs }: { needed: UserRole; refusedActs: RefusedActs },
): Promise<FastifyReply | null> {
  const { role, actor } = request.who;
  const problem = lackOfRole(role, needed);
  if (problem === null) return null;
  await refusedActs.note(request, actor, problem.detail);
  return sendProblem(request, reply, problem);
}
