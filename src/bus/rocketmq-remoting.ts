import { connect } from "node:net";
import { systemClock } from "../clock.ts";

/** Of a broker, not of its proxy: only there topics and groups are made, and lengths are told. */
export type BrokerAddress = { readonly host: string; readonly port: number };

/** The broker's own protocol: a frame of a JSON header and a body. */
export type BrokerRequest = {
  readonly code: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: Buffer;
};

export type BrokerAnswer = {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** The broker's own word. */
export class Refused extends Error {}

const answerWithinMs = 10_000;

export function askBroker(
  broker: BrokerAddress,
  request: BrokerRequest,
  withinMs: number = answerWithinMs,
): Promise<BrokerAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(broker);
    const place = `RocketMQ's broker at ${broker.host}:${broker.port}`;
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Error(`${place}: ${why}`));
    };
    let seen = Buffer.alloc(0);
    const late = new AbortController();
    socket.once("close", () => {
      late.abort();
      reject(new Error(`${place}: closed without an answer`));
    });
    void systemClock.sleep(withinMs, late.signal).then(() => {
      if (!late.signal.aborted) fail(`no answer within ${withinMs} ms`);
    });
    socket.once("error", (error) => fail(error.message));
    socket.on("data", (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      if (seen.length < 4 || seen.length < 4 + seen.readUInt32BE(0)) return;
      socket.destroy();
      const answer = parseFrame(seen);
      if (typeof answer === "string") reject(new Refused(`${place}: ${answer}`));
      else resolve(answer);
    });
    socket.write(frameOf(request));
  });
}

function frameOf({ code: number, fields, body = Buffer.alloc(0) }: BrokerRequest): Buffer {
  const named = { code: number, language: "OTHER", version: 0, opaque: 1, flag: 0 };
  const header = Buffer.from(JSON.stringify({ ...named, extFields: fields }));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + header.length + body.length, 0);
  lengths.writeUInt32BE(header.length, 4);
  return Buffer.concat([lengths, header, body]);
}

/** What the broker complains of, or its answer. */
function parseFrame(frame: Buffer): BrokerAnswer | string {
  const total = 4 + frame.readUInt32BE(0);
  // The highest byte names the header's form: JSON, as we have asked in.
  const length = frame.readUInt32BE(4) & 0xff_ff_ff;
  const header: unknown = JSON.parse(frame.subarray(8, 8 + length).toString("utf8"));
  if (typeof header !== "object" || header === null || !("code" in header)) return "no code";
  if (header.code !== 0) {
    return `refused (${String(header.code)}): ${"remark" in header ? String(header.remark) : ""}`;
  }
  const told = "extFields" in header ? header.extFields : null;
  const fields = Object.entries(typeof told === "object" && told !== null ? told : {});
  return {
    fields: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])),
    body: frame.subarray(8 + length, total),
  };
}
