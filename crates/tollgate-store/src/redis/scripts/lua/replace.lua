-- Puts a state in the place of another, unless that has changed meanwhile.
--
-- KEYS[1]  the state
-- ARGV     the state as it was read; the one to put there; for how many milliseconds it lasts

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
