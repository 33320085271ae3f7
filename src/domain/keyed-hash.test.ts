import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { keyedHash } from "./keyed-hash.ts";

it("is HMAC-SHA256, for secrets of every length and any text", () => {
  const secrets = fc.uint8Array({ maxLength: 200 });
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 100 }), { maxLength: 3 });
  fc.assert(
    fc.property(secrets, texts, (bytes, all) => {
      const secret = Buffer.from(bytes);
      for (const text of all) {
        const expected = createHmac("sha256", secret).update(text).digest("base64url");
        expect(keyedHash(secret, text)).toEqual(expected);
      }
    }),
  );
});

it("refuses a text that is too long, and stays right afterwards", () => {
  const secret = Buffer.from("secret");
  expect(() => keyedHash(secret, "x".repeat(2_000))).toThrow("2000 bytes");
  const expected = createHmac("sha256", secret).update("short").digest("base64url");
  expect(keyedHash(secret, "short")).toEqual(expected);
});
