-- Concurrency: slots by the moment when they free themselves.
--
-- KEYS[i]  sorted set: a member for each decision that holds slots, <d its units and 8 bytes its ticket, scored by the
--          microsecond at which they end; and the member `held`, scored by minus one minus the units of all of them.
--          Absent: none held.
-- ARGV     cost, limit (-1 where nothing is allowed), ttl.
-- reply    <dd: units held now, the microsecond at which the last of them ends (0: none held).

--@ arguments
$cost $limit $ttl

--@ read
local $held = -1 - (call('ZSCORE', KEYS[$i], 'held') or -1)
local $ended, $last = 0, 0
if $held > 0 then
  local ended = call('ZRANGEBYSCORE', KEYS[$i], 0, string.format('%.0f', now))
  $ended = #ended
  for _, member in ipairs(ended) do
    $held = $held - unpack('<d', member)
  end
  $last = $held > 0 and tonumber(call('ZRANGE', KEYS[$i], -1, -1, 'WITHSCORES')[2]) or 0
end
-- Held for longer than two ttl from now: a clock was wrong.
local $clamped = $last - now > 2 * $ttl
local $refused = $held + $cost > $limit
local $raw = pack('<dd', $held, $last)

--@ take
local span = $ttl --? !hold
local span = min($ttl, delay + hold) --? hold
if $cost > 0 and span > 0 then
  if $ended > 0 then
    call('ZREMRANGEBYSCORE', KEYS[$i], 0, string.format('%.0f', now))
  end
  if $clamped then
    cut(KEYS[$i], now + $ttl)
    $last, $clamped = now + $ttl, nil
  end
  call('ZADD', KEYS[$i], string.format('%.0f', now + span), pack('<d', $cost) .. TICKET, string.format('%.0f', -1 - $held - $cost), 'held')
  call('PEXPIRE', KEYS[$i], $last <= now + $ttl and ARGV[$t] or string.format('%.0f', ($last - now) / 1000 + SPARE))
end

--@ keep
cut(KEYS[$i], now + $ttl)
call('PEXPIRE', KEYS[$i], ARGV[$t])


--@ functions
-- Has all slots of `key` end at `latest`, if not before.
local function cut(key, latest)
  local late = call('ZRANGEBYSCORE', key, '(' .. string.format('%.0f', latest), '+inf')
  for _, member in ipairs(late) do
    call('ZADD', key, string.format('%.0f', latest), member)
  end
end
