// A lock between processes of one checkout: the folder's existence is the lock, and it names its
// owner from the first instant, because it is made aside and moved into place whole.
//
// A lock whose owner is dead is taken over in place. Who may do that is decided by making a folder
// inside the lock; the winner reads the owner once more, so that a living owner is never displaced.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const waitMsMax = 20 * 60 * 1000;
const pollMs = 100;
const takeoverMsMax = 10_000;

/**
 * Runs `action` while no other process holds `folder`. `onWait` hears once whom we wait for.
 */
export async function withLock(folder, action, onWait) {
  const deadline = Date.now() + waitMsMax;
  let told = false;
  while (!acquire(folder)) {
    if (Date.now() > deadline) {
      throw new Error(
        `waited ${waitMsMax / 60_000} minutes for ${folder}; remove it and try again`,
      );
    }
    if (!told) onWait?.(owner(folder));
    told = true;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  try {
    return await action();
  } finally {
    release(folder);
  }
}

function acquire(folder) {
  const aside = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside);
  writeFileSync(join(aside, "pid"), String(process.pid));
  try {
    renameSync(aside, folder);
    return true;
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    if (!["ENOTEMPTY", "EEXIST", "EPERM"].includes(error.code)) throw error;
    return takeOver(folder);
  }
}

function takeOver(folder) {
  if (isAlive(owner(folder))) return false;
  const claim = join(folder, "takeover");
  try {
    mkdirSync(claim);
  } catch {
    dropAbandoned(claim);
    return false;
  }
  if (isAlive(owner(folder))) {
    rmSync(claim, { recursive: true, force: true });
    return false;
  }
  writeFileSync(join(folder, "pid"), String(process.pid));
  rmSync(claim, { recursive: true, force: true });
  return true;
}

function dropAbandoned(claim) {
  try {
    if (Date.now() - statSync(claim).mtimeMs > takeoverMsMax) rmSync(claim, { recursive: true });
  } catch {
    // Gone in the meantime: whoever made it has finished.
  }
}

/** Moved away before it is emptied, so that nobody ever sees a lock without its owner. */
function release(folder) {
  const aside = `${folder}.${process.pid}.done`;
  renameSync(folder, aside);
  rmSync(aside, { recursive: true, force: true });
}

function owner(folder) {
  try {
    return Number(readFileSync(join(folder, "pid"), "utf8"));
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
