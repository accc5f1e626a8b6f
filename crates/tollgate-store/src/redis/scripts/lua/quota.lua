-- Quota: a count in calendar periods. The caller knows the calendar and sends the period around its own now; where the
-- server's now is in another one the call ends with nothing changed, and the caller asks again with that one.
--
-- KEYS[i]  <dd: the period's first microsecond, units counted in it. Absent: nothing counted.
-- ARGV     cost, limit (-1 where nothing is allowed), the period's first microsecond, that of the next; with a debt the
--          limit and the deepest debt together.
-- reply    the state as it was read; zeros where absent.

--@ arguments
$cost $limit $from $to
$most --? owing

--@ read
if now < $from or now >= $to then
  return pack('<d', now) .. 'p'
end
local $raw = call('GET', KEYS[$i]) or NOTHING_16
local $start, $count = unpack('<dd', $raw)
local $clamped
if $start < $from then
  $start, $count = $from, 0
elseif $start > $to then
  -- The next period stands still, since none reopens; further ahead, a clock was wrong.
  $start, $clamped = $from, true
end
local $refused = $count + $cost > $limit --? !overdraw
local $refused = $count > $limit or $cost > 0 and $count == $limit --? overdraw

--@ take
$cost = min($cost, $most - $count) --? owing
if $cost > 0 then
  -- Every charge says when the key ends: one that lost its expiry would stay for ever. How long the next period is, is not
  -- known: 1.2 of this one is more than any calendar's months differ.
  local ends = $start > now and $to + 1.2 * ($to - $from) or $to
  call('SET', KEYS[$i], pack('<dd', $start, $count + $cost), 'PXAT', floor(ends / 1000) + SPARE) --? !replay
  call('SET', KEYS[$i], pack('<dd', $start, $count + $cost), 'PX', string.format('%.0f', (ends - now) / 1000 + SPARE)) --? replay
  $clamped = nil
end

--@ keep
call('SET', KEYS[$i], pack('<dd', $start, $count), 'PX', string.format('%.0f', ($to - now) / 1000 + SPARE))
