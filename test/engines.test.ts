import { readFileSync } from "node:fs";
import { satisfies } from "semver";
import { describe, expect, it } from "vitest";

type LockedPackage = Readonly<{
  version?: string;
  dev?: boolean;
  devOptional?: boolean;
  engines?: Readonly<Record<string, string>>;
}>;

const oldest = "20.19.0";
const text = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
const lock = JSON.parse(text) as { packages: Record<string, LockedPackage> };

function refusing(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages)
    .filter(([, locked]) => locked.dev !== true)
    .filter(([, locked]) => !satisfies(oldest, locked.engines?.["node"] ?? "*"))
    .map(([path, locked]) => `${path} ${locked.version}: node ${locked.engines?.["node"]}`);
}

describe("the lock file", () => {
  it(`holds no production dependency that refuses Node ${oldest}`, () => {
    expect(refusing(lock.packages)).toEqual([]);
  });

  it("would be caught holding one", () => {
    const next = { version: "2.0.0", engines: { node: ">=22" } };
    expect(refusing({ "node_modules/a": next })).toHaveLength(1);
    expect(refusing({ "node_modules/a": { ...next, dev: true } })).toHaveLength(0);
    expect(refusing({ "node_modules/a": { engines: { node: "^18 || >=20" } } })).toHaveLength(0);
  });

  it("names no host to download from", () => {
    expect(text.match(/"resolved": "[^"]*:\/\/[^"]*"/g)).toBeNull();
  });

  it("is complete: the engine itself asks for no newer Node", () => {
    expect(lock.packages[""]?.engines?.["node"]).toBe(">=20.19");
    expect(Object.keys(lock.packages).length).toBeGreaterThan(20);
  });
});
