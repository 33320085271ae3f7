import { plant } from "../sim/plant.ts";
import { failpoints } from "./failpoints.ts";

/** `node --import …/failpoint-register.js?name=NAME PROGRAM`: the program meets that failpoint. */
const name = new URL(import.meta.url).searchParams.get("name");
const failpoint = failpoints.find((each) => each.name === name);
if (failpoint === undefined) throw new Error(`no failpoint is named ${name}`);
plant(failpoint);
