import { describe, expect, it } from "vitest";
import { someLetter, someLevel, someTime } from "../../../test/support/fake-engine.ts";
import {
  ownCall,
  serverOfItsOwn,
  serverOver,
  serverOverNothing,
} from "../../../test/support/http-server.ts";
import { Fault } from "../../domain/fault.ts";
import { skuId } from "../../domain/values.ts";
import type { Health, Reconciliation } from "../../engine/engine.ts";
import type { LedgerCounts } from "../../ledger/ledger.ts";

const act = { method: "POST", headers: { "content-type": "application/json" } } as const;

const atRest: Reconciliation = {
  at: someTime,
  skus: 1,
  drift: 0,
  behind: 0,
  inFlight: 0,
  repairs: 0,
  closed: 0,
  stopped: 0,
  items: [
    {
      sku: skuId("sku-1"),
      version: 7,
      hotVersion: 7,
      behind: 0,
      hotAvailable: -1,
      inFlight: 0,
      ledgerAvailable: 8,
      drift: 0,
      oldestTicketSeconds: 0.25,
      fits: true,
      status: "ok",
    },
  ],
};
const counts: LedgerCounts = {
  skus: 1,
  entries: 7,
  orders: { reserved: 2 },
  deadLetters: 0,
  unpublished: 3,
  unpublishedSince: null,
};
const healthy: Health = {
  ready: true,
  parts: [{ name: "ledger", ok: true, ms: 0.4, detail: "mysql://secret@db" }],
};

describe("reconciliation", () => {
  it("is told as the engine computes it", async () => {
    const { app } = await serverOver({ oversight: { reconciliation: async () => atRest } });
    const answer = await app.inject("/v1/reconciliation");
    const items = atRest.items.map((item) => ({ ...item, fits: undefined }));
    expect(answer.json()).toEqual({ ...atRest, items, at: "2026-11-11T00:00:00.000Z" });
  });

  it("is repaired only when it is said whether to try or to do", async () => {
    const calls: unknown[] = [];
    const action = { action: "rebuild", subject: "lane 0", reason: "drift", look: "" } as const;
    const { app } = await serverOver({
      oversight: {
        level: async (sku) => (sku === "sku-1" ? someLevel() : null),
        repair: async (...call) => {
          calls.push(call);
          return { dryRun: call[0].dryRun, actions: [{ ...action, done: false }] };
        },
      },
    });
    const url = "/v1/reconciliation/repair";
    const missing = await app.inject({ ...act, url, payload: {} });
    expect(missing.json()).toMatchObject({ status: 400, errors: [{ pointer: "/dryRun" }] });
    const answer = await app.inject({ ...act, url, payload: { dryRun: true, sku: "sku-1" } });
    expect(answer.json()).toEqual({ dryRun: true, actions: [{ ...action, done: false }] });
    const unknown = await app.inject({ ...act, url, payload: { dryRun: true, sku: "sku-2" } });
    expect(unknown.json()).toMatchObject({ code: "SKU_NOT_FOUND" });
    expect(calls).toEqual([
      [
        { dryRun: true, sku: "sku-1" },
        { actor: "local", reason: "", origin: ownCall },
      ],
    ]);
  });
});

describe("verification", () => {
  it("names the first broken entry", async () => {
    const firstBroken = {
      sku: skuId("sku-1"),
      version: 3,
      what: "hash",
      expected: "aa",
      found: "bb",
    };
    const verdict = { ok: false, skus: 1, entries: 7, firstBroken };
    const { app } = await serverOver({ oversight: { verify: async () => verdict } });
    const answer = await app.inject({ method: "POST", url: "/v1/audit/verify" });
    expect(answer.json()).toEqual(verdict);
  });
});

describe("dead letters", () => {
  it("are listed without their bytes, and one is shown with them", async () => {
    const { app } = await serverOver({
      oversight: {
        deadLetters: async () => [someLetter],
        deadLetter: async (id) => (id === 4 ? someLetter : null),
      },
    });
    const listed = (await app.inject("/v1/dead-letters?state=open&reason=bad%20signature")).json();
    expect(listed).toMatchObject({ items: [{ id: 4, bytes: someLetter.body.length }], next: null });
    expect(listed.items[0].bodyBase64).toBeUndefined();
    const one = (await app.inject("/v1/dead-letters/4")).json();
    expect(Buffer.from(one.bodyBase64, "base64")).toEqual(someLetter.body);
    expect((await app.inject("/v1/dead-letters/5")).statusCode).toBe(404);
    expect((await app.inject("/v1/dead-letters/x")).statusCode).toBe(400);
  });

  it("are settled one by one, with a reason", async () => {
    const calls: unknown[] = [];
    const { app } = await serverOver({
      oversight: {
        replayDeadLetter: async (id, context) => {
          calls.push([id, context]);
          return { id, outcome: id === 4 ? "replayed" : "not-found", detail: "" };
        },
      },
    });
    const url = "/v1/dead-letters/4/replay";
    expect((await app.inject({ ...act, url, payload: {} })).statusCode).toBe(400);
    const answer = await app.inject({ ...act, url, payload: { reason: "key was rotated" } });
    expect(answer.json()).toEqual({ id: 4, outcome: "replayed", detail: "" });
    const missing = { ...act, url: "/v1/dead-letters/5/replay", payload: { reason: "r" } };
    expect((await app.inject(missing)).statusCode).toBe(404);
    expect(calls[0]).toEqual([4, { actor: "local", reason: "key was rotated", origin: ownCall }]);
  });

  it("are settled by a filter, each with its outcome, after a try that does nothing", async () => {
    const settled: number[] = [];
    const queries: unknown[] = [];
    const { app } = await serverOver({
      oversight: {
        deadLetters: async (query) => {
          queries.push(query);
          return [4, 5].map((id) => ({ ...someLetter, id }));
        },
        discardDeadLetter: async (id) => {
          settled.push(id);
          return { id, outcome: id === 4 ? "discarded" : "already-settled", detail: "" };
        },
      },
    });
    const url = "/v1/dead-letters:discard";
    const wanted = { reason: "bad signature", lane: 0 };
    const payload = { filter: wanted, reason: "test", dryRun: true };
    const tried = await app.inject({ ...act, url, payload });
    expect(tried.json()).toMatchObject({
      dryRun: true,
      more: false,
      items: [{ id: 4, outcome: "would-discard" }, { id: 5 }],
    });
    expect(settled).toEqual([]);
    const done = await app.inject({ ...act, url, payload: { ...payload, dryRun: false } });
    const outcomes = done.json().items.map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes).toEqual(["discarded", "already-settled"]);
    const filter = { state: "open", lane: 0, reason: "bad signature", itemId: null };
    expect(queries[0]).toEqual({ ...filter, after: 0, limit: 1_001 });
  });
});

describe("looking things up", () => {
  it("finds an id as it was pasted, and says where it looked", async () => {
    const asked: string[] = [];
    const { app } = await serverOver({
      oversight: {
        search: async (text) => {
          asked.push(text);
          const hit = { type: "sku", id: "sku-1", matched: "sku", state: "normal" } as const;
          return { hits: [{ ...hit, at: someTime }], looked: ["skus", "sales"] };
        },
      },
    });
    const answer = await app.inject(`/v1/search?q=${encodeURIComponent(' "sku-1" ')}`);
    expect(asked).toEqual(["sku-1"]);
    expect(answer.json()).toMatchObject({
      hits: [{ id: "sku-1", link: "/v1/stock/sku-1", at: "2026-11-11T00:00:00.000Z" }],
      looked: ["skus", "sales"],
    });
    const { app: nobody } = await serverOverNothing();
    expect((await nobody.inject("/v1/search")).statusCode).toBe(400);
  });

  it("lists who did what, the newest first", async () => {
    const record = {
      at: someTime,
      actor: "ops",
      action: "restock",
      subject: "sku-1",
      reason: "delivery",
      before: { available: 1 },
      after: null,
    };
    const queries: unknown[] = [];
    const { app } = await serverOver({
      oversight: {
        auditLog: async (query) => {
          queries.push(query);
          return [2, 1].map((id) => ({ ...record, id })).slice(0, query.limit);
        },
      },
    });
    const first = (await app.inject("/v1/audit-log?actor=ops&limit=1")).json();
    const at = "2026-11-11T00:00:00.000Z";
    expect(first.items).toEqual([{ ...record, id: 2, at }]);
    await app.inject(first.next);
    expect(queries[1]).toMatchObject({ actor: "ops", before: 2, limit: 2 });
  });
});

describe("a probe", () => {
  it("of life never asks a store", async () => {
    const { app } = await serverOverNothing();
    expect((await app.inject("/livez")).statusCode).toBe(200);
  });

  it.each(["/readyz", "/healthz"])("%s names the stores only if asked, never more", async (url) => {
    const { app } = await serverOver({ oversight: { health: async () => healthy } });
    expect((await app.inject(url)).json()).toEqual({ status: "ok" });
    const verbose = await app.inject(`${url}?verbose`);
    expect(verbose.json()).toEqual({
      status: "ok",
      parts: [{ name: "ledger", ok: true, ms: 0.4 }],
    });
  });

  it.each(["starting", "stopping"] as const)("of readiness is no while %s", async (phase) => {
    const { app } = await serverOfItsOwn({}, { phase: () => phase });
    const answer = await app.inject("/readyz");
    expect([answer.statusCode, answer.json()]).toEqual([503, { status: phase }]);
    expect((await app.inject("/livez")).statusCode).toBe(200);
    expect((await app.inject("/startupz")).statusCode).toBe(phase === "starting" ? 503 : 200);
  });

  it("of readiness is no when a store is away, or does not answer in time", async () => {
    const answers: (() => Promise<Health>)[] = [
      async () => ({ ...healthy, ready: false }),
      async () => {
        throw new Fault("LEDGER_UNAVAILABLE", "away");
      },
      () => new Promise(() => {}),
    ];
    for (const health of answers) {
      const { app, clock } = await serverOver({ oversight: { health } });
      let status = 0;
      void app.inject("/readyz").then(({ statusCode }) => {
        status = statusCode;
      });
      const statusLater = (): number => {
        clock.advance(2_000);
        return status;
      };
      await expect.poll(statusLater).toBe(503);
    }
  });
});

describe("metrics", () => {
  const oversight = {
    reconciliation: async () => atRest,
    counts: async () => counts,
    levels: async () => [someLevel()],
    lanes: async () => [flow],
    givenUp: async () => 7,
  };
  const place = { lane: 0, open: true, tickets: 4 };
  const flow = { ...place, outboxLength: 3, outboxOldestSeconds: 0.5, lag: 2 };

  it("count what the ledger decided apart from what hot stock admitted", async () => {
    const { app, metrics } = await serverOfItsOwn({});
    metrics.observe(oversight);
    metrics.admitted(5);
    metrics.refused("SOLD_OUT", 90);
    metrics.committed(3);
    metrics.rejected("SOLD_OUT", 2);
    const { payload, headers } = await app.inject("/metrics");
    expect(headers["content-type"]).toContain("text/plain");
    for (const line of [
      'holdfast_admissions_total{result="admitted",code=""} 5',
      'holdfast_admissions_total{result="refused",code="SOLD_OUT"} 90',
      'holdfast_decisions_total{result="reserved",code=""} 3',
      'holdfast_decisions_total{result="rejected",code="SOLD_OUT"} 2',
      'holdfast_stock_units{store="ledger",state="reserved",sku="sku-1"} 2',
      'holdfast_stock_units{store="hot",state="available",sku="sku-1"} -1',
      'holdfast_reservations{state="reserved"} 2',
      "holdfast_drift_units 0",
      "holdfast_bus_given_up_messages 7",
      "holdfast_unpublished_entries 3",
      "holdfast_oldest_ticket_age_seconds 0.25",
      'holdfast_outbox_pending{lane="0"} 3',
      'holdfast_outbox_oldest_age_seconds{lane="0"} 0.5',
      'holdfast_consumer_lag{lane="0"} 2',
      "holdfast_stores_up 1",
      'holdfast_build_info{version="test"} 1',
    ]) {
      expect(payload).toContain(`${line}\n`);
    }
  });

  it("name no more SKUs than the bound; the rest is one sum", async () => {
    const { app, metrics } = await serverOfItsOwn({});
    const items = ["a", "b", "c"].map((sku) => ({ ...atRest.items[0], sku: skuId(sku) }));
    metrics.observe({
      ...oversight,
      reconciliation: async () => ({ ...atRest, items: items as Reconciliation["items"] }),
      levels: async () => [someLevel("a")],
    });
    const { payload } = await app.inject("/metrics");
    expect(payload).toContain('{store="ledger",state="available",sku="other"} 16\n');
    expect(payload).not.toContain('sku="b"');
  });

  it("are still counted while a store is away, and ask the stores once a second", async () => {
    const { app, metrics, clock } = await serverOfItsOwn({});
    let asked = 0;
    metrics.observe({
      ...oversight,
      counts: async () => {
        asked++;
        throw new Fault("LEDGER_UNAVAILABLE", "away");
      },
    });
    await Promise.all([app.inject("/metrics"), app.inject("/metrics")]);
    expect((await app.inject("/metrics")).payload).toContain("holdfast_stores_up 0\n");
    expect(asked).toBe(1);
    clock.advance(1_000);
    await app.inject("/metrics");
    expect(asked).toBe(2);
  });

  it("never have an id of a buyer or a reservation as a label", async () => {
    const { app } = await serverOfItsOwn({ buyers: { reservation: async () => null } });
    await app.inject("/v1/reservations/0.secret.id?wait=0");
    const { payload } = await app.inject("/metrics");
    expect(payload).not.toContain("0.secret.id");
    expect(payload).toContain('route="/v1/reservations/:reservationId",method="GET",status="404"');
  });
});
