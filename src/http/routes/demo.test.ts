import { describe, expect, it } from "vitest";
import { consoleServer, signedIn } from "../../../test/support/console-server.ts";
import type { Demo } from "../demo.ts";

const call = { method: "POST", url: "/v1/demo/rush" } as const;

function demoOf(started: Awaited<ReturnType<Demo["start"]>>) {
  const wishes: unknown[] = [];
  const start: Demo["start"] = async (wish) => {
    wishes.push(wish);
    return started;
  };
  return { demo: { start }, wishes };
}

describe("a rush from the page", () => {
  it("is started as the page wishes, or as usual, and says where to watch", async () => {
    const { demo, wishes } = demoOf({ saleId: "demo-2", sku: "demo-2-phone" });
    const { app } = await consoleServer({}, { isAutomatic: true, demo });
    const usual = await app.inject(call);
    expect([usual.statusCode, usual.headers["location"]]).toEqual([202, "/v1/sales/demo-2"]);
    expect(usual.json()).toMatchObject({ saleId: "demo-2", stock: 200, buyers: 2_000 });
    await app.inject({ ...call, payload: { stock: 5, buyers: 7 } });
    expect(wishes[1]).toEqual({ stock: 5, buyers: 7 });
    const who = await app.inject("/v1/session");
    expect(who.json()).toMatchObject({ demo: true });
  });

  it("S42 is not there outside dev", async () => {
    const { app } = await consoleServer({});
    expect((await app.inject(call)).json()).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect((await app.inject("/v1/session")).json()).toMatchObject({ demo: false });
  });

  it("is one at a time", async () => {
    const { app } = await consoleServer({}, { isAutomatic: true, demo: demoOf(null).demo });
    expect((await app.inject(call)).json()).toMatchObject({ status: 503, code: "BUSY" });
  });

  it.each([
    { stock: 0 },
    { stock: 10_001 },
    { buyers: 20_001 },
    { buyers: "many" },
    { seconds: 1 },
  ])("is bounded: %j", async (payload) => {
    const { demo, wishes } = demoOf({ saleId: "demo-2", sku: "demo-2-phone" });
    const { app } = await consoleServer({}, { isAutomatic: true, demo });
    expect((await app.inject({ ...call, payload })).statusCode).toBe(400);
    expect(wishes).toEqual([]);
  });

  it("is no viewer's", async () => {
    const { demo, wishes } = demoOf({ saleId: "demo-2", sku: "demo-2-phone" });
    const { app } = await consoleServer({}, { isAutomatic: true, demo });
    const { ask } = await signedIn(app, "vera");
    expect((await ask(call)).statusCode).toBe(403);
    expect(wishes).toEqual([]);
  });
});
