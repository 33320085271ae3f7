import { describe, expect, it } from "vitest";
import { someLetter } from "../../../test/support/fake-engine.ts";
import { serverOver, serverOverNothing } from "../../../test/support/http-server.ts";
import { Fault } from "../../domain/fault.ts";
import type { DeadLetterQuery } from "../../ledger/ledger.ts";

const act = { method: "POST", headers: { "content-type": "application/json" } } as const;

describe("several dead letters by their ids", () => {
  const url = "/v1/dead-letters:replay";
  const letters = new Map([4, 5, 6, 7].map((id) => [id, { ...someLetter, id }]));
  const deadLetter = async (id: number) =>
    id === 5
      ? { ...someLetter, id, state: "discarded" as const, settledBy: "ops" }
      : (letters.get(id) ?? null);

  it("are looked at one by one, and settled in the order in which they were named", async () => {
    const settled: number[] = [];
    const { app } = await serverOver({
      oversight: {
        deadLetter,
        replayDeadLetter: async (id) => {
          settled.push(id);
          return { id, outcome: "replayed", detail: "decided" };
        },
      },
    });
    const payload = { filter: { ids: [6, 5, 99, 6] }, reason: "mended", dryRun: true };
    const tried = await app.inject({ ...act, url, payload });
    expect(tried.json().items).toMatchObject([
      { id: 6, outcome: "would-replay" },
      { id: 5, outcome: "already-settled", detail: "discarded by ops" },
      { id: 99, outcome: "not-found" },
    ]);
    expect(settled).toEqual([]);
    await app.inject({ ...act, url, payload: { ...payload, dryRun: false } });
    expect(settled).toEqual([6, 5, 99]);
  });

  it("say what was done before a store went away, and what was not tried after", async () => {
    const { app } = await serverOver({
      oversight: {
        deadLetter,
        replayDeadLetter: async (id) => {
          if (id === 6) throw new Fault("LEDGER_UNAVAILABLE", "away");
          return { id, outcome: "replayed", detail: "decided" };
        },
      },
    });
    const payload = { filter: { ids: [4, 6, 7] }, reason: "mended", dryRun: false };
    const answer = await app.inject({ ...act, url, payload });
    expect(answer.statusCode).toBe(200);
    const items: { outcome: string }[] = answer.json().items;
    expect(items.map(({ outcome }) => outcome)).toEqual(["replayed", "failed", "not-tried"]);
  });

  it.each([
    { ids: [] },
    { ids: [0] },
    { ids: ["4"] },
    { ids: Array.from({ length: 1_001 }, (_, n) => n + 1) },
    { ids: [4], lane: 0 },
  ])("are refused as they should not be: %#", async (filter) => {
    const { app } = await serverOverNothing();
    const payload = { filter, reason: "mended", dryRun: true };
    const answer = await app.inject({ ...act, url, payload });
    expect(answer.json()).toMatchObject({ status: 400, code: "INVALID" });
  });
});

describe("dead letters as a file", () => {
  const letters = Array.from({ length: 1_200 }, (_, n) => ({ ...someLetter, id: n + 1 }));
  const deadLetters = async ({ after, limit, state }: DeadLetterQuery) =>
    state === "open" ? letters.filter(({ id }) => id > after).slice(0, limit) : [];

  it("hold every one that matches, without their bytes, line by line", async () => {
    const { app } = await serverOver({ oversight: { deadLetters } });
    const answer = await app.inject("/v1/dead-letters?format=ndjson&state=open");
    expect(answer.headers["content-disposition"]).toContain("dead-letters.ndjson");
    const lines = answer.payload.trimEnd().split("\n");
    expect(lines).toHaveLength(1_200);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ id: 1_200, reason: someLetter.reason });
    expect(lines[0]).not.toContain("bodyBase64");
  });

  it("are CSV with a header, and no more than were asked for", async () => {
    const { app } = await serverOver({ oversight: { deadLetters } });
    const answer = await app.inject("/v1/dead-letters?format=csv&bom=true&limit=2&state=open");
    const rows = answer.payload.trimEnd().split("\r\n");
    expect(rows[0]).toMatch(/^\ufeffid,lane,state,reason,kind,.*,settledReason,bytes$/);
    expect(rows).toHaveLength(3);
  });
});

describe("what the broker has given up", () => {
  it.each([0, 7, null])("is told as a number, or that it is not known: %s", async (givenUp) => {
    const { app } = await serverOver({ oversight: { givenUp: async () => givenUp } });
    expect((await app.inject("/v1/dead-letters/given-up")).json()).toEqual({ givenUp });
  });
});
