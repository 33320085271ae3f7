#!lua
-- Drops a page of the tickets that stand in the outbox and are not in flight any more.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- ARGV[4]   stream id to begin behind, 0-0 at first
-- ARGV[5]   items at most
-- Replies   CLOSED why; OK, stream id of the last one looked at, or % behind the last
--@include lane
--@include load
local refused = loadRefused()
if refused then return refused end
local entries = redis.call("XRANGE", OUTBOX, "(" .. ARGV[4], "+", "COUNT", ARGV[5])
for _, entry in ipairs(entries) do
  local id = string.match(entry[2][2], "^T (%S+)")
  if id and redis.call("HEXISTS", TICKETS, id) == 0 then redis.call("XDEL", OUTBOX, entry[1]) end
end
local last = entries[#entries]
return { "OK", #entries == tonumber(ARGV[5]) and last[1] or "%" }
