import Fastify from "fastify";
import { describe, expect, it } from "vitest";
import { serverOverNothing } from "../../test/support/http-server.ts";
import { neededRole, neededRoles, requireRoles } from "./roles.ts";

const openToAll = ["livez", "readyz", "healthz", "startupz", "signIn"];

describe("the table of roles", () => {
  it("S29 names every call of the document once, and nothing else", async () => {
    const { app } = await serverOverNothing();
    const { paths } = (await app.inject("/openapi.json")).json();
    const items: Record<string, { operationId?: string }>[] = Object.values(paths);
    const operations = items.flatMap((item) => Object.values(item));
    const ids = new Set(operations.map((it) => it.operationId ?? "without an id"));
    const named = Object.values(neededRoles).flat();
    expect(new Set(named).size).toBe(named.length);
    expect([...ids].sort()).toEqual([...named, ...openToAll].sort());
    expect(openToAll.filter((id) => neededRole(id) !== null)).toEqual([]);
  });

  it("S29 does not let a server start with a route that it does not know", () => {
    const app = Fastify();
    requireRoles(app);
    const route = (options: object) => () => app.get("/x", options, async () => "");
    expect(route({})).toThrow("GET /x needs no role");
    expect(route({ schema: { operationId: "somethingNew" } })).toThrow("needs no role");
  });
});
