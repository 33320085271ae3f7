-- The SKUs of a call: ARGV[from] says how many, then come their names, in the order of KEYS.
local function skusFrom(from)
  local skus = {}
  local total = tonumber(ARGV[from])
  for n = 1, total do
    local stock, buyers, ids = unpack(KEYS, 7 + 3 * n, 9 + 3 * n)
    skus[ARGV[from + n]] = { name = ARGV[from + n], stock = stock, buyers = buyers, ids = ids }
  end
  return skus, from + total + 1
end
