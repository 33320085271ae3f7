#!lua flags=allow-oom
-- Turns a SKU's list of ids once round, in steps, and drops those that nothing is known of.
--
-- KEYS      lane, the SKU
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   ids looked at, at most
-- Replies   CLOSED why; OK, ids in the list
--@include lane
local closed = closedTo("open")
if closed then return closed end
local ids = redis.call("LPOP", KEYS[12], ARGV[3]) or {}
local dropped = 0
for _, id in ipairs(ids) do
  if redis.call("HEXISTS", ANSWERS, id) == 1 or redis.call("HEXISTS", TICKETS, id) == 1 then
    redis.call("RPUSH", KEYS[12], id)
  else
    dropped = dropped + 1
  end
end
-- Whoever reads the list meanwhile looks again: the number of ids seen has moved.
if #ids > 0 and redis.call("EXISTS", KEYS[10]) == 1 then
  redis.call("HINCRBY", KEYS[10], "n", integer(dropped))
  redis.call("HSET", KEYS[10], "p", "0")
end
return { "OK", integer(redis.call("LLEN", KEYS[12])) }
