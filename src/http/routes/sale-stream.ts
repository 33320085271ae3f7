import type { FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../domain/fault.ts";
import { saleId } from "../../domain/values.ts";
import { sendProblem } from "../answers.ts";
import { saleBody } from "../bodies.ts";
import { lastEventId } from "../event-streams.ts";
import { isoTime } from "../input.ts";
import type { RouteDeps } from "../route.ts";
import { tooManyStreams } from "./reservation-stream.ts";

type SaleAsked = FastifyRequest<{ Params: { saleId: string } }>;

const frameMs = 1_000;

/**
 * A frame a second. Every frame is whole, so a reader that comes back has missed nothing that it
 * still needs; only the ids go on from the last one that it saw.
 */
export async function streamSale(
  request: SaleAsked,
  reply: FastifyReply,
  { engine, clock, streams }: RouteDeps,
): Promise<FastifyReply> {
  const id = saleId(request.params.saleId);
  const present = await engine.merchandising.sale(id);
  if (present === null) return saleNotFound(request, reply);
  const stream = streams.open(request, reply);
  if (stream === null) return tooManyStreams(request, reply);
  let frame = frameAfter(lastEventId(request));
  try {
    while (!stream.signal.aborted) {
      const view = await engine.merchandising.sale(id).catch(nothingWhileAway);
      const data = view === null ? null : { at: isoTime(clock.now()), sale: saleBody(view) };
      if (data !== null) stream.send({ id: String(frame++), event: "level", data });
      await clock.sleep(frameMs, stream.signal);
    }
  } finally {
    stream.end();
  }
  return reply;
}

function frameAfter(seen: string | null): number {
  return seen !== null && /^\d{1,15}$/.test(seen) ? Number(seen) + 1 : 1;
}

/** A store that is away sends no frames: the reader sees them stop, and go on. */
function nothingWhileAway(error: unknown): null {
  if (error instanceof Fault) return null;
  throw error;
}

export function saleNotFound(request: SaleAsked, reply: FastifyReply): FastifyReply {
  const detail = `there is no sale ${request.params.saleId}`;
  return sendProblem(request, reply, { code: "SALE_NOT_FOUND", detail });
}
