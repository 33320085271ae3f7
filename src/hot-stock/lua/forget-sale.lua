#!lua flags=allow-oom
-- Drops a page of the answers of a sale that is closed and has no ticket in flight, then its
-- policy with the last page.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   sale
-- ARGV[4]   cursor, 0 at first
-- ARGV[5]   answers looked at, about
-- Replies   CLOSED why; OK running; OK cursor, 0 at last
--@include lane
local closed = closedTo("open")
if closed then return closed end
local sale = ARGV[3]
local policy = redis.call("HGET", POLICIES, sale)
local state = policy and string.match(policy, "^%d+ (%S+)") or "closed"
if state ~= "closed" or redis.call("HEXISTS", FLIGHTS, sale) == 1 then
  return { "OK", "running" }
end
local page = redis.call("HSCAN", ANSWERS, ARGV[4], "COUNT", ARGV[5])
for n = 1, #page[2], 2 do
  if string.match(page[2][n + 1], "^%S+ %S+ (%S+)") == sale then
    redis.call("HDEL", ANSWERS, page[2][n])
  end
end
if page[1] == "0" then redis.call("HDEL", POLICIES, sale) end
return { "OK", page[1] }
