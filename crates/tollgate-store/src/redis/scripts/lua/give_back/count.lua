-- Gives back to a fixed window or a quota, in the window or period of the charge. Windows only move on, so what was charged
-- at or after the state's first microsecond is in it.
--
-- KEYS[1]  the state as fixed_window.lua and quota.lua write it
-- ARGV[1]  <dd: units given back, the moment when they were charged

local call, pack, unpack = redis.call, struct.pack, struct.unpack
local back, at = unpack('<dd', ARGV[1])
local raw = call('GET', KEYS[1])
if raw then
  local start, count = unpack('<dd', raw)
  if start <= at and count > 0 then
    call('SET', KEYS[1], pack('<dd', start, math.max(0, count - back)), 'KEEPTTL')
  end
end
