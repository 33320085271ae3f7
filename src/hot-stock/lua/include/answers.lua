-- Remembers a decision; the first answer under an id stands. `ticket` is the one that was in
-- flight under the id, if any: the lists of its SKUs have the id already.
--   answer: id state fingerprint sale skus
local function remember(answer, ticket, skus)
  local id, record, names = string.match(answer, "^(%S+) (%S+ %S+ %S+ (%S+))$")
  redis.call("HDEL", VOIDS, id)
  if redis.call("HSETNX", ANSWERS, id, record) == 0 then return end
  if names == "%" then
    redis.call("SADD", TOMBSTONES, id)
    return
  end
  local listed = {}
  for _, line in ipairs(ticket and ticket.lines or {}) do listed[line.sku] = true end
  for name in string.gmatch(names, "[^,]+") do
    local sku = skus[name]
    if sku and not listed[name] and redis.call("EXISTS", sku.stock) == 1 then
      redis.call("RPUSH", sku.ids, id)
    end
  end
end
