import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

type Service = {
  readonly image?: string;
  readonly build?: string;
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
};

const text = readFileSync("compose.yaml", "utf8");
const example = readFileSync(".env.example", "utf8");
const dockerfile = readFileSync("Dockerfile", "utf8");
const compose: {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
} = parse(text, { merge: true });
const services = Object.entries(compose.services);
const servers = services.filter(([, { build }]) => build === undefined);
const ofProfile = (profile: string): string[] =>
  services.filter(([, { profiles }]) => profiles?.includes(profile)).map(([name]) => name);

describe("compose.yaml", () => {
  it("has profiles for those who want only some of it", () => {
    expect(ofProfile("minimal")).toEqual(["redis", "mysql"]);
    expect(ofProfile("rabbitmq")).toEqual(["rabbitmq"]);
    expect(ofProfile("rocketmq")).toEqual([
      "rocketmq-namesrv",
      "rocketmq-broker",
      "rocketmq-proxy",
    ]);
    expect(ofProfile("mariadb")).toEqual(["mariadb"]);
    expect(ofProfile("app")).toEqual(["migrate", "holdfast"]);
  });

  it.each(servers)("pins the image of %s, and says when it is healthy", (_, service) => {
    expect(service.image).toMatch(/^\$\{[A-Z]+_IMAGE:-[a-z/]+:\d+\.\d+\.\d+[a-z-]*\}$/);
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
  });

  it.each(services)("opens %s to this machine only, on a port that can be changed", (_, made) => {
    for (const port of made.ports ?? []) {
      expect(port).toMatch(/^127\.0\.0\.1:\$\{[A-Z_]+_PORT:-\d+\}:\d+$/);
    }
  });

  it("starts what needs another only once that is healthy", () => {
    for (const [name, { depends_on: needs = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        const expected = needed === "migrate" ? "completed_successfully" : "healthy";
        expect(condition, `${name} needs ${needed}`).toBe(`service_${expected}`);
        expect(Object.keys(compose.services)).toContain(needed);
      }
    }
    expect(Object.keys(compose.services["rocketmq-proxy"]?.depends_on ?? {})).toEqual([
      "rocketmq-broker",
    ]);
    expect(Object.keys(compose.services["holdfast"]?.depends_on ?? {})).toContain("migrate");
  });

  it("keeps data in volumes that have names", () => {
    const used = services.flatMap(([, { volumes = [] }]) => volumes);
    const names = used.map((volume) => volume.split(":")[0] ?? "");
    expect(names.sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it("has no password of its own: each secret must be given, and is in .env.example, empty", () => {
    const secrets = new Set(
      [...text.matchAll(/\$\{([A-Z_]*(?:PASSWORD|KEYS))(:?[?-]?)/g)].map(
        ([, name = "", how = ""]) => `${name}${how}`,
      ),
    );
    expect([...secrets].sort()).toEqual([
      "HOLDFAST_API_KEYS:?",
      "MYSQL_PASSWORD:?",
      "MYSQL_ROOT_PASSWORD:?",
      "RABBITMQ_PASSWORD:?",
      "REDIS_PASSWORD:?",
    ]);
    for (const secret of secrets)
      expect(example).toMatch(new RegExp(`^${secret.slice(0, -2)}=$`, "m"));
  });

  it("offers in .env.example every variable that it reads, with the same defaults", () => {
    const read = new Set([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    const offered = [...example.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(new Set([...offered, "HOLDFAST_IMAGE"])).toEqual(read);
    for (const [, name, port] of text.matchAll(/\$\{([A-Z_]+_PORT):-(\d+)\}/g)) {
      expect(example).toContain(`# ${name}=${port}\n`);
    }
  });

  it("sets the servers as the proof needs them", () => {
    const told = (name: string): string => compose.services[name]?.command?.join(" ") ?? "";
    expect(told("redis")).toMatch(/--appendonly yes .*--maxmemory-policy noeviction/);
    for (const name of ["mysql", "mariadb"]) {
      expect(told(name)).toMatch(/--innodb-flush-log-at-trx-commit=1.*--sync-binlog=1/);
    }
    const broker = compose.configs["rocketmq-broker"]?.content ?? "";
    for (const line of [
      "flushDiskType=SYNC_FLUSH",
      "brokerRole=SYNC_MASTER",
      "autoCreateTopicEnable=false",
      "autoCreateSubscriptionGroup=false",
    ]) {
      expect(broker.split("\n")).toContain(line);
    }
    expect(JSON.parse(compose.configs["rocketmq-proxy"]?.content ?? "")).toMatchObject({
      proxyMode: "cluster",
      grpcServerPort: 8081,
    });
    // The lanes' topics are made by `migrate`, of the type FIFO, because it is told of the broker.
    expect(example).toContain("rocketmq://rocketmq-proxy:8081?broker=rocketmq-broker:10911");
    expect(told("migrate")).toBe("migrate");
  });
});

describe("the Dockerfile", () => {
  it("builds in one stage and runs in another, not as root", () => {
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:22\.\d+\.\d+-/m);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toContain("NODE_OPTIONS=--max-semi-space-size=64");
    expect(dockerfile).toMatch(/^HEALTHCHECK .*\n.*\/livez/m);
    expect(dockerfile).toContain('ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]');
    expect(dockerfile).toContain('CMD ["serve"]');
  });
});
