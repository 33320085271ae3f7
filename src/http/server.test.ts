import { expect, it } from "vitest";
import { serverOver } from "../../test/support/http-server.ts";

it("answers that it is alive", async () => {
  const { app } = await serverOver({});
  const answer = await app.inject({ url: "/livez" });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ status: "ok" });
  const doc = await app.inject({ url: "/openapi.json" });
  console.log(doc.payload.length, doc.statusCode, doc.payload.slice(0, 300));
  const x = await app.inject({ url: "/docs/" });
  console.log(x.statusCode, x.headers, x.payload.slice(0, 600));
});
