-- The outbox: a stream whose ids are the numbers that the lane gives out.
local function appendAll(items, at)
  local before = redis.call("HINCRBY", LANE, "seq", integer(#items)) - #items
  for n, item in ipairs(items) do
    redis.call("XADD", OUTBOX, integer(before + n) .. "-0", "i", item, "t", at)
  end
  return before
end

local function append(item, at)
  return integer(appendAll({ item }, at) + 1)
end

local function stands(seq)
  return #redis.call("XRANGE", OUTBOX, seq .. "-0", seq .. "-0") > 0
end

local function ticketItem(id, ticket)
  return "T " .. id .. " " .. ticket.at .. " " .. contentOf(ticket)
end

local function oldestAt()
  local head = redis.call("XRANGE", OUTBOX, "-", "+", "COUNT", "1")
  return head[1] and head[1][2][4] or "%"
end
