import type { Random } from "../src/clock.ts";

/**
 * The seeded generator (sfc32). Every use has a stream of its own, named: taking a fault away
 * leaves the workload, the schedule and every other fault as they were.
 */
export class Stream implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, name: string) {
    const start = hash(`${seed}\n${name}`);
    this.#a = start;
    this.#b = hash(`${name}\n${seed}`);
    this.#c = Math.trunc(seed) | 0;
    for (let round = 0; round < 12; round += 1) this.#word();
  }

  next(): number {
    return this.#word() / 2 ** 32;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at += 1) bytes[at] = this.#word() & 0xff;
    return bytes;
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(rate: number): boolean {
    return this.next() < rate;
  }

  pick<T>(list: readonly [T, ...T[]]): T;
  pick<T>(list: readonly T[]): T | undefined;
  pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.next() * list.length)];
  }

  /** One key of a table of weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K | undefined {
    let sum = 0;
    for (const key in weights) sum += weights[key];
    let left = this.next() * sum;
    for (const key in weights) {
      left -= weights[key];
      if (left < 0) return key;
    }
    return undefined;
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** FNV-1a over UTF-16 units, mixed once more: neighbouring seeds start far apart. */
export function hash(text: string, start = 0x811c9dc5): number {
  let state = start;
  for (let at = 0; at < text.length; at += 1) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  }
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}
