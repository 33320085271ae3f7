import type { FastifyReply, FastifyRequest } from "fastify";
import { type SaleId, type SkuId, saleId } from "../../domain/values.ts";
import type { LevelView } from "../../engine/engine.ts";
import { sendProblem } from "../answers.ts";
import { saleBody } from "../bodies.ts";
import type { SaleFrameBody } from "../contract.ts";
import { type EventStream, lastEventId } from "../event-streams.ts";
import { isoTime } from "../input.ts";
import { isSameLevel, type LiveSale, type LiveSales } from "../live-sales.ts";
import type { RouteDeps } from "../route.ts";
import { tooManyStreams } from "./reservation-stream.ts";

type SaleAsked = FastifyRequest<{ Params: { saleId: string } }>;

const frameMs = 1_000;
/** Up to here a frame is whole every time; of more SKUs, only what has changed is sent. */
const wholeMax = 100;
/** Whoever has not read a frame for so long is not there. */
const skippedMax = 30;

/**
 * A frame a second. The first one is whole (`level`), so a reader that comes back has missed
 * nothing that it still needs; only the ids go on from the last one that it saw. Of a large sale
 * the next ones (`change`) hold the sale and those of its SKUs that are not as they were told. A
 * reader that is slower than that gets fewer frames, and never a part of one.
 */
export async function streamSale(
  request: SaleAsked,
  reply: FastifyReply,
  { engine, clock, streams, liveSales }: RouteDeps,
): Promise<FastifyReply> {
  const id = saleId(request.params.saleId);
  // What the others who watch have just been told will do: a large sale takes a while to read.
  const isKnown =
    (await liveSales.sale(id)) !== null || (await engine.merchandising.sale(id)) !== null;
  if (!isKnown) return saleNotFound(request, reply);
  const stream = streams.open(request, reply);
  if (stream === null) return tooManyStreams(request, reply);
  const frames = new Frames(id, { liveSales, stream, next: frameAfter(lastEventId(request)) });
  try {
    while (!stream.signal.aborted) {
      await frames.send();
      await clock.sleep(frameMs, stream.signal);
    }
  } finally {
    stream.end();
  }
  return reply;
}

type Watching = {
  readonly liveSales: LiveSales;
  readonly stream: EventStream;
  readonly next: number;
};

class Frames {
  readonly #id: SaleId;
  readonly #liveSales: LiveSales;
  readonly #stream: EventStream;
  readonly #told = new Map<SkuId, LevelView>();
  #next: number;
  #skipped = 0;

  constructor(id: SaleId, { liveSales, stream, next }: Watching) {
    this.#id = id;
    this.#liveSales = liveSales;
    this.#stream = stream;
    this.#next = next;
  }

  async send(): Promise<void> {
    if (this.#stream.isBehind) return this.#skip();
    const live = await this.#liveSales.sale(this.#id);
    if (live === null) return;
    this.#skipped = 0;
    const { levels } = live.view;
    const isWhole = this.#told.size === 0 || levels.length <= wholeMax;
    const items = isWhole
      ? levels
      : levels.filter((level) => !isSameLevel(this.#told.get(level.sku), level));
    for (const level of items) this.#told.set(level.sku, level);
    const event = isWhole ? "level" : "change";
    this.#stream.send({ id: String(this.#next++), event, data: frameBody(live, items) });
  }

  #skip(): void {
    if (++this.#skipped >= skippedMax) this.#stream.cut();
  }
}

function frameBody(live: LiveSale, items: readonly LevelView[]): SaleFrameBody {
  const { at, view, traffic, lane } = live;
  const oldest = view.levels.reduce(
    (most, { oldestTicketSeconds }) => Math.max(most, oldestTicketSeconds),
    0,
  );
  return {
    at: isoTime(at),
    sale: saleBody({ ...view, levels: items }),
    traffic,
    lane,
    oldestTicketSeconds: oldest,
  };
}

function frameAfter(seen: string | null): number {
  return seen !== null && /^\d{1,15}$/.test(seen) ? Number(seen) + 1 : 1;
}

export function saleNotFound(request: SaleAsked, reply: FastifyReply): FastifyReply {
  const detail = `there is no sale ${request.params.saleId}`;
  return sendProblem(request, reply, { code: "SALE_NOT_FOUND", detail });
}
