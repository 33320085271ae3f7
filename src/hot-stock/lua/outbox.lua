#!lua flags=no-writes
-- The head of the outbox, open or closed, with the epoch to stamp it with.
--
-- KEYS      lane
-- ARGV[1]   items at most
-- Replies   NOT_PRIMARY
--           OK, replication id, epoch or %, length, oldest in ms or %, then seq, item of each
--@include lane
--@include outbox
local replication = replicationId()
if not replication then return { "NOT_PRIMARY" } end
local epoch = redis.call("HGET", LANE, "epoch") or "%"
local length = integer(redis.call("XLEN", OUTBOX))
local reply = { "OK", replication, epoch, length, oldestAt() }
for _, entry in ipairs(redis.call("XRANGE", OUTBOX, "-", "+", "COUNT", ARGV[1])) do
  reply[#reply + 1] = string.match(entry[1], "^%d+")
  reply[#reply + 1] = entry[2][2]
end
return reply
