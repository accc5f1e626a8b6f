-- Gives back to a sliding window of any number of cells, in the cell of the charge if that still counts. Cells only move on,
-- so what was charged at or after the newest cell's first microsecond is in it.
--
-- KEYS[1]  the state as sliding_window.lua and sliding_cells.lua write it: an index, and units by cell, oldest first
-- ARGV[1]  <ddd: units given back, the moment when they were charged, a cell's length

local call, pack, unpack = redis.call, struct.pack, struct.unpack
local back, at, cell = unpack('<ddd', ARGV[1])
local raw = call('GET', KEYS[1])
if raw then
  local age = math.max(0, unpack('<d', raw) - math.floor(at / cell))
  local place = #raw - 8 * age - 7
  if place > 8 then
    local units = unpack('<d', raw, place)
    if units > 0 then
      units = pack('<d', math.max(0, units - back))
      call('SET', KEYS[1], string.sub(raw, 1, place - 1) .. units .. string.sub(raw, place + 8), 'KEEPTTL')
    end
  end
end
