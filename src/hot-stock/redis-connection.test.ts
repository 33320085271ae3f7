import { describe, expect, it } from "vitest";
import { busOptions } from "../bus/redis-client.ts";
import { writeOptions } from "./redis-connection.ts";

describe.each([
  ["hot stock", writeOptions],
  ["bus", busOptions],
])("the connection of the %s", (_, options) => {
  it("queues nothing, sends nothing twice, and lives once", () => {
    expect(options).toMatchObject({
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableReadyCheck: true,
      enableAutoPipelining: false,
      reconnectOnError: null,
    });
    expect(options.retryStrategy()).toBeNull();
  });
});
