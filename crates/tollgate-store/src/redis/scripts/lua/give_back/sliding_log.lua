-- Gives back to a sliding log, in the entry of the charge if it is still there.
--
-- KEYS[1]  the list as sliding_log.lua writes it
-- ARGV[1]  <d: units given back
-- ARGV[2]  the entry's ticket

local call, pack, unpack = redis.call, struct.pack, struct.unpack
local back = unpack('<d', ARGV[1])
local size = call('LLEN', KEYS[1])

-- The newest entry of the ticket, and its place.
local function find()
  for high = size - 1, 0, -100 do
    local low = math.max(0, high - 99)
    local entries = call('LRANGE', KEYS[1], low, high)
    for place = high, low, -1 do
      local raw = entries[place - low + 1]
      if string.sub(raw, 25) == ARGV[2] then
        return raw, place
      end
    end
  end
end

-- Moves the sums of entries by `by`, so that their differences are the units again.
local function move(first, last, by)
  for place = first, last do
    local raw = call('LINDEX', KEYS[1], place)
    local at, units, sum = unpack('<ddd', raw)
    call('LSET', KEYS[1], place, pack('<ddd', at, units, sum + by) .. string.sub(raw, 25))
  end
end

local raw, place = find()
if raw then
  local at, units, sum = unpack('<ddd', raw)
  back = math.min(back, units)
  local kept = pack('<ddd', at, units - back, sum) .. ARGV[2]
  call('LSET', KEYS[1], place, kept)
  if place < size / 2 then
    move(0, place - 1, back)
  else
    move(place, size - 1, -back)
  end
  if units == back then
    call('LREM', KEYS[1], -1, call('LINDEX', KEYS[1], place))
  end
end
