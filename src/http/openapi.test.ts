import { describe, expect, it } from "vitest";
import { serverOverNothing } from "../../test/support/http-server.ts";
import { problemCodes } from "./contract.ts";

type Operation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
};

type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

async function document(): Promise<Document> {
  const { app } = await serverOverNothing();
  return (await app.inject("/openapi.json")).json();
}

const calls = [
  ...["POST /v1/sales", "GET /v1/sales", "GET /v1/sales/{saleId}"],
  ...["open", "pause", "close"].map((verb) => `POST /v1/sales/{saleId}/${verb}`),
  "GET /v1/sales/{saleId}/events",
  ...["POST /v1/reservations", "POST /v1/reservations:batch"],
  "GET /v1/reservations/{reservationId}",
  ...["events", "timeline"].map((part) => `GET /v1/reservations/{reservationId}/${part}`),
  ...["confirm", "cancel", "extend", "refund"].map(
    (verb) => `POST /v1/reservations/{reservationId}/${verb}`,
  ),
  ...["GET /v1/stock", "GET /v1/stock/{sku}", "GET /v1/stock/{sku}/entries"],
  "GET /v1/stock/{sku}/look",
  ...["restock", "withdraw", "freeze", "unfreeze", "adjust", "count", "stop", "resume"].map(
    (verb) => `POST /v1/stock/{sku}/${verb}`,
  ),
  ...["GET /v1/reconciliation", "POST /v1/reconciliation/repair", "POST /v1/audit/verify"],
  ...["GET /v1/dead-letters", "GET /v1/dead-letters/{id}", "GET /v1/dead-letters/given-up"],
  ...["POST /v1/dead-letters:replay", "POST /v1/dead-letters:discard"],
  ...["POST /v1/dead-letters/{id}/replay", "POST /v1/dead-letters/{id}/discard"],
  ...["GET /v1/audit-log", "GET /v1/search", "GET /v1/doctor"],
  ...["POST", "GET", "DELETE"].map((method) => `${method} /v1/session`),
  "POST /v1/demo/rush",
  ...["livez", "readyz", "healthz", "startupz", "metrics"].map((name) => `GET /${name}`),
];

describe("the OpenAPI document", () => {
  it("is of version 3.1 and holds every call, each once and named", async () => {
    const { openapi, paths } = await document();
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        call: `${method.toUpperCase()} ${path}`,
        ...operation,
      })),
    );
    const gets = operations.filter(({ call }) => !call.startsWith("HEAD "));
    expect(openapi).toBe("3.1.0");
    expect(gets.map(({ call }) => call).sort()).toEqual([...calls].sort());
    const names = gets.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(calls.length);
    expect(names.every((name) => /^[a-z][A-Za-z]+$/.test(name ?? ""))).toBe(true);
    expect(gets.filter(({ summary }) => summary === undefined)).toEqual([]);
  });

  it("is the golden one: whoever changes what people script against sees it", async () => {
    // To accept a difference: npx vitest run --update src/http/openapi.test.ts
    // Of the examples, which are all made by one function, the codes are enough.
    const short = (key: string, value: unknown): unknown =>
      key === "examples" && value !== null && typeof value === "object"
        ? Object.keys(value).join(" ")
        : value;
    const found = await document();
    // The order in which routes are made is nobody's business.
    const paths = Object.fromEntries(
      Object.entries(found.paths).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    const text = `${JSON.stringify({ ...found, paths }, short, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../test/golden/openapi.json");
  });

  it("refers only to schemas that it holds", async () => {
    const text = JSON.stringify(await document());
    const { components } = await document();
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref);
    const held = Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(refs.length).toBeGreaterThan(0);
    expect(refs.filter((ref) => !held.includes(ref ?? ""))).toEqual([]);
  });

  it("shows an example of every code that a route can answer", async () => {
    const { paths } = await document();
    const reserve = JSON.stringify(paths["/v1/reservations"]?.["post"]?.responses);
    for (const code of ["SOLD_OUT", "KEY_MISSING", "KEY_REUSED", "STOCK_CLOSED", "TOO_LARGE"]) {
      expect(problemCodes).toContain(code);
      expect(reserve).toContain(`"code":"${code}"`);
    }
  });
});

describe("the pages of the documentation", () => {
  it("come from here alone, and nothing in them runs that is not a file of ours", async () => {
    const { app } = await serverOverNothing();
    for (const url of ["/docs/", "/docs/problems"]) {
      const page = await app.inject(url);
      expect(page.statusCode).toBe(200);
      const policy = String(page.headers["content-security-policy"]);
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const links = [...page.payload.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link);
      expect(links.filter((link) => /^(https?:)?\/\//.test(link ?? ""))).toEqual([]);
      expect(page.payload).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>|\son\w+=|<style/i);
      for (const link of links.filter((link) => link?.startsWith("./"))) {
        const asset = await app.inject(`/docs/${link?.slice(2)}`);
        expect([link, asset.statusCode]).toEqual([link, 200]);
      }
    }
  });

  it.each(["/docs/static/..%2f..%2fpackage.json", "/docs/static/../../package.json"])(
    "do not lead out of their folder: %s",
    async (url) => {
      const { app } = await serverOverNothing();
      const answer = await app.inject(url);
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.payload).not.toContain('"dependencies"');
    },
  );
});
