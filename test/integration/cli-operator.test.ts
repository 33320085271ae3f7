import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aFreePort, runCommand, type Server, startServer } from "../support/command-line.ts";

let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-operator-"));
  const port = String(await aFreePort());
  const traces = ["--trace-url", "https://traces.example/{traceId}"];
  server = await startServer(["--port", port, ...traces], { cwd: folder });
});
afterAll(async () => {
  await server.end("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function run(line: string, more: readonly string[] = []) {
  const args = [...line.split(" "), ...more, "--url", server.url, "--json"];
  const ran = await runCommand(args, { cwd: folder });
  return { ...ran, result: JSON.parse(ran.lines.at(-1) ?? "null") };
}

describe("an operator at a shell", () => {
  it("makes a sale, moves stock, and reads what became of it", async () => {
    const made = await run("sale create s --item a=10 --item b=5 --hold-seconds 60 --open");
    expect(made.result).toMatchObject({ saleId: "s", state: "open", holdSeconds: 60 });

    const freeze = ["--reason", "wet boxes", "--operation-id", "freeze-1"];
    for (const _ of ["once", "and told again"]) {
      const { code, result } = await run("stock freeze a 3", freeze);
      expect(code).toBe(0);
      expect(result.level).toMatchObject({ total: 10, available: 7, frozen: 3 });
    }
    expect((await run("stock count a 2")).result.level).toMatchObject({ available: 9, lost: 1 });
    expect((await run("stock adjust a --delta -2")).result.level).toMatchObject({ available: 7 });
    const { result: shown } = await run("stock show a");
    const total = ["--total", "12", "--if-version", String(shown.version)];
    expect((await run("stock adjust a", total)).result.level).toMatchObject({ total: 12 });
    expect((await run("stock show a --as-of-version 1")).result).toMatchObject({ available: 10 });
    const { result: entries } = await run("stock entries a --limit 2");
    expect(entries.items.map(({ operation }: { operation: string }) => operation)).toEqual([
      "restock",
      "freeze",
    ]);
  });

  it("is led from a step of an order to its trace, where --trace-url says", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const own = { "content-type": "application/json", "idempotency-key": "traced" };
    const cart = { saleId: "s", buyerId: "ann", items: [{ sku: "b", quantity: 1 }] };
    const asked = await fetch(`${server.url}/v1/reservations`, {
      method: "POST",
      headers: { ...own, traceparent },
      body: JSON.stringify(cart),
    });
    const { links } = JSON.parse(await asked.text());
    const told = await fetch(`${server.url}${links.timeline}`);
    const { items } = JSON.parse(await told.text());
    const requestId = asked.headers.get("x-request-id");
    const traceUrl = `https://traces.example/${traceId}`;
    expect(items[0]).toMatchObject({ step: "admitted", requestId, traceId, traceUrl });
  });

  it("takes the entries out as CSV and NDJSON", async () => {
    const ask = ["stock", "entries", "a", "--url", server.url, "--format"];
    const csv = await runCommand([...ask, "csv"], { cwd: folder });
    expect(csv.lines[0]).toMatch(/^sku,version,operation,/);
    const lines = await runCommand([...ask, "ndjson"], { cwd: folder });
    expect(lines.lines.map((line) => JSON.parse(line).version)).toEqual(
      lines.lines.map((_, index) => index + 1),
    );
    expect(csv.lines).toHaveLength(lines.lines.length + 1);
    const absent = [...ask.slice(0, 2), "nosuch", ...ask.slice(3), "csv"];
    expect((await runCommand(absent, { cwd: folder })).code).toBe(1);
  });

  it("is refused with the code, the reason and what to do", async () => {
    const refused = await run("stock withdraw b 50");
    expect(refused.code).toBe(1);
    expect(refused.result.error).toMatchObject({ code: "NOT_ENOUGH" });
    const moved = await run("stock adjust b --total 9 --if-version 99");
    expect(moved.result.error).toMatchObject({ code: "VERSION_MOVED" });
    expect(moved.err).toContain("holdfast stock show");
    expect((await run("stock show nosuch")).result.error.code).toBe("SKU_NOT_FOUND");
    expect((await run("stock adjust b --total 9")).code).toBe(2);
    expect((await run("stock restock b many")).code).toBe(2);
  });

  it("confirms what cannot be undone", async () => {
    const asked = await run("sale close s");
    expect(asked.code).toBe(2);
    expect(asked.err).toContain("--yes");
    expect((await run("sale show s")).result.state).toBe("open");
  });

  it("stops and resumes a SKU", async () => {
    expect((await run("stock stop b --reason price")).result).toMatchObject({ status: "stopped" });
    expect((await run("stock list")).result.items).toHaveLength(2);
    expect((await run("stock resume b")).result).toMatchObject({ status: "normal" });
  });

  it("proves and reconciles, and finds nothing", async () => {
    const audit = await run("audit verify");
    expect(audit.code).toBe(0);
    expect(audit.result).toMatchObject({ ok: true, skus: 2, firstBroken: null });
    const plain = await run("reconcile");
    expect(plain.code).toBe(0);
    expect(plain.result).toMatchObject({ skus: 2, drift: 0, repairs: 0 });
    const repair = await run("reconcile --repair --dry-run");
    expect(repair.code).toBe(0);
    expect(repair.result).toMatchObject({ dryRun: true, drift: 0 });
    expect((await run("doctor")).result.ok).toBe(true);
    expect((await run("dead-letters list")).result).toEqual({ items: [] });
  });

  it("loads the server and gets a verdict; another machine only when told so", async () => {
    const { code, result } = await run("loadtest --rate 100 --seconds 2 --stock 60");
    expect(code).toBe(0);
    expect(result).toMatchObject({ stock: 60, buyers: 200, pending: 0, oversold: 0, leaked: 0 });
    const remote = await runCommand(["loadtest", "--url", "http://192.0.2.1"], { cwd: folder });
    expect(remote.code).toBe(2);
    expect(remote.err).toContain("--allow-remote");
  });

  it("cannot start a second server on the same ledger or port", async () => {
    const same = await runCommand(["serve", "--port", "0"], { cwd: folder });
    expect(same.code).toBe(1);
    expect(same.err).toContain(`in use by process ${server.child.pid}`);
    const { port } = new URL(server.url);
    const taken = await runCommand(["serve", "--port", port, "--ledger", "sqlite:b.db"], {
      cwd: folder,
    });
    expect(taken.code).toBe(1);
    expect(taken.err).toContain(`Port ${port}`);
  });

  it("ends the server with SIGTERM: it says goodbye and exits 0", async () => {
    expect(await server.end("SIGTERM")).toBe(0);
    expect(server.err()).toContain("Stopping");
  });
});
