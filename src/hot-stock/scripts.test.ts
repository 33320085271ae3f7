import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { rejections } from "../domain/rejection.ts";
import { decimal, parseReply, scriptNames, scriptOf, sourceOf } from "./scripts.ts";

const folder = new URL("./lua/", import.meta.url);
const includes = readdirSync(new URL("include/", folder)).map((file) => `include/${file}`);
const flags = ["#!lua", "#!lua flags=no-writes", "#!lua flags=allow-oom"];
const words = new Set([
  ...["OK", "CLOSED", "NOT_PRIMARY", "UNKNOWN", "PENDING", "DECIDED", "ADMITTED", "REPLAYED"],
  ...["BUSY", "MISSING", "APPLIED", "GAVE", "GAP", "FORK", "LACKS", "MORE", "SKU", "SALE"],
  ...rejections,
]);

/** The comment on top, and what follows it, with all that is included. */
function partsOf(name: (typeof scriptNames)[number]): { header: string[]; code: string } {
  const lines = sourceOf(name).split("\n").slice(1);
  const end = lines.findIndex((line) => !line.startsWith("--") || line.startsWith("--@include"));
  const code = scriptOf(name).text.split("\n");
  return {
    header: lines.slice(0, end).map((line) => line.replace(/^-- ?/, "")),
    code: code.filter((line) => !line.trimStart().startsWith("--")).join("\n"),
  };
}

function indexesIn(text: string, pattern: RegExp): Set<number> {
  return new Set([...text.matchAll(pattern)].map(([, index]) => Number(index)));
}

describe.each(scriptNames)("%s.lua", (name) => {
  const { header, code } = partsOf(name);
  const text = header.join("\n");

  it("says in its first line how it may run, and then what it is for", () => {
    expect(flags).toContain(sourceOf(name).split("\n")[0]);
    expect(header[0]).toMatch(/^[A-Z].*/);
    expect(text).toMatch(/^KEYS {6}lane/m);
    expect(text).toMatch(/^Replies {3}/m);
  });

  it("names every argument that it reads, and no other", () => {
    const named = indexesIn(text, /^ARGV\[(\d+)\]/gm);
    const fence = /closedTo\("|loadRefused\(/.test(sourceOf(name)) ? [1, 2] : [];
    // The functions of the fence are in every script; who calls them reads what they read.
    const own = code.replace(/local function closedTo[\s\S]*?\nend\n/, "");
    const read = indexesIn(own, /ARGV\[(\d+)\]/g);
    for (const index of indexesIn(own, /skusFrom\((\d+)\)/g)) read.add(index);
    for (const index of fence) read.add(index);
    expect(read).toEqual(named);
  });

  it("answers with the words of its header", () => {
    const replies = text.slice(text.indexOf("Replies"));
    const told = new Set([...replies.matchAll(/\b[A-Z_]{2,}\b/g)].map(([word]) => word));
    const spoken = new Set(
      [...code.replaceAll(/redis\.call\("\w+"/g, "").matchAll(/"([A-Z_]{2,})/g)]
        .map(([, word]) => word ?? "")
        .filter((word) => words.has(word)),
    );
    const fence = new Set(["CLOSED"]);
    for (const word of told) if (words.has(word)) expect(spoken).toContain(word);
    for (const word of spoken) if (!fence.has(word)) expect(told).toContain(word);
  });

  it("has no way to hide an error and no key of its own", () => {
    expect(code).not.toMatch(/pcall|holdfast|KEYS\[[^\]]+\] *\.\./);
    expect(code).not.toMatch(/"(KEYS|SCAN|EXPIRE|PEXPIRE|RANDOMKEY|FLUSHALL)"/);
  });
});

describe("the scripts", () => {
  it("are all those in the folder", () => {
    const files = readdirSync(folder).filter((file) => file.endsWith(".lua"));
    expect(files.map((file) => file.replace(".lua", ""))).toEqual([...scriptNames]);
  });

  it("write available and the overlay in one include", () => {
    const writes = /"H(INCRBY|SET)", [\w.]*stock, .*"(a|o)"|"o", "0"/;
    const writers = [...scriptNames, ...includes.map((file) => file.replace(".lua", ""))].filter(
      (name) => writes.test(sourceOf(name)),
    );
    expect(writers).toEqual(["include/equation"]);
  });

  it("include all that is there, each under its name", () => {
    const used = new Set(
      scriptNames.flatMap((name) =>
        [...sourceOf(name).matchAll(/^--@include (\S+)$/gm)].map(([, part]) => part),
      ),
    );
    const there = includes.map((file) => file.slice("include/".length, -".lua".length));
    expect(used).toEqual(new Set(there));
    for (const name of scriptNames) expect(scriptOf(name).text).not.toContain("--@include");
  });

  it("are told numbers as plain words and answer with words only", () => {
    expect(decimal(Number.MAX_SAFE_INTEGER)).toBe("9007199254740991");
    expect(decimal(-1e21)).toBe("-1000000000000000000000");
    expect(parseReply("mark", ["OK", "7"])).toEqual(["OK", "7"]);
    for (const other of ["OK", [], ["OK", 7], [null], null]) {
      expect(() => parseReply("mark", other)).toThrow(TypeError);
    }
  });
});
