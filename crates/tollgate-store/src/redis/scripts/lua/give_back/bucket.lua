-- Gives back to a bucket what was charged at an earlier moment, less what may have been refilled since: it may have been full
-- in between.
--
-- KEYS[1]  the state as bucket.lua writes it
-- ARGV[1]  <d each: now (-1: the server's), tag, n, the capacity with the deepest debt (in two), what is given back (in two),
--          the moment when it was charged
-- reply    the moment of the answer and 'a', or 'f' and the state where its tag is foreign; nothing is changed then

local call, pack, unpack, min, max = redis.call, struct.pack, struct.unpack, math.min, math.max
local now, tag, ticks, ceiling, ceiling_part, back, back_part, at = unpack('<dddddddd', ARGV[1])
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
local raw = call('GET', KEYS[1])
if raw then
  local full, part, stamp = unpack('<ddI4', raw)
  if stamp ~= tag then
    return pack('<d', now) .. 'f' .. pack('<I2', 1) .. raw
  end
  local missing = full - now
  if missing < 0 then
    missing, part = 0, 0
  elseif missing > ceiling or missing == ceiling and part > ceiling_part then
    missing, part = ceiling, ceiling_part
  end
  if back > missing or back == missing and back_part > part then
    back, back_part = missing, part
  end
  back = back - max(0, now - at)
  if back >= 0 and back + back_part > 0 then
    missing, part = missing - back, part - back_part
    if part < 0 then
      missing, part = missing - 1, part + ticks
    end
    call('SET', KEYS[1], pack('<ddI4', now + missing, part, tag), 'KEEPTTL')
  end
end
return pack('<d', now) .. 'a'
