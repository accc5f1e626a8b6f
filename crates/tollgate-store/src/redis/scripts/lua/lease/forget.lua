-- Forgets a window's key, but for what is out on lease: that may be spent yet.
--
-- KEYS[1]  the state as fixed_window.lua, quota.lua or sliding_cells.lua write it
-- KEYS[2]  <ddd: the first microsecond of a window or cell, units out on lease in it, that of the next one
-- ARGV[1]  <d each: now (-1: the server's), milliseconds that keys last beyond their state; a cell's length where the window
--          slides, else 0; the number of cells

local call, pack, unpack = redis.call, struct.pack, struct.unpack
local now, spare, cell, cells = unpack('<dddd', ARGV[1])
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
local term, out, ends = unpack('<ddd', call('GET', KEYS[2]) or pack('<ddd', 0, 0, 0))
if ends <= now then
  call('DEL', KEYS[1], KEYS[2])
elseif cell == 0 then
  call('SET', KEYS[1], pack('<dd', term, out), 'PX', string.format('%.0f', (ends - now) / 1000 + spare))
else
  local state = pack('<d', term / cell) .. string.rep('\0', 8 * cells) .. pack('<d', out)
  call('SET', KEYS[1], state, 'PX', string.format('%.0f', (ends + cells * cell - now) / 1000 + spare))
end
