import { readFileSync } from "node:fs";
import { Compile } from "typebox/schema";
import { describe, expect, it } from "vitest";
import { buckets, moves } from "../src/domain/stock.ts";
import { soldEvents } from "./support/events.ts";

const schema = JSON.parse(readFileSync("docs/schemas/stock-entry.v1.json", "utf8"));
const document = readFileSync("docs/events.md", "utf8");

describe("the schema of an event's data", () => {
  it("is the one that events name, and holds for them", async () => {
    const validator = Compile(schema);
    const events = await soldEvents({ A: 3 });
    for (const { data, dataschema } of events) {
      expect(dataschema).toBe(schema.$id);
      expect(validator.Check(data)).toBe(true);
      expect(Object.keys(data).sort()).toEqual(Object.keys(schema.properties).sort());
      expect(validator.Check({ ...data, version: "2" })).toBe(false);
      expect(validator.Check({ ...data, hash: undefined })).toBe(false);
    }
  });

  it("knows every operation and every bucket, and so does the document", () => {
    const { operation, after } = schema.properties;
    expect(new Set(operation.enum)).toEqual(new Set(Object.keys(moves)));
    expect(Object.keys(after.properties)).toEqual([...buckets]);
    for (const name of Object.keys(moves)) expect(document).toContain(`\`${name}\``);
  });
});
