import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonError, parseSafeJson } from "./safe-json.ts";
import { bodyBytesMax } from "./schema.ts";

const parse = (text: string): unknown => parseSafeJson(Buffer.from(text));

function refusal(text: string | Buffer): { pointer: string; message: string } | null {
  try {
    parseSafeJson(typeof text === "string" ? Buffer.from(text) : text);
    return null;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { pointer: error.pointer, message: error.message };
  }
}

const key = fc
  .string({ unit: "binary", maxLength: 12 })
  .filter((text) => !["__proto__", "constructor", "prototype"].includes(text));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 6 },
    fc.string({ unit: "binary" }),
    fc.maxSafeInteger().map((n) => n + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 14 }),
  ),
}));

describe("a body that is valid", () => {
  it("is read exactly as JSON.parse reads it, with any white space", () => {
    const property = fc.property(value, fc.constantFrom(0, 1, 3, "\t"), (sample, indent) => {
      const text = JSON.stringify(sample, null, indent);
      expect(parse(text)).toEqual(JSON.parse(text));
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("may spell a key with escapes", () => {
    expect(parse('{"\\u0071":1}')).toEqual({ q: 1 });
  });

  it("may be eight levels deep", () => {
    expect(parse('[[[[[[[{"a":1}]]]]]]]')).toEqual([[[[[[[{ a: 1 }]]]]]]]);
  });
});

describe("a body that is not JSON", () => {
  it("is refused whenever JSON.parse refuses it", () => {
    const piece = fc.constantFrom(
      ...["{", "}", "[", "]", ",", ":", '"', '"a"', "1", "-", "true", "nul", " ", "\\", "\n", "01"],
    );
    const property = fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const text = pieces.join("");
      if (refusal(text) === null) expect(() => JSON.parse(text)).not.toThrow();
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it.each([
    "",
    " ",
    "{",
    '{"a"}',
    '{"a":1,}',
    "[1,]",
    "{} {}",
    '"a',
    '"\\x"',
    "'a'",
    "NaN",
    "Infinity",
    "undefined",
    "+1",
    "0x10",
    "01",
    "-",
    "\ufeff{}",
    '"a\nb"',
    '{"a":\u0000}',
  ])("refuses %j", (text) => {
    expect(refusal(text)).not.toBeNull();
  });

  it("is refused when it is not UTF-8, not mended", () => {
    expect(refusal(Buffer.from([0x22, 0xff, 0x22]))?.message).toContain("UTF-8");
  });
});

describe("a key", () => {
  it("may stand only once in its object, however it is spelled", () => {
    expect(refusal('{"q":1,"q":99}')).toEqual({
      pointer: "/q",
      message: "the key stands here twice",
    });
    expect(refusal('{"items":[{"q":1,"\\u0071":99}]}')?.pointer).toBe("/items/0/q");
  });

  it("is refused twice wherever the repeat is put", () => {
    const property = fc.property(
      fc.uniqueArray(key, { minLength: 1, maxLength: 30 }),
      fc.nat(),
      (keys, pick) => {
        const again = keys[pick % keys.length] ?? "";
        const members = [...keys, again].map((name) => `${JSON.stringify(name)}:1`);
        expect(refusal(`{${members.join(",")}}`)?.message).toBe("the key stands here twice");
      },
    );
    fc.assert(property);
  });

  it.each(["__proto__", "constructor", "prototype"])("may not be %s at any level", (name) => {
    expect(refusal(`{"a":[{"${name}":{"x":1}}]}`)?.pointer).toBe(`/a/0/${name}`);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("may not reach for a prototype through an escape", () => {
    expect(refusal('{"__pr\\u006fto__":1}')?.pointer).toBe("/__proto__");
  });

  it("is cut and escaped in the pointer", () => {
    const found = refusal(`{"a/b~${"k".repeat(5_000)}":1.5}`)?.pointer ?? "";
    expect(found.startsWith("/a~1b~0kkk")).toBe(true);
    expect(found.length).toBeLessThan(80);
  });
});

describe("a number", () => {
  it.each(["2.5", "1e3", "1E3", "1.0", "-0", "1e400", "9007199254740993", "-9007199254740993"])(
    "is refused as %s, because it would not be kept as it was told",
    (text) => {
      expect(refusal(`{"items":[{"quantity":${text}}]}`)?.pointer).toBe("/items/0/quantity");
    },
  );

  it("may be any integer that is kept exactly", () => {
    expect(parse("[0,-1,9007199254740991,-9007199254740991]")).toEqual([
      0, -1, 9007199254740991, -9007199254740991,
    ]);
  });
});

describe("a body made to be slow", () => {
  const keys = (count: number) => Array.from({ length: count }, (_, n) => `"${n}":1`).join(",");
  /** By its length in bytes, about. */
  const bombs: Readonly<Record<string, (bytes: number) => string>> = {
    "deep arrays": (bytes) => "[".repeat(bytes),
    "deep objects": (bytes) => '{"a":'.repeat(bytes / 5),
    "many keys": (bytes) => `{${keys(bytes / 11)}}`,
    "one long string": (bytes) => `"${"a".repeat(bytes - 2)}"`,
    "escapes without end": (bytes) => `"${"\\\\".repeat(bytes / 2 - 1)}`,
    "a long number": (bytes) => "9".repeat(bytes),
  };

  it.each(Object.entries(bombs))("is judged in one pass: %s", (_name, ofLength) => {
    const bestOf = (text: string): number => {
      const bytes = Buffer.from(text);
      const times = Array.from({ length: 15 }, () => {
        const from = performance.now();
        refusal(bytes);
        return performance.now() - from;
      });
      return Math.min(...times);
    };
    const part = bestOf(ofLength(bodyBytesMax / 8));
    const whole = bestOf(ofLength(bodyBytesMax));
    // Eight times as long: 8 times the work in one pass, 64 times where the cost is n².
    expect(whole / Math.max(part, 0.02)).toBeLessThan(32);
  });

  it("is refused with the place where it gets too deep", () => {
    expect(refusal("[".repeat(100_000))).toEqual({
      pointer: "/0/0/0/0/0/0/0/0",
      message: "deeper than 8 levels",
    });
  });
});
