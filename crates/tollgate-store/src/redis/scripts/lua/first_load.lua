-- The moment when a limit was first loaded by any node.
--
-- KEYS[1]  that moment, in decimal microseconds
-- ARGV     the moment if nobody was before; for how many milliseconds it is remembered from now
-- reply    the moment

local first = redis.call('GET', KEYS[1])
if first then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return first
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
