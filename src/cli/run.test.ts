import { describe, expect, it } from "vitest";
import { run } from "./run.ts";

async function said(line: string, env: Record<string, string> = {}) {
  const heard = { out: "", err: "" };
  const code = await run({
    argv: line.split(" ").filter((word) => word !== ""),
    env,
    isOutTerminal: false,
    isErrTerminal: false,
    isInteractive: false,
    out: (text) => {
      heard.out += text;
    },
    err: (text) => {
      heard.err += text;
    },
    ask: () => Promise.resolve("n"),
    stopping: () => new AbortController().signal,
  });
  return { code, ...heard };
}

describe("a command line that is not understood", () => {
  it.each([
    ["demo --stok 5", /no option --stok.*--stock/, "holdfast demo --help"],
    ["dmeo", /no command dmeo.*demo/, "holdfast --help"],
    ["stock shwo a", /no command shwo.*show/, "holdfast stock --help"],
    ["demo --stock many", /--stock.*many/, "holdfast demo --help"],
    ["demo --stock 0", /--stock.*0/, "holdfast demo --help"],
    ["demo --lang fr", /--lang.*fr/, "holdfast demo --help"],
    ["stock show", /sku.*missing/, "holdfast stock show --help"],
    ["demo --stock", /--stock.*value/, "holdfast demo --help"],
    ["audit verify a b", /more arguments/, "holdfast audit verify --help"],
    ["serve --port 99999", /port.*--port/, "holdfast config print"],
    ["reconcile --dry-run", /--dry-run/, "holdfast reconcile --repair --dry-run"],
    ["loadtest --url http://192.0.2.1", /192\.0\.2\.1/, "--allow-remote"],
    ["sale create s", /at least one SKU/, "--item"],
    ["sale create s --item a", /SKU=STOCK/, "--item phone=100"],
    ["dead-letters replay", /--all/, "holdfast dead-letters replay --all --dry-run"],
    ["sale close s", /Close s/, "holdfast sale close s --yes"],
    ["demo --bus redis", /--bus/, "holdfast demo --stack --help"],
    ["demo --stack --bus kafka", /--bus.*kafka/, "holdfast demo --help"],
    ["", /Which command/, "holdfast --help"],
  ])("%j ends with 2, says what and what next", async (line, what, next) => {
    const { code, out, err } = await said(line);
    expect(code).toBe(2);
    expect(err).toMatch(what);
    expect(err).toContain("next: ");
    expect(err).toContain(next);
    expect(out).toBe("");
  });
});

describe("an option that holds everywhere", () => {
  it("may stand before the command or behind it", async () => {
    const before = await said("--json --lang zh-CN config print");
    expect(before.code).toBe(0);
    expect(JSON.parse(before.out)).toMatchObject({ port: "8787" });
    expect((await said("config print --json --lang zh-CN")).out).toBe(before.out);
  });
});

describe("a configuration that is not understood or not safe", () => {
  it.each([
    ["serve", { HOLDFAST_PROT: "1" }, 2, "Did you mean HOLDFAST_PORT?"],
    ["serve --config absent.json", {}, 2, "absent.json"],
    ["serve --processes 2", {}, 1, "--processes 1"],
    ["serve --roles api", {}, 1, "--roles all"],
    ["serve --ledger sqlite::memory:", {}, 1, "sqlite:holdfast.db"],
    ["serve --host 0.0.0.0", {}, 1, "HOLDFAST_API_KEYS"],
    ["serve --hot redis-cluster://a:1,b:x", {}, 2, "redis-cluster://[USER:PASSWORD@]HOST:PORT"],
    ["serve --bus amqp://guest:guest@rabbit", {}, 1, "password"],
    ["serve --bus kafka://127.0.0.1", {}, 2, "memory:"],
  ] as const)("%s %j ends with %i", async (line, env, ...[exit, hint]) => {
    const { code, err } = await said(line, env);
    expect(code).toBe(exit);
    expect(err).toContain(hint);
  });
});

describe("a server that is not there", () => {
  it.each(["stock list", "sale list", "dead-letters list", "stock restock a 5", "reconcile"])(
    "%s ends with 1 and says how to get one",
    async (line) => {
      const { code, out, err } = await said(`${line} --url http://127.0.0.1:1 --json`);
      expect(code).toBe(1);
      expect(err).toContain("holdfast serve");
      expect(JSON.parse(out)).toMatchObject({ error: { code: "SERVER_AWAY" } });
    },
  );
});

describe("every command", () => {
  it.each(["en", "zh-CN"])("explains itself in %s, its examples first", async (language) => {
    const { commandTable } = await import("./command-table.ts");
    for (const { use } of commandTable) {
      const { code, out } = await said(`${use.replace(/ [<[].*/, "")} --help --lang ${language}`);
      expect(code).toBe(0);
      expect(out).toMatch(/^(Examples:|示例：)\n {2}holdfast /);
      expect(out).not.toMatch(/option\.|command\.|undefined/);
    }
  });

  it("has a module that loads", async () => {
    const { commandTable } = await import("./command-table.ts");
    for (const { load } of commandTable) expect(await load()).toBeTypeOf("function");
  });
});
