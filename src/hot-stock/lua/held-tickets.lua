#!lua flags=no-writes
-- A page of the tickets in flight, open or closed.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   cursor, 0 at first
-- ARGV[4]   tickets, about
-- Replies   CLOSED why; OK, cursor, 0 at last, then id, record of each ticket
--@include lane
local closed = closedTo("any")
if closed then return closed end
local page = redis.call("HSCAN", TICKETS, ARGV[3], "COUNT", ARGV[4])
return { "OK", page[1], unpack(page[2]) }
