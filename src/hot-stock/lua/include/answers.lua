-- Decisions that are remembered; the first answer under an id stands.
--   answer: id state fingerprint sale skus
local known, records, decided, tombstones = {}, {}, {}, {}

local function readAnswers(ids)
  if #ids == 0 then return end
  for n, record in ipairs(redis.call("HMGET", ANSWERS, unpack(ids))) do
    known[ids[n]] = record and true
  end
end

-- What is said of the decision already, by an entry, is "=".
local function readAnswer(text, id, sale, sku)
  if text == "%" then return nil end
  local own, state, fingerprint, of, names = string.match(text, "^(%S+) (%S+) (%S+) (%S+) (%S+)$")
  if of ~= "=" then sale = of end
  if names == "=" then names = sku end
  local record = state .. " " .. fingerprint .. " " .. sale .. " " .. names
  return { id = own == "=" and id or own, record = record, names = names }
end

-- `ticket` is the one that was in flight under the id, if any: the lists of its SKUs have the id.
local function remember(answer, ticket, skus)
  if not answer then return end
  decided[#decided + 1] = answer.id
  if known[answer.id] then return end
  known[answer.id] = true
  records[#records + 1], records[#records + 2] = answer.id, answer.record
  if answer.names == "%" then
    tombstones[#tombstones + 1] = answer.id
    return
  end
  local listed = {}
  for _, line in ipairs(ticket and ticket.lines or {}) do listed[line.sku] = true end
  for name in string.gmatch(answer.names, "[^,]+") do
    local sku = skus[name]
    if sku and sku.isHere and not listed[name] then sku.answered[#sku.answered + 1] = answer.id end
  end
end

local function writeAnswers()
  if #records > 0 then redis.call("HSET", ANSWERS, unpack(records)) end
  if #tombstones > 0 then redis.call("SADD", TOMBSTONES, unpack(tombstones)) end
  if #decided > 0 then redis.call("HDEL", VOIDS, unpack(decided)) end
end
