import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findProgram, NotHere } from "./packages.ts";

const run = promisify(execFile);
const version = "5.5.0";
/** The name server, the proxy, which brings the broker, and what they need: about 100 MB. */
const artifacts = ["rocketmq-namesrv", "rocketmq-proxy"];
const fetchWithinMs = 300_000;
const mark = `rocketmq-proxy-${version}.jar`;

/**
 * A folder of the user's cache with the published jars, fetched once by Maven, which looks where
 * this machine is told to look. Made aside and moved into place whole.
 */
export async function rocketmqJars(): Promise<string> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "holdfast", `rocketmq-${version}`);
  if (existsSync(join(folder, mark))) return folder;
  const maven = await findProgram("mvn", "maven");
  await mkdir(dirname(folder), { recursive: true });
  const aside = await mkdtemp(`${folder}.`);
  try {
    await fetch(maven, aside);
    await rename(join(aside, "lib"), folder).catch((error: unknown) => {
      if (!existsSync(join(folder, mark))) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return folder;
}

async function fetch(maven: string, aside: string): Promise<void> {
  await writeFile(join(aside, "pom.xml"), pom());
  const copy = ["-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"];
  const into = `-DoutputDirectory=${join(aside, "lib")}`;
  try {
    await run(maven, [...copy, into], { cwd: aside, timeout: fetchWithinMs });
  } catch (error) {
    const said = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    const why = said.trim() === "" ? String(error) : said.trim().split("\n").slice(0, 5).join("\n");
    throw new NotHere(`RocketMQ ${version} could not be fetched by Maven:\n${why}`);
  }
  const found = await readdir(join(aside, "lib"));
  if (!found.includes(mark)) throw new Error(`Maven has not brought ${mark}`);
}

function pom(): string {
  const wanted = artifacts.map((name) => {
    const place = `<groupId>org.apache.rocketmq</groupId><artifactId>${name}</artifactId>`;
    return `<dependency>${place}<version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>holdfast</groupId><artifactId>rocketmq</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>${wanted.join("")}</dependencies>
</project>
`;
}
