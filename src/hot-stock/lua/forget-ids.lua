#!lua flags=allow-oom
-- A SKU leaves a sale that is forgotten: its buyers' units limit nobody any more. Its list of ids
-- is turned once round, in steps, and those that nothing is known of are dropped.
--
-- KEYS      lane, the SKU
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   sale
-- ARGV[4]   ids looked at, at most
-- Replies   CLOSED why; OK, ids in the list
--@include lane
local closed = closedTo("open")
if closed then return closed end
if redis.call("HGET", KEYS[10], "s") == ARGV[3] then
  redis.call("HSET", KEYS[10], "s", "%")
  redis.call("UNLINK", KEYS[11])
end
local ids = redis.call("LPOP", KEYS[12], ARGV[4]) or {}
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
