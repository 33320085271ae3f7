#!lua flags=no-writes
-- What is remembered under an id.
--
-- KEYS      lane
-- ARGV[1]   id
-- Replies   NOT_PRIMARY; CLOSED; UNKNOWN; PENDING record; DECIDED answer
--@include lane
if not replicationId() then return { "NOT_PRIMARY" } end
local lane = redis.call("HMGET", LANE, "epoch", "waiting")
if not lane[1] or lane[2] then return { "CLOSED" } end
local answer = redis.call("HGET", ANSWERS, ARGV[1])
if answer then return { "DECIDED", answer } end
local record = redis.call("HGET", TICKETS, ARGV[1])
if record then return { "PENDING", record } end
return { "UNKNOWN" }
