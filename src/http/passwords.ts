import { scrypt, timingSafeEqual } from "node:crypto";

/**
 * Passwords as scrypt hashes: `scrypt$LOG2N$R$P$SALT$HASH`, salt and hash in base64url. One check
 * takes 32 MB and some 100 ms, which is its purpose, so only a few are worked on at a time.
 */
export type PasswordHash = {
  readonly log2N: number;
  readonly blockSize: number;
  readonly parallel: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
};

type Cost = Pick<PasswordHash, "log2N" | "blockSize" | "parallel">;

export const usualCost: Cost = { log2N: 15, blockSize: 8, parallel: 1 };
const hashBytes = 32;
const memoryMax = 256 * 1024 * 1024;

const pattern = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]{16,128})\$([\w-]{43})$/;

/** Null: not in this form, or dearer than one check may be. */
export function parsePasswordHash(text: string): PasswordHash | null {
  const [, log2N, blockSize, parallel, salt, hash] = pattern.exec(text) ?? [];
  if (salt === undefined || hash === undefined) return null;
  const cost = {
    log2N: Number(log2N),
    blockSize: Number(blockSize),
    parallel: Number(parallel),
  };
  const isInBounds = cost.log2N >= 1 && cost.blockSize >= 1 && cost.parallel >= 1;
  if (!isInBounds || memoryOf(cost) > memoryMax) return null;
  const [saltBytes, digest] = [Buffer.from(salt, "base64url"), Buffer.from(hash, "base64url")];
  return digest.length === hashBytes ? { ...cost, salt: saltBytes, hash: digest } : null;
}

export function formatPasswordHash(made: PasswordHash): string {
  const { log2N, blockSize, parallel, salt, hash } = made;
  const parts = ["scrypt", log2N, blockSize, parallel];
  return [...parts, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

export async function hashPassword(
  password: string,
  salt: Buffer,
  cost: Cost = usualCost,
): Promise<PasswordHash> {
  return { ...cost, salt, hash: await derive(password, salt, cost) };
}

/** As long as it takes, whether it fits or not. */
export async function passwordFits(password: string, known: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, known.salt, known), known.hash);
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const { log2N, blockSize, parallel } = cost;
  const options = {
    N: 2 ** log2N,
    r: blockSize,
    p: parallel,
    maxmem: memoryOf(cost) + 1024 * 1024,
  };
  // One password, however it was composed on the keyboard.
  const text = password.normalize("NFC");
  return new Promise((resolve, reject) => {
    scrypt(text, salt, hashBytes, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function memoryOf({ log2N, blockSize, parallel }: Cost): number {
  return 128 * blockSize * (2 ** log2N + parallel);
}

/** So many at a time, so many waiting; the others are told that it is busy. */
export class Turnstile {
  readonly #insideMax: number;
  readonly #waitingMax: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(insideMax: number, waitingMax: number) {
    this.#insideMax = insideMax;
    this.#waitingMax = waitingMax;
  }

  /** Null: there was no room, and the work was not begun. */
  async pass<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#inside >= this.#insideMax) {
      if (this.#waiting.length >= this.#waitingMax) return null;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#inside++;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}
