import { bodyBytesMax } from "./schema.ts";

/** Everything has a bound; each may be set lower by a test. */
export type HttpLimits = {
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckMs: number;
  readonly connectionsMax: number;
  readonly streamsMax: number;
  readonly streamsPerSessionMax: number;
  readonly streamHeartbeatMs: number;
  readonly streamRetryMs: number;
  readonly streamBufferBytesMax: number;
};

export const defaultLimits: HttpLimits = {
  bodyBytesMax,
  headerBytesMax: 8 * 1024,
  // A client that sends a byte now and then holds a connection only for so long.
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  timeoutCheckMs: 1_000,
  // Longer than the usual idle time of a load balancer, so that it closes first.
  keepAliveTimeoutMs: 72_000,
  connectionsMax: 20_000,
  streamsMax: 1_000,
  streamsPerSessionMax: 10,
  streamHeartbeatMs: 15_000,
  streamRetryMs: 3_000,
  streamBufferBytesMax: 256 * 1024,
};
