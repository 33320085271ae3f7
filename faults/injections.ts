import { systemClock } from "../src/clock.ts";
import type { Slowness, TcpProxy, Weather } from "../stack/tcp-proxy.ts";
import type { Scene } from "./scene.ts";
import type { ServeProcess } from "./serve-process.ts";

// What befalls a scene, in the words of the rows. A fault that could hit nothing, on a slow
// machine or in an unlucky moment, goes on until it has hit something.

/** By then a fault has hit something, or the row has no result. */
const hitWithinMs = 60_000;
const pollMs = 50;

export function sleep(ms: number): Promise<void> {
  return systemClock.sleep(ms);
}

/** False: not within the time that every fault has. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<boolean> {
  const untilMs = systemClock.mono() + hitWithinMs;
  while (!(await holds())) {
    if (systemClock.mono() > untilMs) return false;
    await sleep(pollMs);
  }
  return true;
}

/** It comes by itself, sooner or later; what does not has not been hit. */
export async function ends(ended: Promise<void>): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  struck((await until(() => isOver)) ? 1 : 0);
}

/** A fault that hit nothing proves nothing: the row has no result. */
export function struck(times: number): void {
  if (times === 0) throw new Error("the fault has hit nothing");
}

/** For so long, and until this holds: the fault has hit something by then, or the row is none. */
export async function lasting(ms: number, hasHit: () => Promise<boolean> | boolean): Promise<void> {
  await sleep(ms);
  struck((await until(hasHit)) ? 1 : 0);
}

type Bend = { readonly weather: Weather; readonly everyNth: number; readonly trigger?: string };

export async function under({ faultMs }: Scene, proxy: TcpProxy, bend: Bend): Promise<void> {
  const before = proxy.cuts;
  Object.assign(proxy, { trigger: null, ...bend });
  await lasting(faultMs, () => proxy.cuts > before);
  proxy.weather = "pass";
}

export async function dark(
  proxies: readonly TcpProxy[],
  ms: number,
  weather: Weather = "black-hole",
): Promise<void> {
  const swallowed = (): number => proxies.reduce((sum, proxy) => sum + proxy.swallowed, 0);
  const before = swallowed();
  for (const proxy of proxies) proxy.weather = weather;
  await lasting(ms, () => swallowed() > before);
  // What was in a black hole is lost: no connection that was in it can be trusted again.
  for (const proxy of proxies) {
    proxy.weather = "pass";
    proxy.cutAll();
  }
}

export async function slow(
  proxies: readonly TcpProxy[],
  { ms, ...slowness }: Slowness & { readonly ms: number },
): Promise<void> {
  const late = (): number => proxies.reduce((sum, proxy) => sum + proxy.delayed, 0);
  const before = late();
  for (const proxy of proxies) proxy.slowness = slowness;
  await lasting(ms, () => late() > before);
  for (const proxy of proxies) proxy.slowness = null;
}

export function point(proxies: readonly TcpProxy[], port: number): void {
  for (const proxy of proxies) {
    proxy.target = port;
    proxy.cutAll();
  }
}

/** The process behind meets the failpoint for a while, and then is as it was. */
export function meanwhile({ behind, faultMs }: Scene, failpoint: string): Promise<void> {
  return meeting(behind, { ms: faultMs, failpoint });
}

export async function meeting(
  each: ServeProcess,
  { ms, failpoint }: { readonly ms: number; readonly failpoint: string },
): Promise<void> {
  const before = each.deaths + each.meetings;
  await each.crash();
  await each.start(failpoint);
  await lasting(ms, () => each.deaths + each.meetings > before);
  await each.crash();
  await each.start(null);
}
