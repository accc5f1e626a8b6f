-- Products of whole numbers below 2^52 in two halves of 26 bits, for windows whose products do not fit a double.

--@ narrow
-- The share of `units` that part / whole of a cell is, rounded up.
local function share(units, part, whole)
  local product = units * part
  local quotient = floor(product / whole)
  return quotient * whole < product and quotient + 1 or quotient
end

--@ wide
local HALF = 67108864

-- a * b as three digits to the base of 2^26 (the first may be longer).
local function product(a, b)
  local a_high, b_high = floor(a / HALF), floor(b / HALF)
  local a_low, b_low = a - a_high * HALF, b - b_high * HALF
  local low = a_low * b_low
  local carry = floor(low / HALF)
  local middle = a_high * b_low + a_low * b_high + carry
  local top = floor(middle / HALF)
  return a_high * b_high + top, middle - top * HALF, low - carry * HALF
end

-- a * b compared with c * d: positive, zero or negative.
local function compare(a, b, c, d)
  if c < 0 then
    return 1
  end
  local a1, a2, a3 = product(a, b)
  local c1, c2, c3 = product(c, d)
  if a1 ~= c1 then
    return a1 - c1
  elseif a2 ~= c2 then
    return a2 - c2
  end
  return a3 - c3
end

-- The share of `units` that part / whole of a cell is, rounded up: nearly right at first, then stepped to.
local function share(units, part, whole)
  local quotient = floor(units * (part / whole))
  while compare(quotient, whole, units, part) < 0 do
    quotient = quotient + 1
  end
  while quotient > 0 and compare(quotient - 1, whole, units, part) >= 0 do
    quotient = quotient - 1
  end
  return quotient
end
