#!lua
-- Applies entries in version order, each once, and drops what settled tickets still hold.
--
-- KEYS      lane, then the SKUs that the news speak of
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   number of SKUs, then their names
-- ARGV[n]   E sku version previous hash delta ticket sale buyer units answer, of each entry
--           S id answer sku=version,... of each settled ticket; an answer is % or of 5 words
-- Replies   CLOSED why
--           OK, then APPLIED sku, GAVE sku, GAP sku version, FORK sku version, LACKS sku, and
--           MORE sku for a held ticket's line that is not among the SKUs: tell it again with it
--@include lane
--@include skus
--@include equation
--@include tickets
--@include answers
--@include entries
--@include settled
local closed = closedTo("open")
if closed then return closed end
local skus, from = skusFrom(3)
local reply = { "OK" }
local function say(...)
  reply[#reply + 1] = table.concat({ ... }, " ")
end
for n = from, #ARGV do
  local kind, text = string.match(ARGV[n], "^(%u) (.*)$")
  if kind == "E" then projectEntry(text, skus, say) else dropSettled(text, skus, say) end
end
return reply
