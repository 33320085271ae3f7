import type { FastifyInstance } from "fastify";
import { describe, expect, it } from "vitest";
import { consoleServer, signedIn } from "../../../test/support/console-server.ts";
import {
  someLevel,
  someReservation,
  someSale,
  someTime,
} from "../../../test/support/fake-engine.ts";
import { serverOfItsOwn, serverOver } from "../../../test/support/http-server.ts";
import type { ReservationView } from "../../engine/engine.ts";

type Frame = Readonly<Record<string, string>>;

/** Over a real connection, on a machine that may have other things to do. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

/** The frames of a stream that has ended: fields by name; comments are left out. */
function frames(text: string): Frame[] {
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) =>
    Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2))),
  );
}

function watching(...views: ReservationView[]) {
  return {
    buyers: {
      reservation: async () => views[0] ?? null,
      watch: async function* () {
        yield* views;
      },
    },
  };
}

const reservedId = `reserved.${someTime + 60_005}.0.0`;
const url = "/v1/reservations/0.abc.def/events";

describe("the events of a reservation", () => {
  it("are one for each state, with an id and a wait before coming back, and an end", async () => {
    const { app } = await serverOver(
      watching(someReservation("pending"), someReservation("reserved"), someReservation("expired")),
    );
    const answer = await app.inject(url);
    expect(answer.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.any(String),
    });
    const [first, ...events] = frames(answer.payload);
    expect(first).toEqual({ retry: "3000" });
    expect(events.map(({ id, event }) => [id, event])).toEqual([
      ["pending.0.0.0", "state"],
      [reservedId, "state"],
      [`expired.${someTime + 60_005}.0.0`, "state"],
      ["end", "end"],
    ]);
    expect(JSON.parse(events[1]?.["data"] ?? "")).toMatchObject({
      reservationId: "0.abc.def",
      state: "reserved",
    });
  });

  it("are not told twice to one who comes back, who is sent away after the end", async () => {
    const script = watching(someReservation("reserved"), someReservation("expired"));
    const { app } = await serverOver(script);
    const back = await app.inject({ url, headers: { "last-event-id": reservedId } });
    const ids = frames(back.payload).map(({ id }) => id);
    expect(ids).toEqual([undefined, `expired.${someTime + 60_005}.0.0`, "end"]);
    const after = await app.inject({ url, headers: { "last-event-id": "end" } });
    expect([after.statusCode, after.payload]).toEqual([204, ""]);
  });

  it("cannot be split by what a field holds", async () => {
    const reason = "a\r\n\r\nevent: state\ndata: {}\u2028";
    const { app } = await serverOver(watching(someReservation("cancelled", { reason })));
    const events = frames((await app.inject(url)).payload);
    expect(events).toHaveLength(3);
    expect(JSON.parse(events[1]?.["data"] ?? "").reason).toBe(reason);
  });

  it("are bounded in number: one more is told to come back", async () => {
    const { app } = await serverOfItsOwn(watching(someReservation("reserved")), {
      limits: { streamsMax: 0 },
    });
    const answer = await app.inject(url);
    expect(answer.json()).toMatchObject({ status: 503, code: "BUSY", retryable: true });
  });
});

const flow = {
  ...{ lane: 0, open: true, tickets: 3, outboxLength: 2, outboxOldestSeconds: 0.5 },
  lag: 4,
};

describe("the events of a sale", () => {
  it("are whole frames, a second apart, with a heartbeat between; ids go on", async () => {
    const { app, clock } = await serverOfItsOwn({
      merchandising: { sale: async () => someSale() },
      oversight: { lanes: async () => [flow] },
    });
    const watch = watcher(app, "/v1/sales/sale-1/events", { "last-event-id": "41" });
    await soon(() => watch.frames().length).toBe(1);
    for (let second = 1; second <= 15; second++) {
      clock.advance(1_000);
      await soon(() => watch.frames().length).toBe(1 + second);
    }
    const levels = watch.frames();
    expect(levels.map(({ id }) => id)).toEqual(
      Array.from({ length: 16 }, (_, n) => String(42 + n)),
    );
    expect(levels[0]?.["event"]).toBe("level");
    expect(JSON.parse(levels[1]?.["data"] ?? "")).toMatchObject({
      at: "2023-11-14T22:13:21.000Z",
      sale: { saleId: "sale-1", items: [{ sku: "sku-1" }] },
      traffic: { admitted: 0, soldOut: 0, p99Ms: null },
      lane: flow,
    });
    expect(watch.text()).toContain("\n: alive\n\n");
    await app.close();
    await soon(() => watch.isOver()).toBe(true);
  });

  it("of a large one are whole once, and then hold what has changed", async () => {
    const levels = Array.from({ length: 150 }, (_, n) => someLevel(`sku-${n}`));
    const { app, clock } = await serverOfItsOwn({
      merchandising: { sale: async () => ({ ...someSale(), levels: [...levels] }) },
      oversight: { lanes: async () => [flow] },
    });
    const watch = watcher(app, "/v1/sales/sale-1/events");
    await soon(() => watch.frames().length).toBe(1);
    levels[7] = someLevel("sku-7", { version: 8 });
    levels[9] = someLevel("sku-9", { oldestTicketSeconds: 2.5 });
    clock.advance(1_000);
    await soon(() => watch.frames().length).toBe(2);
    clock.advance(1_000);
    await soon(() => watch.frames().length).toBe(3);
    const told = watch.frames().map(({ event, data }) => [event, skusIn(data)]);
    expect(told[0]?.[0]).toBe("level");
    expect(told[0]?.[1]).toHaveLength(150);
    expect(told.slice(1)).toEqual([
      ["change", ["sku-7", "sku-9"]],
      ["change", []],
    ]);
    expect(JSON.parse(watch.frames()[1]?.["data"] ?? "").oldestTicketSeconds).toBe(2.5);
    watch.end();
  });

  it("cost the stores one look a second, however many watch", async () => {
    let looks = 0;
    const lanes = async () => {
      looks++;
      return [flow];
    };
    const { app, clock } = await serverOfItsOwn({
      merchandising: { sale: async () => someSale() },
      oversight: { lanes },
    });
    const watchers = Array.from({ length: 5 }, () => watcher(app, "/v1/sales/sale-1/events"));
    for (let frames = 1; frames <= 3; frames++) {
      for (const watch of watchers) {
        await soon(() => watch.frames().length).toBe(frames);
      }
      clock.advance(1_000);
    }
    expect(looks).toBeLessThanOrEqual(4);
    for (const watch of watchers) watch.end();
  });

  it("S40 end with the session of whoever watches, here at once, elsewhere at a beat", async () => {
    const script = {
      merchandising: { sale: async () => someSale() },
      oversight: { lanes: async () => [flow] },
    };
    const here = await consoleServer(script);
    const { ledger, clock } = here;
    const elsewhere = await consoleServer(script, { ledger, clock });
    const { ask, cookie } = await signedIn(here.app, "vera");
    const url = "/v1/sales/sale-1/events";
    const near = watcher(here.app, url, { cookie });
    const far = watcher(elsewhere.app, url, { cookie });
    for (const watch of [near, far]) await soon(() => watch.frames().length).toBe(1);
    await ask({ method: "DELETE", url: "/v1/session" });
    await soon(() => near.isOver()).toBe(true);
    expect(far.isOver()).toBe(false);
    clock.advance(15_000);
    await soon(() => far.isOver()).toBe(true);
  });

  it("S40 are bounded for one session; another one is served", async () => {
    const script = {
      merchandising: { sale: async () => someSale() },
      oversight: { lanes: async () => [flow] },
    };
    const { app } = await consoleServer(script, { limits: { streamsPerSessionMax: 2 } });
    const [vera, otto] = [await signedIn(app, "vera"), await signedIn(app, "otto")];
    const url = "/v1/sales/sale-1/events";
    const open = [1, 2].map(() => watcher(app, url, { cookie: vera.cookie }));
    for (const watch of open) await soon(() => watch.frames().length).toBe(1);
    const third = await vera.ask({ url });
    expect(third.json()).toMatchObject({ status: 503, code: "BUSY" });
    const other = watcher(app, url, { cookie: otto.cookie });
    await soon(() => other.frames().length).toBe(1);
    for (const watch of [...open, other]) watch.end();
  });
});

function skusIn(data: string | undefined): string[] {
  const items: { sku: string }[] = JSON.parse(data ?? "").sale.items;
  return items.map(({ sku }) => sku);
}

/** Reads a stream as it comes, over a connection of its own. */
function watcher(app: FastifyInstance, path: string, headers: Record<string, string> = {}) {
  const heard = { text: "", isOver: false };
  const gone = new AbortController();
  const listening = app.server.listening ? Promise.resolve() : app.listen({ port: 0 });
  const read = async (): Promise<void> => {
    await listening;
    const address = app.server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers,
      signal: gone.signal,
    });
    for await (const part of answer.body ?? []) heard.text += Buffer.from(part).toString();
  };
  const done = () => {
    heard.isOver = true;
  };
  void read().then(done, done);
  return {
    frames: () => frames(heard.text.slice(0, heard.text.lastIndexOf("\n\n") + 2)).slice(1),
    text: () => heard.text,
    isOver: () => heard.isOver,
    end: () => gone.abort(),
  };
}
