import { systemClock } from "../src/clock.ts";
import type { TcpProxy, Weather } from "../stack/tcp-proxy.ts";
import type { Scene } from "./scene.ts";

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

export async function dark(proxies: readonly TcpProxy[], ms: number): Promise<void> {
  const swallowed = (): number => proxies.reduce((sum, proxy) => sum + proxy.swallowed, 0);
  const before = swallowed();
  for (const proxy of proxies) proxy.weather = "black-hole";
  await lasting(ms, () => swallowed() > before);
  // What was in a black hole is lost: no connection that was in it can be trusted again.
  for (const proxy of proxies) {
    proxy.weather = "pass";
    proxy.cutAll();
  }
}

export function point(proxies: readonly TcpProxy[], port: number): void {
  for (const proxy of proxies) {
    proxy.target = port;
    proxy.cutAll();
  }
}

/** The process meets the failpoint for a while, and then is as it was. */
export async function meanwhile({ behind, faultMs }: Scene, failpoint: string): Promise<void> {
  const before = behind.deaths + behind.meetings;
  await behind.crash();
  await behind.start(failpoint);
  await lasting(faultMs, () => behind.deaths + behind.meetings > before);
  await behind.crash();
  await behind.start(null);
}
