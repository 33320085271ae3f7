import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { starters } from "../../stack/servers.ts";

/** A machine with nothing on it but a `docker`, which writes down what it is asked. */
let folder: string;
const path = process.env["PATH"] ?? "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-docker-"));
  process.env["PATH"] = folder;
});
afterEach(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true, force: true });
});

function haveDocker(fails: string): void {
  const script = `#!/bin/sh
echo "$* [$REDIS_PORT $ROCKETMQ_PORT $ROCKETMQ_BROKER_PORT] $REDIS_PASSWORD" >> ${folder}/asked
case "$*" in ${fails}) echo "no such image" >&2; exit 1;; esac
`;
  writeFileSync(join(folder, "docker"), script);
  chmodSync(join(folder, "docker"), 0o755);
}
const asked = (): readonly string[] =>
  readFileSync(join(folder, "asked"), "utf8").trim().split("\n");

describe("a server that is neither here nor can be installed", () => {
  it("is started by Docker Compose, and taken down with its data", async () => {
    haveDocker("nothing");
    const started = await starters.redis();
    const [, password = "", port = ""] =
      /^redis:\/\/:([0-9a-f]{36})@127\.0\.0\.1:(\d+)$/.exec(started.url) ?? [];
    expect(password).not.toBe("");
    await started.stop();
    const [version, up = "", down = ""] = asked();
    expect(version).toContain("compose version");
    expect(up).toMatch(/^compose --project-name holdfast-stack-redis-\w+ --file \S+compose\.yaml /);
    expect(up).toMatch(/ --profile minimal up --detach --wait .*redis \[/);
    expect(up).toContain(`[${port}  ] ${password}`);
    expect(down).toContain("down --volumes");
  });

  it("names broker and proxy of RocketMQ, which both have free ports", async () => {
    haveDocker("nothing");
    const started = await starters.rocketmq();
    const [, proxy, broker] =
      /^rocketmq:\/\/127\.0\.0\.1:(\d+)\?broker=127\.0\.0\.1:(\d+)$/.exec(started.url) ?? [];
    expect(asked()[1]).toContain(`[ ${proxy} ${broker}]`);
    await started.stop();
  });

  it("is told with both reasons when Docker fails, and nothing is left behind", async () => {
    haveDocker("*up*");
    await expect(starters.redis()).rejects.toThrow(/redis-server is not here[\s\S]*no such image/);
    expect(asked().at(-1)).toContain("down --volumes");
  });

  it("is told with its own reason where there is no Docker", async () => {
    await expect(starters.redis()).rejects.toThrow(/^redis-server is not here\. Install it/);
  });
});
