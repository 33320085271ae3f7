import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** It is neither here nor could it be installed: another way of starting it may be tried. */
export class NotHere extends Error {}

/**
 * Where a server's program is; when it is missing and we may, the distribution's package is
 * installed. Otherwise the error says what to type.
 */
export async function findProgram(program: string, aptPackage: string): Promise<string> {
  const found = (await pathOf(program)) ?? (await installed(program, aptPackage));
  if (found !== null) return found;
  throw new NotHere(`${program} is not here. Install it: apt-get install ${aptPackage}`);
}

async function pathOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await run("sh", ["-c", 'command -v "$1"', "sh", program], {
      env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
    });
    return stdout.trim() === "" ? null : stdout.trim();
  } catch {
    return null;
  }
}

async function installed(program: string, aptPackage: string): Promise<string | null> {
  if (process.getuid?.() !== 0 || (await pathOf("apt-get")) === null) return null;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "-qq", "--no-install-recommends", aptPackage];
  try {
    await run("apt-get", ["update", "-qq"], { env });
    await run("apt-get", install, { env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new NotHere(`${aptPackage} could not be installed: ${String(error)}`, { cause: error });
  }
  // Nobody asked for the package's own service; where there is none, nothing is said of it.
  await run("service", [aptPackage, "stop"]).catch(() => undefined);
  return pathOf(program);
}
