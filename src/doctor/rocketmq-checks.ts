import type { LaneFinding, TopicState } from "../bus/rocketmq-names.ts";
import { type Checks, failWhen, some, warnWhen } from "./check.ts";
import { judgeVersion, leastRocketmq } from "./versions.ts";

const lagMax = 10_000;

/** What the proxy knows of the lanes, and of the topic of events, if there is one to be. */
export type ProxyFacts = {
  readonly lanes: readonly LaneFinding[];
  readonly events: { readonly topic: string; readonly topicIs: TopicState } | null;
};

export const rocketmqLaneChecks: Checks<ProxyFacts> = {
  "rocketmq.topics": {
    look: "mqadmin topicList -n NAMESRV:9876",
    judge: ({ lanes, events }) => {
      const all = events === null ? lanes : [...lanes, events];
      const bad = all.filter(({ topicIs }) => topicIs !== "right");
      const told = bad.map(({ topic, topicIs }) => `${topic} ${topicIs}`);
      return failWhen(bad.length > 0, { lanes: lanes.length, topics: some(told) });
    },
  },
  "rocketmq.groups": {
    look: "mqadmin consumerProgress -n NAMESRV:9876",
    judge: ({ lanes }) => {
      const bad = lanes.filter(
        ({ topicIs, groupIs }) => topicIs === "right" && groupIs !== "right",
      );
      const told = bad.map(({ group }) => group);
      return failWhen(bad.length > 0, { lanes: lanes.length, groups: some(told) });
    },
  },
};

/** What the broker says of itself, where the URL says where it is. */
export type BrokerFacts = {
  readonly version: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly lag: number;
  readonly givenUp: number;
};

export const rocketmqBrokerChecks: Checks<BrokerFacts> = {
  "rocketmq.version": {
    look: "mqadmin clusterList -n NAMESRV:9876",
    judge: ({ version }) => {
      const { state, least } = judgeVersion(version, leastRocketmq);
      return { state, said: { version, least } };
    },
  },
  "rocketmq.flush": {
    look: "mqadmin getBrokerConfig -b {at} | grep flushDiskType",
    judge: ({ settings: { flushDiskType = "" } }) =>
      failWhen(flushDiskType !== "SYNC_FLUSH", { flush: flushDiskType }),
  },
  "rocketmq.replication": {
    look: "mqadmin getBrokerConfig -b {at} | grep brokerRole",
    judge: ({ settings: { brokerRole = "" } }) =>
      warnWhen(brokerRole !== "SYNC_MASTER", { role: brokerRole }),
  },
  "rocketmq.auto-create": {
    look: "mqadmin getBrokerConfig -b {at} | grep autoCreate",
    judge: ({ settings }) => {
      const names = ["autoCreateTopicEnable", "autoCreateSubscriptionGroup"];
      const on = names.filter((name) => settings[name] === "true");
      return warnWhen(on.length > 0, { on: some(on) });
    },
  },
  "rocketmq.dead-letters": {
    look: "mqadmin topicList -n NAMESRV:9876 | grep DLQ",
    judge: ({ givenUp }) => warnWhen(givenUp > 0, { letters: givenUp }),
  },
  "rocketmq.lag": {
    look: "mqadmin consumerProgress -n NAMESRV:9876",
    judge: ({ lag }) => warnWhen(lag > lagMax, { lag }),
  },
};
