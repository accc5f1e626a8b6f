-- The moment when a limit was first loaded by any node, by the server's clock.
--
-- KEYS[1]  that moment, in decimal microseconds
-- ARGV     for how many milliseconds it is remembered from now
-- reply    the moment

local first = redis.call('GET', KEYS[1])
if not first then
  local time = redis.call('TIME')
  first = string.format('%.0f', time[1] * 1000000 + time[2])
end
redis.call('SET', KEYS[1], first, 'PX', ARGV[1])
return first
