import type { Lane } from "../domain/values.ts";

export const slots = 16_384;
/** The slots are cut into 2^4 parts; lanes that follow one another stand in different ones. */
const partBits = 4;
const known = new Map<Lane, string>();

/**
 * What stands between the braces of every key of a lane, so that they live on one node of a
 * cluster. The tag begins with the lane and goes on until its slot lies in the part that is the
 * lane's: any 16 lanes in a row stand one in each 16th of the slots, so three primaries with equal
 * shares have five or six each. It never changes: another tag would be another, empty lane.
 */
export function laneTag(lane: Lane): string {
  let tag = known.get(lane);
  if (tag === undefined) {
    tag = tagIn(partOf(lane), lane);
    known.set(lane, tag);
  }
  return tag;
}

/** As every node of a cluster reckons it. */
export function slotOf(tag: string): number {
  let sum = 0;
  for (const byte of Buffer.from(tag)) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      sum = ((sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
    }
  }
  return sum % slots;
}

/** Few lanes stand far apart, too: 0, 1/2, 1/4, 3/4, 1/8, … of all slots. */
function partOf(lane: Lane): number {
  let part = 0;
  for (let bit = 0; bit < partBits; bit += 1) part = part * 2 + ((lane >> bit) & 1);
  return part;
}

function tagIn(part: number, lane: Lane): string {
  const size = slots >> partBits;
  for (let n = 0; ; n += 1) {
    const tag = `${lane}.${n}`;
    if (Math.floor(slotOf(tag) / size) === part) return tag;
  }
}
