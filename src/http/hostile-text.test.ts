import { describe, expect, it } from "vitest";
import { someEntry, someLevel, someSale } from "../../test/support/fake-engine.ts";
import { serverOver } from "../../test/support/http-server.ts";

const hostile = [
  "<img src=x onerror=alert(1)>",
  "</script><script>alert(1)</script>",
  "javascript:alert(1)",
  '" onmouseover="alert(1)',
];

describe("what somebody named to be run by a browser", () => {
  it.each(hostile)("S25 is data in an answer of a type that no browser runs: %s", async (text) => {
    const { app } = await serverOver({
      merchandising: { sale: async () => someSale({ title: text }) },
      oversight: {
        level: async () => someLevel("sku-1", { statusReason: text }),
        entries: async () => [someEntry(1, { reason: text, actor: text })],
        search: async () => ({ hits: [], looked: [] }),
      },
    });
    const urls = [
      "/v1/sales/sale-1",
      "/v1/stock/sku-1",
      "/v1/stock/sku-1/entries",
      "/v1/stock/sku-1/entries?format=csv",
      "/v1/stock/sku-1/entries?format=ndjson",
      `/v1/search?q=${encodeURIComponent(text)}`,
      `/nowhere/${encodeURIComponent(text)}`,
    ];
    for (const url of urls) {
      const { headers } = await app.inject({ url, headers: { accept: "text/html" } });
      const type = String(headers["content-type"]);
      expect([url, type]).toEqual([url, expect.stringMatching(/^(application|text\/csv)/)]);
      expect(headers["x-content-type-options"]).toBe("nosniff");
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
    }
    const { title } = (await app.inject(urls[0] ?? "")).json();
    expect(title).toBe(text);
  });

  it("S26 is text to a spreadsheet, and comes as an attachment", async () => {
    const reasons = ["=cmd()", "+1", "-1", "@sum", "\t=1", "＝1"];
    const entries = reasons.map((reason, n) => someEntry(n + 1, { reason }));
    const { app } = await serverOver({ oversight: { entries: async () => entries } });
    const answer = await app.inject("/v1/stock/sku-1/entries?format=csv&bom=1");
    expect(answer.headers["content-disposition"]).toMatch(/^attachment; /);
    for (const reason of reasons) expect(answer.payload).toContain(`,'${reason},`);
  });
});
