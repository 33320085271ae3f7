import type { FastifyReply, FastifyRequest } from "fastify";
import type { ReservationView } from "../../engine/engine.ts";
import { sendProblem } from "../answers.ts";
import { reservationBody } from "../bodies.ts";
import { lastEventId } from "../event-streams.ts";
import type { RouteDeps } from "../route.ts";

/**
 * One event for each state. The id is the state, so a reader that comes back is not told the
 * same one twice; after the `end` event it is told 204, which keeps a browser from coming back.
 */
export async function streamReservation(
  request: FastifyRequest<{ Params: { reservationId: string } }>,
  reply: FastifyReply,
  { engine, streams }: RouteDeps,
): Promise<FastifyReply> {
  const id = request.params.reservationId;
  const seen = lastEventId(request);
  if (seen === endId) return reply.code(204).send();
  const present = await engine.buyers.reservation(id, { waitMs: 0 });
  if (present === null) {
    const detail = "no reservation of this server has this id";
    return sendProblem(request, reply, { code: "RESERVATION_NOT_FOUND", detail });
  }
  const stream = streams.open(request, reply);
  if (stream === null) return tooManyStreams(request, reply);
  try {
    for await (const view of engine.buyers.watch(id, stream.signal)) {
      if (eventIdOf(view) === seen) continue;
      stream.send({ id: eventIdOf(view), event: "state", data: reservationBody(view) });
    }
    if (!stream.signal.aborted) stream.send({ id: endId, event: "end", data: {} });
  } finally {
    stream.end();
  }
  return reply;
}

const endId = "end";

export function tooManyStreams(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const detail = "too many event streams are open, or the server is stopping";
  return sendProblem(request, reply, { code: "BUSY", detail });
}

/** Within a state, an extension, a refund or a payment that is due back is news too. */
function eventIdOf({ state, expiresAt, refunds, payments }: ReservationView): string {
  return `${state}.${expiresAt ?? 0}.${refunds.length}.${payments.length}`;
}
