import { describe, expect, it } from "vitest";
import { ambientRules } from "./tidy/ambient-rules.ts";
import { importRules } from "./tidy/import-rules.ts";
import { nameRules } from "./tidy/name-rules.ts";
import { type Finding, loadProject, parseProject } from "./tidy/project.ts";
import { sizeRules } from "./tidy/size-rules.ts";
import { sqlRules } from "./tidy/sql-rules.ts";
import { typeRules } from "./tidy/type-rules.ts";

const rules = [
  ...sizeRules,
  ...typeRules,
  ...ambientRules,
  ...nameRules,
  ...sqlRules,
  ...importRules,
];
const project = loadProject();

for (const rule of rules) {
  describe(rule.name, () => {
    it("holds in the source", () => {
      expect(rule.check(project).map(inWords)).toEqual([]);
    });

    it("is broken by each planted fault", () => {
      const missed = rule.planted.filter((texts) => rule.check(parseProject(texts)).length === 0);
      expect(missed).toEqual([]);
    });

    it("lets sound code pass", () => {
      expect(rule.check(parseProject(rule.clean)).map(inWords)).toEqual([]);
    });
  });
}

function inWords({ path, line, message }: Finding): string {
  return `${path}:${line}: ${message}`;
}
