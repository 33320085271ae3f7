import { expect, it } from "vitest";
import { clientOptions } from "./client.ts";

it("the client queues nothing, sends nothing twice, and lives once", () => {
  expect(clientOptions).toMatchObject({
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: true,
    enableAutoPipelining: false,
    reconnectOnError: null,
  });
  expect(clientOptions.retryStrategy()).toBeNull();
});
