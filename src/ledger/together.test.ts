import { describe, expect, it } from "vitest";
import { nextTurn } from "../clock.ts";
import { Together } from "./together.ts";

function over(read: (keys: readonly number[]) => Promise<readonly string[]>, max = 3) {
  const asked: (readonly number[])[] = [];
  const together = new Together<number, string>({
    turn: nextTurn,
    max,
    read: (keys) => {
      asked.push(keys);
      return read(keys);
    },
  });
  return { together, asked };
}

const named = (keys: readonly number[]) => Promise.resolve(keys.map((key) => `n${key}`));

describe("questions that come together", () => {
  it("are one question, each with its own answer", async () => {
    const { together, asked } = over(named);
    expect(await Promise.all([1, 2, 1].map((key) => together.one(key)))).toEqual([
      "n1",
      "n2",
      "n1",
    ]);
    expect(asked).toEqual([[1, 2, 1]]);
  });

  it("are several where one would be too long", async () => {
    const { together, asked } = over(named);
    await Promise.all([1, 2, 3, 4].map((key) => together.one(key)));
    expect(asked).toEqual([[1, 2, 3], [4]]);
  });

  it("do not wait for those under way", async () => {
    const { together, asked } = over((keys) =>
      keys.includes(1) ? new Promise<readonly string[]>(() => undefined) : named(keys),
    );
    void together.one(1);
    await nextTurn();
    expect(await together.one(2)).toBe("n2");
    expect(asked).toEqual([[1], [2]]);
  });

  it("fail together, and the next does not", async () => {
    let isAway = true;
    const { together } = over((keys) => {
      if (isAway) return Promise.reject(new Error("away"));
      return named(keys);
    });
    const both = await Promise.allSettled([together.one(1), together.one(2)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isAway = false;
    expect(await together.one(1)).toBe("n1");
  });

  it("fail where one of them has no answer", async () => {
    const { together } = over(() => Promise.resolve(["n1"]));
    const both = await Promise.allSettled([together.one(1), together.one(2)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });
});
