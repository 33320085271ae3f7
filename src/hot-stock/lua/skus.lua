#!lua flags=no-writes
-- A page of the SKUs that the lane ever had.
--
-- KEYS      lane
-- ARGV[1]   cursor, 0 at first
-- ARGV[2]   SKUs, about
-- Replies   OK, cursor, 0 at last, then skus
--@include lane
local isSet = redis.call("TYPE", REGISTERED).ok == "set"
local page = isSet and redis.call("SSCAN", REGISTERED, ARGV[1], "COUNT", ARGV[2]) or { "0", {} }
return { "OK", page[1], unpack(page[2]) }
