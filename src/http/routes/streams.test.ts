import { describe, expect, it } from "vitest";
import { someReservation, someSale, someTime } from "../../../test/support/fake-engine.ts";
import { serverOfItsOwn, serverOver } from "../../../test/support/http-server.ts";
import type { ReservationView } from "../../engine/engine.ts";

type Frame = Readonly<Record<string, string>>;

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

describe("the events of a sale", () => {
  it("are whole frames, a second apart, with a heartbeat between; ids go on", async () => {
    let looks = 0;
    const { app, clock } = await serverOfItsOwn({
      merchandising: {
        sale: async () => {
          looks++;
          return someSale();
        },
      },
    });
    const headers = { "last-event-id": "41" };
    let text = "";
    const answered = app.inject({ url: "/v1/sales/sale-1/events", headers }).then((answer) => {
      text = answer.payload;
    });
    await expect.poll(() => looks).toBe(2);
    for (let second = 1; second <= 15; second++) {
      clock.advance(1_000);
      await expect.poll(() => looks).toBe(2 + second);
    }
    await app.close();
    await answered;
    const levels = frames(text).slice(1);
    expect(levels.map(({ id }) => id)).toEqual(
      Array.from({ length: 16 }, (_, n) => String(42 + n)),
    );
    expect(levels[0]?.["event"]).toBe("level");
    expect(JSON.parse(levels[1]?.["data"] ?? "")).toMatchObject({
      at: "2023-11-14T22:13:21.000Z",
      sale: { saleId: "sale-1", items: [{ sku: "sku-1" }] },
    });
    expect(text).toContain("\n: alive\n\n");
  });
});
