-- Whether the lane's keys are what the scripts left behind: each of its type, none that will
-- expire, and as many tickets as were counted. If not, they are as good as gone.
local function sound()
  local types = { "hash", "stream", "hash", "hash", "hash", "hash", "hash", "set", "set" }
  for n = 1, 9 do
    local type = redis.call("TYPE", KEYS[n]).ok
    if type ~= "none" and type ~= types[n] then return false end
    if redis.call("PTTL", KEYS[n]) >= 0 then return false end
  end
  for n = 10, #KEYS do
    if redis.call("PTTL", KEYS[n]) >= 0 then return false end
  end
  local counted = tonumber(redis.call("HGET", LANE, "tickets") or 0)
  return redis.call("HEXISTS", LANE, "waiting") == 1 or counted == redis.call("HLEN", TICKETS)
end

-- When the oldest ticket of a SKU was admitted. Ids stand in its list in that order, and `p`
-- says before which all have been decided; it moves on by what was looked at.
local function oldestTicket(sku, overlay, from, limit)
  if overlay == "0" then return "%" end
  local ids = redis.call("LRANGE", sku.ids, integer(from), integer(from + limit - 1))
  for n, id in ipairs(ids) do
    local record = redis.call("HGET", TICKETS, id)
    local ticket = record and readTicket(record)
    for at, line in ipairs(ticket and ticket.lines or {}) do
      if line.sku == sku.name and string.sub(ticket.held, at, at) == "1" then
        if n > 1 then redis.call("HSET", sku.stock, "p", integer(from + n - 1)) end
        return ticket.at
      end
    end
  end
  if #ids > 0 then redis.call("HSET", sku.stock, "p", integer(from + #ids)) end
  return "%"
end
