import { bugNamed, plant } from "./plant.ts";

/**
 * `node --import ./dist/sim/plant-register.js PROGRAM … --bug NAME`: plants the bug before the
 * program is loaded. The name may also stand in the address: `plant-register.js?bug=NAME`.
 */
const name = new URL(import.meta.url).searchParams.get("bug") ?? named(process.argv);
const bug = name === null ? null : bugNamed(name);
if (name !== null && bug === null) throw new Error(`no planted bug is named ${name}`);
if (bug !== null) plant(bug);

function named(argv: readonly string[]): string | null {
  const at = argv.indexOf("--bug");
  if (at >= 0) return argv[at + 1] ?? null;
  const prefix = "--bug=";
  return argv.find((each) => each.startsWith(prefix))?.slice(prefix.length) ?? null;
}
