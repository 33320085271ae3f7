import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { messageOf, RabbitmqClient } from "../bus/rabbitmq-client.ts";
import { deliveriesMax, RabbitmqQueues } from "../bus/rabbitmq-queues.ts";
import type { Clock } from "../clock.ts";
import { isLoopback } from "../config-values.ts";
import { type Finding, judgeAll } from "./check.ts";
import { probed } from "./probe.ts";
import { type RabbitmqFacts, type RabbitmqQueue, rabbitmqChecks } from "./rabbitmq-checks.ts";
import type { LanePlace } from "./transport.ts";

const answerWithinMs = 3_000;
/** As many as a queue of ours has settings. */
const asksMax = 8;

/** What is asked needs no more rights than the bus itself has, and no plugin of the server. */
export function examineRabbitmq(
  url: string,
  clock: Clock,
  lanes: LanePlace | null,
): Promise<readonly Finding[]> {
  return probed("rabbitmq.reachable", {
    clock,
    look: "rabbitmq-diagnostics status",
    work: async (over) => {
      const client = new RabbitmqClient({ url, name: "holdfast doctor", clock, answerWithinMs });
      over.addEventListener("abort", () => void client.close());
      try {
        const [version, guest, queues] = await Promise.all([
          greetedBy(url, over),
          guestOf(url, clock),
          queuesOf(client, clock, lanes),
        ]);
        const facts = { version, guest, ...queues };
        return { said: `RabbitMQ ${version}`, findings: judgeAll(rabbitmqChecks, facts) };
      } finally {
        await client.close();
      }
    },
  });
}

type QueueFacts = Pick<RabbitmqFacts, "queues" | "missing" | "lag" | "deadLetters">;

async function queuesOf(
  client: RabbitmqClient,
  clock: Clock,
  lanes: LanePlace | null,
): Promise<QueueFacts> {
  // Whoever cannot read the ledger does not know how its queues are named; that it answers is told.
  if (lanes === null) {
    await (await client.channel()).close();
    return { queues: [], missing: [], lag: 0, deadLetters: 0 };
  }
  const { prefix } = lanes;
  const named = new RabbitmqQueues({ client, clock, prefix, deliveriesMax });
  const names = Array.from({ length: lanes.count }, (_, lane) => named.nameOf(lane));
  const depths = await Promise.all(names.map((name) => named.depth(name)));
  const there = names.filter((_, n) => depths[n] !== null);
  const queues = there.map(async (name): Promise<RabbitmqQueue> => {
    return { name, differs: await differencesOf(client, name, named.laneSettings()) };
  });
  return {
    queues: await Promise.all(queues),
    missing: names.filter((_, n) => depths[n] === null),
    lag: depths.reduce<number>((sum, depth) => sum + (depth ?? 0), 0),
    deadLetters: (await named.depth(named.deadLetters)) ?? 0,
  };
}

type Settings = Readonly<Record<string, unknown>>;
const complaint = /inequivalent arg '([\w-]+)'.*but current is (.*?)"?$/s;

/**
 * A queue that is there and is declared again changes nothing: the server compares, and names the
 * first setting that is another. With that one as it is, it is asked for the next.
 */
async function differencesOf(
  client: RabbitmqClient,
  queue: string,
  settings: Settings,
): Promise<RabbitmqQueue["differs"]> {
  const differs = new Map<string, string>();
  let asked = { ...settings };
  for (let asks = 0; asks < asksMax; asks += 1) {
    try {
      await client.ask(`compare ${queue}`, (channel) =>
        channel.queueDeclare({ queue, durable: true, arguments: asked }),
      );
      return differs;
    } catch (error) {
      const [, name, current = ""] = complaint.exec(messageOf(error)) ?? [];
      if (name === undefined) return asks === 0 ? null : differs;
      const { said, value } = valueIn(current);
      differs.set(name, said);
      const { [name]: _, ...others } = asked;
      asked = value === undefined ? others : { ...others, [name]: value };
    }
  }
  return differs;
}

/** As the server words it: `none`, `the value 'classic' of type 'longstr'`, `'classic'`. */
function valueIn(words: string): { readonly said: string; readonly value: unknown } {
  const [, text] = /'([^']*)'/.exec(words) ?? [];
  if (text === undefined || words.startsWith("none")) return { said: "none", value: undefined };
  const isText = !/of type/.test(words) || /of type 'longstr'/.test(words);
  if (isText) return { said: text, value: text };
  return { said: text, value: text === "true" ? true : text === "false" ? false : Number(text) };
}

async function guestOf(url: string, clock: Clock): Promise<RabbitmqFacts["guest"]> {
  const asGuest = new URL(url);
  asGuest.username = "guest";
  asGuest.password = "guest";
  const options = { url: asGuest.href, name: "holdfast doctor", clock, answerWithinMs };
  const client = new RabbitmqClient(options);
  try {
    await (await client.channel()).close();
    return isLoopback(asGuest.hostname) ? "in" : "in from afar";
  } catch {
    return "out";
  } finally {
    await client.close();
  }
}

const protocolHeader = Buffer.from("AMQP\0\0\x09\x01", "latin1");

/** The version that the server greets everybody with. */
function greetedBy(url: string, over: AbortSignal): Promise<string> {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "amqps:";
  const place = { host: hostname, port: Number(port || (isSecure ? 5671 : 5672)) };
  return new Promise((resolve, reject) => {
    const socket = isSecure ? connectSecurely(place) : connect(place);
    let seen = Buffer.alloc(0);
    over.addEventListener("abort", () => socket.destroy());
    socket.once("error", reject);
    socket.once("close", () => resolve(""));
    socket.write(protocolHeader);
    socket.on("data", (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      // A field of a table: its name with its length, then S, and the text with its length.
      const at = seen.indexOf("\x07versionS", 0, "latin1");
      if (at < 0 || seen.length < at + 13) return;
      const length = seen.readUInt32BE(at + 9);
      resolve(seen.toString("latin1", at + 13, at + 13 + length));
      socket.destroy();
    });
  });
}
