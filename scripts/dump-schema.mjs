// Writes the schema that all migrations together make to test/golden/. The test that compares it
// does the writing, so the two cannot differ. A difference is reviewed like code.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./build.mjs";

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const projects = ["--project", "contract", "--project", "stack-sql"];
const args = ["run", "--update", ...projects, "ledger-schema.test.ts"];
const { status } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
