import { brokerSettings, brokerVersion, givenUpOf, laneLag } from "../bus/rocketmq-admin.ts";
import { RocketmqClient } from "../bus/rocketmq-client.ts";
import {
  type EventsTopic,
  eventsTopic,
  type LaneNames,
  laneNames,
  placeOf,
} from "../bus/rocketmq-names.ts";
import type { BrokerAddress } from "../bus/rocketmq-remoting.ts";
import type { Clock } from "../clock.ts";
import type { EventsMode } from "../config-values.ts";
import { type Finding, judgeAll } from "./check.ts";
import { probed } from "./probe.ts";
import { type BrokerFacts, rocketmqBrokerChecks, rocketmqLaneChecks } from "./rocketmq-checks.ts";
import type { LanePlace } from "./transport.ts";

const timing = { requestTimeoutMs: 3_000, pollMs: 3_000 };

/** The proxy, by the client that the bus has; and the broker, where the URL says where it is. */
export async function examineRocketmq(
  url: string,
  clock: Clock,
  lanes: LanePlace | null,
  events: EventsMode = "none",
): Promise<readonly Finding[]> {
  const place = placeOf(url);
  const topic = topicOf(lanes, events);
  const count = lanes?.count ?? 0;
  const names = Array.from({ length: count }, (_, lane) => laneNames(lanes?.prefix ?? "", lane));
  const proxy = probed("rocketmq.reachable", {
    clock,
    look: `nc -vz ${place.endpoints.replace(":", " ")}`,
    work: async (over) => {
      const client = new RocketmqClient({ ...place, ...timing }, clock);
      over.addEventListener("abort", () => void client.close());
      try {
        const facts = {
          lanes: await client.check(names),
          events: topic && { topic: topic.name, topicIs: await client.examine(topic) },
        };
        return { said: place.endpoints, findings: judgeAll(rocketmqLaneChecks, facts) };
      } finally {
        await client.close();
      }
    },
  });
  const { broker } = place;
  const found = [proxy, ...(broker === null ? [] : [examineBroker(broker, names, clock)])];
  return (await Promise.all(found)).flat();
}

function topicOf(lanes: LanePlace | null, events: EventsMode): EventsTopic | null {
  if (lanes === null || events === "none") return null;
  return eventsTopic(lanes.prefix, events === "bus" ? "FIFO" : "TRANSACTION");
}

function examineBroker(
  broker: BrokerAddress,
  names: readonly LaneNames[],
  clock: Clock,
): Promise<readonly Finding[]> {
  const at = `${broker.host}:${broker.port}`;
  return probed("rocketmq.broker", {
    clock,
    look: `mqadmin getBrokerConfig -b ${at}`,
    work: async () => {
      const facts = await brokerFacts(broker, names);
      return { said: at, findings: judgeAll(rocketmqBrokerChecks, facts, at) };
    },
  });
}

async function brokerFacts(
  broker: BrokerAddress,
  names: readonly LaneNames[],
): Promise<BrokerFacts> {
  const [settings, version, lags, aside] = await Promise.all([
    brokerSettings(broker),
    brokerVersion(broker),
    Promise.all(names.map((each) => laneLag(broker, each))),
    Promise.all(names.map((each) => givenUpOf(broker, each))),
  ]);
  const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);
  return { settings, version, lag: sum(lags), givenUp: sum(aside) };
}
