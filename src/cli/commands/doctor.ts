import { NoAnswer } from "../../client/desk-errors.ts";
import { systemClock } from "../../clock.ts";
import { refuseUnsafe } from "../../config.ts";
import { ConfigError } from "../../config-error.ts";
import { nearest } from "../../config-values.ts";
import { examineStores } from "../../doctor/examine.ts";
import { toldIds } from "../../doctor/ids.ts";
import type { StoreUrls } from "../../doctor/transport.ts";
import { inWords, type ToldCheck } from "../../doctor/words.ts";
import { type CheckBody, DoctorBody } from "../../http/contract.ts";
import { lanePlaceOf } from "../../wire.ts";
import { type Command, type Context, exitCodes, listOption, type Options } from "../context.ts";
import { failureOf, usageError } from "../failure.ts";
import { hasLedger } from "../ledger-file.ts";
import { atDesk } from "../operator.ts";
import { ledgerUrlOf } from "../run-server.ts";
import { displayWidth, pad } from "../table.ts";

const marks = { ok: "✔", warn: "!", fail: "✖" } as const;
/** The checks that only a command line makes; the others are the doctor's. */
export const ownChecks = ["node", "config", "server"] as const;
const nodeMin = [20, 19] as const;

/**
 * What this machine, this configuration and, if it runs, the server say about themselves. Where
 * no server answers, or stores are named, the stores are looked at from here.
 */
export const doctor: Command = async (context, options) => {
  const only = onlyOf(context, options);
  const own = [checkNode(context), checkConfig(context)];
  const found = storesAreNamed(context)
    ? await storesFromHere(context, context.loaded.config)
    : await serverAndFile(context);
  const checks = [...own, ...found].filter(({ id }) => only.length === 0 || only.includes(id));
  tell(context, checks);
  const ok = checks.every(({ state }) => state !== "fail");
  context.result({ ok, checks });
  return ok ? exitCodes.done : exitCodes.failed;
};

/** A misspelt id would be a check that always holds. */
function onlyOf({ text }: Context, options: Options): readonly string[] {
  const known: readonly string[] = [...ownChecks, ...toldIds];
  const only = listOption(options, "only");
  const unknown = only.find((id) => !known.includes(id));
  if (unknown === undefined) return only;
  const suggestion = nearest(unknown, known);
  const meant = suggestion === undefined ? "" : text("config.meant", { suggestion });
  throw usageError(text("doctor.only.what", { id: unknown }), meant, known.join(" "));
}

function tell({ text, paint, say }: Context, checks: readonly CheckBody[]): void {
  const colours = { ok: paint.green, warn: paint.yellow, fail: paint.red };
  const width = Math.max(0, ...checks.map(({ id }) => displayWidth(id)));
  for (const { id, state, found, cause, fix, look } of checks) {
    say(`${colours[state](marks[state])} ${pad(id, width, "left")}  ${found}`);
    if (state === "ok") continue;
    const indent = " ".repeat(width + 4);
    if (cause !== "") say(indent + cause);
    if (fix !== "") say(indent + text("doctor.fix", { fix }));
    if (look !== "") say(indent + paint.dim(text("doctor.look", { look })));
  }
  const failed = checks.filter(({ state }) => state === "fail").length;
  say();
  say(
    text(failed === 0 ? "doctor.verdict.ok" : "doctor.verdict.fail", {
      failed,
      checks: checks.length,
    }),
  );
}

function checkNode({ text }: Context): CheckBody {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [least, lesser] = nodeMin;
  const isOld = major < least || (major === least && minor < lesser);
  const found = text("doctor.node", { version: node });
  const look = "node --version";
  if (!isOld) return { id: "node", state: "ok", found, cause: "", fix: "", look };
  const cause = text("doctor.node.cause", { least: nodeMin.join(".") });
  return { id: "node", state: "fail", found, cause, fix: text("doctor.node.fix"), look };
}

function checkConfig({ text, loaded }: Context): CheckBody {
  const look = "holdfast config print";
  try {
    refuseUnsafe(loaded.config, "serve");
    const said = loaded.origins.filter(({ origin }) => origin !== "default").length;
    const found = text("doctor.config", { said });
    return { id: "config", state: "ok", found, cause: "", fix: "", look };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { what, why, next } = failureOf(error, text);
    return { id: "config", state: "fail", found: what, cause: why, fix: next, look };
  }
}

function storesAreNamed({ loaded }: Context): boolean {
  const named = ["--ledger", "--hot", "--bus"];
  return loaded.origins.some(({ origin }) => named.includes(origin));
}

async function storesFromHere({ text }: Context, urls: StoreUrls): Promise<readonly ToldCheck[]> {
  const isFile = urls.ledger.kind === "sqlite";
  const readable = !isFile || hasLedger(urls.ledger);
  const lanes =
    readable && urls.bus.kind !== "memory" ? await lanePlaceOf(ledgerUrlOf(urls)) : null;
  const named = lanes === null ? urls : { ...urls, lanes };
  const found = await examineStores(named, { clock: systemClock, isDeep: true });
  return found.map((finding) => inWords(finding, text.language));
}

/** The server knows its stores; the whole of a ledger file is read here, where it delays nobody. */
async function serverAndFile(context: Context): Promise<readonly CheckBody[]> {
  const { config } = context.loaded;
  const { answer, server } = await askServer(context);
  if (answer === null) return [server, ...(await storesFromHere(context, config))];
  const isFile = config.ledger.kind === "sqlite" && hasLedger(config.ledger);
  if (!isFile) return [server, ...answer];
  const inMemory = { kind: "memory" } as const;
  const file = { ledger: config.ledger, hot: inMemory, bus: inMemory };
  const local = await storesFromHere(context, file);
  const known = new Set(answer.map(({ id }) => id));
  return [server, ...answer, ...local.filter(({ id }) => !known.has(id))];
}

type Asked = { readonly answer: readonly CheckBody[] | null; readonly server: CheckBody };

async function askServer(context: Context): Promise<Asked> {
  const { text, loaded } = context;
  const { url } = loaded.config;
  const own = { id: "server", look: `curl ${url}/readyz?verbose` } as const;
  try {
    const { checks } = await atDesk(context, (desk) => desk.get("/v1/doctor", DoctorBody));
    const found = text("doctor.server", { url });
    return { answer: checks, server: { ...own, state: "ok", found, cause: "", fix: "" } };
  } catch (error) {
    const isAway = error instanceof NoAnswer && error.kind === "away";
    const { what, why, next } = failureOf(error, text);
    const state = isAway ? "warn" : "fail";
    return { answer: null, server: { ...own, state, found: what, cause: why, fix: next } };
  }
}
