import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  await install(program, aptPackage);
  return pathOf(program);
}

/**
 * One at a time on a machine: apt refuses a second one while it reads its lists. Whoever waited
 * may find that it is there by now.
 */
const oneAtATime = `command -v "$1" >/dev/null && exit
apt-get update -qq && apt-get install -y -qq --no-install-recommends \
  -o DPkg::Lock::Timeout=600 "$2"`;

/** Needs root. Public for its test. */
export async function install(program: string, aptPackage: string): Promise<void> {
  const lock = join(tmpdir(), "holdfast-install.lock");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const command = ["sh", "-c", oneAtATime, "sh", program, aptPackage];
  try {
    await run("flock", [lock, ...command], { env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new NotHere(`${aptPackage} could not be installed: ${String(error)}`, { cause: error });
  }
  // Nobody asked for the package's own service; where there is none, nothing is said of it.
  await run("service", [aptPackage, "stop"]).catch(() => undefined);
}
