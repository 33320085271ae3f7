// Writes the schema that all migrations together make to test/golden/. The test that compares it
// does the writing, so the two cannot differ. A difference is reviewed like code.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./build.mjs";

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const projects = ["--project", "contract", "--project", "stack-sql"];
// One at a time: two that write the same file at once leave a piece of the longer one behind.
const golden = ["--testNamePattern", "is the golden one"];
const args = ["run", "--update", ...projects, ...golden, "ledger-schema.test.ts"];
const { status } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
