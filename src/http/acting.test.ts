import { describe, expect, it } from "vitest";
import { someReservation } from "../../test/support/fake-engine.ts";
import { serverOver } from "../../test/support/http-server.ts";
import { accepted } from "../domain/outcome.ts";
import type { ReserveRequest } from "../engine/engine.ts";
import { traceIdOf } from "./acting.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

describe("the trace of a call", () => {
  it.each([`00-${traceId}-${parent}-01`, `00-${traceId}-${parent}-00`])("is read: %s", (header) => {
    expect(traceIdOf(header)).toBe(traceId);
  });

  it("is read of later versions, whatever they add", () => {
    expect(traceIdOf(`01-${traceId}-${parent}-01`)).toBe(traceId);
    expect(traceIdOf(`cc-${traceId}-${parent}-01-what-comes`)).toBe(traceId);
  });

  it.each([
    ["nothing", ""],
    ["version ff", `ff-${traceId}-${parent}-01`],
    ["more than version 00 has", `00-${traceId}-${parent}-01-more`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${parent}-01`],
    ["a parent of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
    ["capitals", `00-${traceId.toUpperCase()}-${parent}-01`],
    ["a short trace", `00-${traceId.slice(1)}-${parent}-01`],
    ["no flags", `00-${traceId}-${parent}`],
    ["another standard", `uber-trace-id: ${traceId}`],
  ])("is none: %s", (_what, header) => {
    expect(traceIdOf(header)).toBeNull();
  });

  it("is none where the header is missing or stands twice", () => {
    expect(traceIdOf(undefined)).toBeNull();
    expect(traceIdOf([`00-${traceId}-${parent}-01`, `00-${traceId}-${parent}-01`])).toBeNull();
  });
});

describe("a call", () => {
  const payload = { saleId: "sale-1", buyerId: "ann", items: [{ sku: "sku-1", quantity: 1 }] };
  const post = { method: "POST", url: "/v1/reservations", payload } as const;
  const own = { "content-type": "application/json", "idempotency-key": "k1" };

  async function asked(headers: Record<string, string>) {
    const requests: ReserveRequest[] = [];
    const { app } = await serverOver({
      buyers: {
        reserve: async (request) => {
          requests.push(request);
          return accepted(someReservation("reserved"));
        },
      },
    });
    const answer = await app.inject({ ...post, headers: { ...own, ...headers } });
    return { told: answer.headers["x-request-id"], origin: requests[0]?.origin };
  }

  it("is known by the caller's own id and trace", async () => {
    const headers = { "x-request-id": "gateway-7", traceparent: `00-${traceId}-${parent}-01` };
    const { told, origin } = await asked(headers);
    expect(told).toBe("gateway-7");
    expect(origin).toEqual({ requestId: "gateway-7", traceId });
  });

  it("is known by the id that it is answered with, where it brought none", async () => {
    const { told, origin } = await asked({ "x-request-id": "not an id" });
    expect(told).not.toBe("not an id");
    expect(origin).toEqual({ requestId: told, traceId: null });
  });
});
