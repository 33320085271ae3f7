import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const logger = new URL("../../dist/src/logger.js", import.meta.url).href;

/** Runs a few lines in a process of their own, with the built logger at hand. */
function logIn(lines: string, level = "info") {
  const script = `
    import { makeLogger, loggedEvents } from ${JSON.stringify(logger)};
    const log = await makeLogger({ level: "${level}", isPretty: false });
    ${lines}`;
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  const written = ran.stderr.split("\n").filter((line) => line !== "");
  return { ...ran, written: written.map((line): unknown => JSON.parse(line)) };
}

describe("the log", () => {
  it("is JSON lines on standard error, and keeps the last one when the process is killed", () => {
    const ran = logIn(`
      log.info("first");
      loggedEvents(log).alarm("disk", "full");
      process.kill(process.pid, "SIGKILL");`);
    expect(ran.signal).toBe("SIGKILL");
    expect(ran.stdout).toBe("");
    expect(ran.written).toEqual([
      { level: "info", time: expect.stringMatching(/Z$/), msg: "first" },
      expect.objectContaining({ level: "error", what: "disk", detail: "full", msg: "alarm" }),
    ]);
  });

  it("never shows a secret, wherever it stands", () => {
    const ran = logIn(`
      log.info({ apiKey: "hunter2", headers: { authorization: "Bearer hunter2" } }, "request");
      log.info({ config: { apiKeys: [{ name: "a", secret: "hunter2" }] } }, "config");`);
    expect(ran.written).toHaveLength(2);
    expect(ran.stderr).not.toContain("hunter2");
  });

  it("says only what its level lets through", () => {
    expect(logIn(`log.info("quiet"); log.error("loud");`, "warn").written).toHaveLength(1);
  });
});
