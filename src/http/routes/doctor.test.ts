import { describe, expect, it } from "vitest";
import { someTime } from "../../../test/support/fake-engine.ts";
import { serverOfItsOwn, serverOver } from "../../../test/support/http-server.ts";
import type { Health, Reconciliation } from "../../engine/engine.ts";
import type { LedgerCounts } from "../../ledger/ledger.ts";

const atRest: Reconciliation = {
  at: someTime,
  skus: 1,
  drift: 0,
  behind: 0,
  inFlight: 0,
  repairs: 0,
  closed: 0,
  stopped: 0,
  items: [],
};
const counts: LedgerCounts = {
  ...{ skus: 1, entries: 7, orders: {}, deadLetters: 0 },
  ...{ unpublished: 3, unpublishedSince: null },
};
const healthy: Health = {
  ready: true,
  parts: [{ name: "ledger", ok: true, ms: 0.4, detail: "mysql://secret@db" }],
};

describe("the doctor", () => {
  it("says what is well, what is not and what to do, in the reader's language", async () => {
    const { app } = await serverOver({
      oversight: {
        health: async () => healthy,
        reconciliation: async () => ({ ...atRest, drift: 3 }),
        counts: async () => ({ ...counts, deadLetters: 2 }),
        lanes: async () => [],
      },
    });
    const body = (await app.inject("/v1/doctor")).json();
    const states = body.checks.map(({ id, state }: Record<string, string>) => [id, state]);
    expect(body.ok).toBe(false);
    expect(states).toEqual([
      ["ledger", "ok"],
      ["drift", "fail"],
      ["behind", "ok"],
      ["lanes", "ok"],
      ["stopped-skus", "ok"],
      ["dead-letters", "warn"],
      ["oldest-ticket", "ok"],
      ["bus-lag", "ok"],
      ["repairs", "ok"],
    ]);
    const wrong = body.checks.filter(({ state }: { state: string }) => state !== "ok");
    expect(wrong.every(({ fix }: { fix: string }) => fix !== "")).toBe(true);
    expect(wrong.every(({ look }: { look: string }) => look !== "")).toBe(true);
    const headers = { "accept-language": "zh-CN" };
    const chinese = (await app.inject({ url: "/v1/doctor", headers })).json();
    const drift = chinese.checks.find(({ id }: { id: string }) => id === "drift");
    expect(drift.found).toBe("1 个 SKU 共偏差 3 件");
  });

  it("can tell that a store is away", async () => {
    const parts = [{ name: "ledger" as const, ok: false, ms: 2_000, detail: "refused" }];
    const { app } = await serverOver({
      oversight: { health: async () => ({ ready: false, parts }) },
    });
    const body = (await app.inject("/v1/doctor")).json();
    expect(body).toMatchObject({ ok: false, checks: [{ id: "ledger", state: "fail" }] });
  });

  it("looks at the stores beneath the engine where it is told of them", async () => {
    const { app } = await serverOfItsOwn(
      { oversight: { health: async () => ({ ...healthy, ready: false }) } },
      {
        stores: {
          ledger: { kind: "sqlite", file: "no-such-folder/ledger.db" },
          hot: { kind: "memory" },
          bus: { kind: "memory" },
        },
      },
    );
    const body = (await app.inject("/v1/doctor")).json();
    const failing = body.checks.filter(({ state }: { state: string }) => state === "fail");
    expect(failing).toMatchObject([{ id: "sqlite.folder" }]);
    expect(JSON.stringify(body)).not.toContain("secret");
  });
});
