import { accessSync, constants, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError, refuseUnsafe } from "../../config.ts";
import { type CheckBody, DoctorBody } from "../../http/contract.ts";
import { NoAnswer } from "../../loadtest/desk-errors.ts";
import { type Command, type Context, exitCodes } from "../context.ts";
import { failureOf } from "../failure.ts";
import { hasLedger, withLedger } from "../ledger-file.ts";
import { atDesk } from "../operator.ts";

const marks = { ok: "✔", warn: "!", fail: "✖" } as const;
const bytesFreeMin = 1_000_000_000;
const nodeMin = [20, 19] as const;

/** What this machine, this configuration and, if it runs, the server say about themselves. */
export const doctor: Command = async (context) => {
  const local = [checkNode(context), checkConfig(context), ...(await checkLedger(context))];
  const checks = [...local, ...(await checkServer(context))];
  const { text, paint, say } = context;
  const colours = { ok: paint.green, warn: paint.yellow, fail: paint.red };
  for (const { id, state, found, cause, fix } of checks) {
    say(`${colours[state](marks[state])} ${id}: ${found}`);
    if (cause !== "") say(`    ${cause}`);
    if (fix !== "") say(`    ${text("doctor.fix", { fix })}`);
  }
  const ok = checks.every(({ state }) => state !== "fail");
  context.result({ ok, checks });
  return ok ? exitCodes.done : exitCodes.failed;
};

function checkNode({ text }: Context): CheckBody {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [least, lesser] = nodeMin;
  const isOld = major < least || (major === least && minor < lesser);
  const found = text("doctor.node", { version: node });
  if (!isOld) return { id: "node", state: "ok", found, cause: "", fix: "" };
  const cause = text("doctor.node.cause", { least: nodeMin.join(".") });
  return { id: "node", state: "fail", found, cause, fix: text("doctor.node.fix") };
}

function checkConfig({ text, loaded }: Context): CheckBody {
  try {
    refuseUnsafe(loaded.config, "serve");
    const said = loaded.origins.filter(({ origin }) => origin !== "default").length;
    const found = text("doctor.config", { said });
    return { id: "config", state: "ok", found, cause: "", fix: "" };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { what, why, next } = failureOf(error, text);
    return { id: "config", state: "fail", found: what, cause: why, fix: next };
  }
}

async function checkLedger(context: Context): Promise<CheckBody[]> {
  const { text, loaded } = context;
  const { ledger } = loaded.config;
  if (ledger.kind !== "sqlite" || ledger.file === ":memory:") return [];
  const folder = dirname(resolve(ledger.file));
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    const found = text("doctor.folder", { folder });
    const cause = text("doctor.folder.cause");
    return [{ id: "ledger-folder", state: "fail", found, cause, fix: text("doctor.folder.fix") }];
  }
  return [checkDisk(context, folder), await checkFile(context)];
}

function checkDisk({ text }: Context, folder: string): CheckBody {
  const { bavail, bsize } = statfsSync(folder);
  const bytes = bavail * bsize;
  const found = text("doctor.disk", { megabytes: Math.floor(bytes / 1_000_000), folder });
  if (bytes >= bytesFreeMin) return { id: "disk", state: "ok", found, cause: "", fix: "" };
  const cause = text("doctor.disk.cause");
  return { id: "disk", state: "warn", found, cause, fix: text("doctor.disk.fix") };
}

async function checkFile({ text, loaded }: Context): Promise<CheckBody> {
  const { ledger } = loaded.config;
  const file = ledger.kind === "sqlite" ? ledger.file : "";
  if (!hasLedger(ledger)) {
    const found = text("doctor.noLedger", { file });
    return { id: "ledger-file", state: "ok", found, cause: "", fix: "" };
  }
  try {
    const { skus, entries } = await withLedger(ledger, text, (beside) => beside.counts());
    const found = text("doctor.ledger", { file, skus, entries });
    return { id: "ledger-file", state: "ok", found, cause: "", fix: "" };
  } catch (error) {
    const { what, why, next } = failureOf(error, text);
    return { id: "ledger-file", state: "fail", found: what, cause: why, fix: next };
  }
}

async function checkServer(context: Context): Promise<readonly CheckBody[]> {
  const { text } = context;
  try {
    const { checks } = await atDesk(context, (desk) => desk.get("/v1/doctor", DoctorBody));
    return checks;
  } catch (error) {
    const isAway = error instanceof NoAnswer && error.kind === "away";
    const { what, why, next } = failureOf(error, text);
    const state = isAway ? "warn" : "fail";
    return [{ id: "server", state, found: what, cause: why, fix: next }];
  }
}
