import { beforeEach, expect, vi } from "vitest";
import type { Clock } from "../../src/clock.ts";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

const minuteMs = 60_000;

beforeEach(() => {
  vi.stubEnv("TZ", "America/New_York");
});

/** 01:50 in New York, ten minutes before the hour that comes twice. */
const beforeTheHour = Date.parse("2026-11-01T05:50:00Z");
/** 01:50 in New York, ten minutes before the hour that is left out. */
const beforeTheGap = Date.parse("2026-03-08T06:50:00Z");

test.each([
  ["autumn", beforeTheHour],
  ["spring", beforeTheGap],
])(
  "C41 (a) a window of 15 minutes across the change of the clocks in %s lasts as long",
  async (_, startsAt) => {
    const shop = await openShop({ stock: { A: 1 }, holdSeconds: 900, startsAt });
    expect(new Date(startsAt).getHours()).toBe(1);
    expect(new Date(startsAt + 14 * minuteMs).getHours()).not.toBe(2);
    const ask = await httpOf(shop);
    const at = shop.time.clock.now();
    const { id } = await shop.reserve("o1", "u1", ["A", 1]);
    const told = await ask(`/v1/reservations/${id}`);
    expect(told.body["expiresAt"]).toBe(new Date(at + 15 * minuteMs).toISOString());
    await shop.later(14 * minuteMs);
    expect(await shop.state(id)).toBe("reserved");
    expect(await shop.levels("A")).toEqual(units({ R: 1, T: 1 }));
    await shop.later(2 * minuteMs);
    expect(await shop.state(id)).toBe("expired");
    await shop.atRest({ A: units({ A: 1, T: 1 }) });
  },
);

/** A machine whose wall clock is wrong. */
function skewed(clock: Clock, ms: number): Clock {
  return {
    now: () => clock.now() + ms,
    mono: () => clock.mono(),
    sleep: (time, signal) => clock.sleep(time, signal),
  };
}

const skews = [90_000, -90_000];

test("C41 (b) workers whose clocks are wrong by 90 s end no hold early or late", async () => {
  const shop = await openShop({
    stock: { A: 1, B: 1 },
    holdSeconds: 60,
    processes: 2,
    stores: (stores, n) => ({ ...stores, clock: skewed(stores.clock, skews[n] ?? 0) }),
  });
  // One of the two decides, so that no time passes in waiting; both of them sweep.
  void shop.processes[1]?.stop("ledger-writer");
  const paid = await shop.reserve("o1", "u1", ["A", 1]);
  const left = await shop.reserve("o2", "u2", ["B", 1]);
  await shop.later(59_000);
  for (const process of shop.processes) {
    expect((await shop.view(paid.id, process)).state).toBe("reserved");
  }
  expect((await shop.pay(paid.id, "p1")).state).toBe("confirmed");
  await shop.later(1_200);
  for (const process of shop.processes) {
    expect((await shop.view(left.id, process)).state).toBe("expired");
  }
  expect(await shop.view(paid.id)).toMatchObject({ state: "confirmed", revived: false });
  await shop.atRest({ A: units({ S: 1, T: 1 }), B: units({ A: 1, T: 1 }) });
});

test("C41 (c) a deadline with a fraction of a second is not cut to the second", async () => {
  const startsAt = Date.parse("2026-05-01T12:00:00.900Z");
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: 1, startsAt });
  const { clock } = shop.time;
  const { id, view } = await shop.reserve("o1", "u1", ["A", 1]);
  const deadline = view?.expiresAt ?? 0;
  expect(deadline).toBe(clock.now() + 1_000);
  expect(deadline % 1_000).toBeGreaterThanOrEqual(900);
  await shop.time.pass(999);
  expect(await shop.state(id)).toBe("reserved");
  expect((await shop.row("A")).balances).toMatchObject({ available: 0, reserved: 1 });
  await shop.time.pass(1);
  expect(await shop.state(id)).toBe("expired");
  await shop.later(200);
  await shop.atRest({ A: units({ A: 1, T: 1 }) });
});

test("C41 a ledger's clock that jumps ends no holds: a person is called", async () => {
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: 900 });
  await shop.reserve("o1", "u1", ["A", 1]);
  await shop.passes(200);
  shop.time.clock.jump(60 * minuteMs);
  await shop.passes(1_000);
  expect((await shop.row("A")).balances).toMatchObject({ available: 0, reserved: 1 });
  expect(shop.noted.some((line) => line.startsWith("alarm clock:"))).toBe(true);
  await shop.atRest({ A: units({ R: 1, T: 1 }) }, { calls: 1 });
});
