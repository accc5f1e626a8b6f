-- Says that a node is alive, and tells who is. Those that were not heard of for a while are forgotten.
--
-- KEYS[1]  the nodes: a sorted set of their names by the microsecond of their last word
-- ARGV     the node's name; for how many microseconds a node counts as alive after its last word
-- reply    three decimal numbers: how many are alive, how many of them come before this one by name, and now in microseconds

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local silence = tonumber(ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now - silence))
-- Words from the future are those of before the clock was set back: who is alive says so again.
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')
redis.call('PEXPIRE', KEYS[1], math.ceil(silence / 1000))
local before = 0
local nodes = redis.call('ZRANGE', KEYS[1], 0, -1)
for _, node in ipairs(nodes) do
  if node < ARGV[1] then
    before = before + 1
  end
end
return string.format('%d %d %.0f', #nodes, before, now)
