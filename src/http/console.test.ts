import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverOfItsOwn } from "../../test/support/http-server.ts";
import { consolePages } from "./console.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-console-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(
    join(folder, "index.html"),
    '<meta content="%BASE%" nonce="%NONCE%"><script src="./assets/a-1.js"></script>',
  );
  writeFileSync(join(folder, "assets", "a-1.js"), "run()");
  writeFileSync(join(folder, "assets", "a-1.js.gz"), gzipSync("run()"));
  writeFileSync(join(folder, "secret.txt"), "secret");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function served(basePath = "", apiKeys = new Map<string, string>()) {
  const { app } = await serverOfItsOwn({}, { console: { folder, basePath }, apiKeys });
  return app;
}

describe("the console's pages", () => {
  it("are the one page, never kept, under a policy without anything from elsewhere", async () => {
    const app = await served();
    for (const path of consolePages) {
      const answer = await app.inject(path.replace("*", "some%20thing"));
      expect([path, answer.statusCode]).toEqual([path, 200]);
      const policy = String(answer.headers["content-security-policy"]);
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
      expect(answer.payload).toContain(`nonce="${nonce}"`);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(answer.headers).toMatchObject({ "cache-control": "no-store" });
    }
  });

  it("are shown to those who still have to sign in", async () => {
    const app = await served("", new Map([["ops", "hunter2"]]));
    expect((await app.inject("/")).statusCode).toBe(200);
    expect((await app.inject("/v1/sales")).statusCode).toBe(401);
  });

  it("do not hide that a call or a path is not there", async () => {
    const app = await served();
    const headers = { accept: "text/html" };
    for (const url of ["/v1/nowhere", "/nowhere", "/assets/none.js", "/salesman"]) {
      const answer = await app.inject({ url, headers });
      expect([url, answer.statusCode]).toEqual([url, 404]);
      expect(answer.headers["content-type"]).toContain("application/problem+json");
    }
  });

  it("are not in the description of the API", async () => {
    const app = await served();
    const { paths } = (await app.inject("/openapi.json")).json();
    expect(Object.keys(paths).filter((path) => !/^\/(v1|[a-z]+z$|metrics)/.test(path))).toEqual([]);
  });
});

describe("under a base path", () => {
  it("the page names its files and itself by it, and both ways of a proxy are served", async () => {
    const app = await served("/ops");
    for (const url of ["/ops", "/ops/", "/ops/sales/x?a=1", "/sales/x"]) {
      const { statusCode, payload } = await app.inject(url);
      expect([url, statusCode]).toEqual([url, 200]);
      expect(payload).toContain('content="/ops"');
      expect(payload).toContain('src="/ops/assets/a-1.js"');
    }
    expect((await app.inject("/ops/assets/a-1.js")).payload).toBe("run()");
    expect((await app.inject("/opsx/sales")).statusCode).toBe(404);
  });
});

describe("the console's files", () => {
  it("are kept for ever, and packed where the browser takes it", async () => {
    const app = await served();
    const url = "/assets/a-1.js";
    const plain = await app.inject({ url });
    const packed = await app.inject({ url, headers: { "accept-encoding": "gzip, deflate, br" } });
    expect(plain.payload).toBe("run()");
    expect(plain.headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(packed.rawPayload).toString()).toBe("run()");
  });

  it.each(["..%2fsecret.txt", "%2e%2e/secret.txt", "../secret.txt", "a-1.js.gz", ""])(
    "are those that were built and no other: %s",
    async (name) => {
      const app = await served();
      expect((await app.inject(`/assets/${name}`)).statusCode).toBe(404);
    },
  );
});

it("a server without a built console has the API alone", async () => {
  const place = { folder: join(folder, "nowhere"), basePath: "" };
  const { app } = await serverOfItsOwn({}, { console: place });
  expect((await app.inject("/")).statusCode).toBe(404);
  expect((await app.inject("/livez")).statusCode).toBe(200);
});
