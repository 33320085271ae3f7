#!lua
-- Applies entries in version order, each once, and drops what settled tickets still hold.
--
-- KEYS      lane, then the SKUs that the news speak of
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   number of SKUs, then their names
-- ARGV[n]   E sku version previous hash delta ticket sale buyer units answer, of each entry
--           S id answer sku=version,... of each settled ticket; an answer is % or of 5 words;
--           = for a hash, an id, a sale or a SKU that has just been said
-- Replies   CLOSED why
--           OK, then APPLIED sku, GAVE sku, GAP sku version, FORK sku version, LACKS sku, and
--           MORE sku for a held ticket's line that is not among the SKUs: tell it again with it
--@include lane
--@include skus
--@include equation
--@include tickets
--@include units
--@include held
--@include answers
--@include entries
--@include settled
local closed = closedTo("open")
if closed then return closed end
local skus, from = skusFrom(3)
for _, sku in pairs(skus) do
  readLevel(sku)
  sku.units, sku.answered = {}, {}
end
readCounting(skus)
local news, tickets, answers = {}, {}, {}
for n = from, #ARGV do
  local kind, text = string.match(ARGV[n], "^(%u) (.*)$")
  local each = kind == "E" and readEntry(text, skus) or readSettled(text)
  news[#news + 1], tickets[#tickets + 1] = each, each.id
  if each.answer then answers[#answers + 1] = each.answer.id end
end
readHeld(tickets)
readAnswers(answers)

-- Said once where it is said again and again.
local reply = { "OK" }
local function say(word, sku, version)
  local words = word .. " " .. sku.name .. (version and " " .. version or "")
  if sku.said ~= words then reply[#reply + 1] = words end
  sku.said = words
end
for _, each in ipairs(news) do
  if each.name then projectEntry(each, skus, say) else dropSettled(each, skus, say) end
end

writeHeld()
writeAnswers()
for _, sku in pairs(skus) do
  if sku.moved then writeLevel(sku) end
  writeUnits(sku)
  if #sku.answered > 0 then redis.call("RPUSH", sku.ids, unpack(sku.answered)) end
end
return reply
