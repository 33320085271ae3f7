import { describe, expect, it } from "vitest";
import { someTime } from "../../../test/support/fake-engine.ts";
import { serverOver } from "../../../test/support/http-server.ts";
import type { AuditQuery } from "../../ledger/ledger.ts";

describe("the audit log as a file", () => {
  const record = (id: number) => ({
    id,
    at: someTime + id,
    actor: id === 2 ? "=cmd()" : "ops",
    action: "stock.adjust",
    subject: "sku:sku-1",
    reason: 'found "two", moved',
    before: { available: 1 },
    after: null,
  });
  const all = Array.from({ length: 1_200 }, (_, n) => record(1_200 - n));
  const auditLog = async ({ before, limit, actor }: AuditQuery) =>
    all
      .filter(({ id }) => id < (before ?? Number.MAX_SAFE_INTEGER))
      .filter((each) => actor === null || each.actor === actor)
      .slice(0, limit);

  it("holds every record that matches, the newest first, line by line", async () => {
    const { app } = await serverOver({ oversight: { auditLog } });
    const answer = await app.inject("/v1/audit-log?format=ndjson&actor=ops");
    expect(answer.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    expect(answer.headers["content-disposition"]).toContain("audit-log.ndjson");
    const lines = answer.payload.trimEnd().split("\n");
    expect(lines).toHaveLength(1_199);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ id: 1_200, before: { available: 1 } });
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ id: 1 });
  });

  it("S26 is CSV that no spreadsheet runs, with a byte order mark if asked for", async () => {
    const { app } = await serverOver({ oversight: { auditLog } });
    const answer = await app.inject("/v1/audit-log?format=csv&bom=true");
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    const rows = answer.payload.trimEnd().split("\r\n");
    expect(rows[0]).toBe("\ufeffid,at,actor,action,subject,reason,before,after");
    expect(rows).toHaveLength(1_201);
    const at = "2026-11-11T00:00:00.002Z";
    expect(rows.at(-2)).toBe(
      `2,${at},'=cmd(),stock.adjust,sku:sku-1,"found ""two"", moved","{""available"":1}",`,
    );
  });

  it("has no more records than were asked for", async () => {
    const { app } = await serverOver({ oversight: { auditLog } });
    const answer = await app.inject("/v1/audit-log?format=csv&limit=3");
    expect(answer.payload.trimEnd().split("\r\n")).toHaveLength(4);
  });
});
