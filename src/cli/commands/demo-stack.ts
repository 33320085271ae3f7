import { loadConfig } from "../../config.ts";
import { migrateLedger } from "../../wire.ts";
import { type Context, exitCodes, isOn, type Options, textOption } from "../context.ts";
import { usageError } from "../failure.ts";
import { startOwnStack } from "../own-stack.ts";
import type { Stores } from "./demo.ts";

/** The kinds of servers a demo runs on, by what they are for. */
type Servers = { readonly hot: string; readonly bus: string; readonly ledger: string };

/** Enough that each of three primaries has its share of them. */
const clusterLanes = 16;

type Play = {
  readonly signal: AbortSignal;
  readonly rushAt: (stores: Stores) => Promise<number>;
};

/** The rush on real servers: started for it, and stopped after it. */
export async function onOwnStack(
  context: Context,
  options: Options,
  { signal, rushAt }: Play,
): Promise<number> {
  const { text } = context;
  const { hot, bus, ledger } = serversOf(options);
  const servers = [...new Set([hot, bus, ledger])];
  context.say(text("demo.stack", { servers: servers.join(", ") }));
  const stack = await startOwnStack(context, servers, signal);
  let code: number;
  try {
    const { urls } = stack;
    const flags = { hot: urls[hot], bus: urls[bus], ledger: urls[ledger] };
    const { config } = loadConfig({ flags, env: {} });
    const lanes = isOn(options, "cluster") ? clusterLanes : 1;
    await migrateLedger(urls[ledger] ?? "", { dryRun: false, lanes });
    code = await rushAt({ hot: config.hot, bus: config.bus, ledger: config.ledger });
  } finally {
    await stack.stop();
  }
  if (code === exitCodes.broken) {
    const command = `npm run stack -- --only ${servers.join(",")}`;
    context.note(text("demo.servers", { command }));
  }
  return code;
}

function serversOf(options: Options): Servers {
  return {
    hot: isOn(options, "cluster") ? "cluster" : "redis",
    bus: textOption(options, "bus") ?? "rocketmq",
    ledger: textOption(options, "ledger") ?? "mysql",
  };
}

/** These would be taken for a wish and change nothing. */
export function refuseServersAlone({ text }: Context, options: Options): void {
  const given = ["bus", "ledger", "cluster"].filter((name) => options[name] !== undefined);
  if (isOn(options, "stack") || given.length === 0) return;
  const named = given.map((name) => `--${name}`).join(", ");
  throw usageError(text("demo.needsStack", { options: named }), "", "holdfast demo --stack --help");
}
