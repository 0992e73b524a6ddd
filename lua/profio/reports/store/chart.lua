-- Draws a trend as an SVG picture: the value of all runs of each group as a line, and a band
-- between the values that a tenth and nine tenths of the runs do not exceed.

local markup = require "profio.internal.markup"
local texts = require "profio.internal.texts"

local WIDTH <const>, HEIGHT <const>, LEFT <const>, RIGHT <const> = 900, 360, 64, 20
local TOP <const>, BOTTOM <const>, LABELS <const>, STEPS <const> = 40, 60, 12, 4

local HEAD <const> = [[
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="%d" y="22" font-size="15">%s</text>
]]

local chart = {}

---Returns the ends of an axis for shares. It begins at 0 if one of them is below half of the
---largest one, else a quarter of their range below the smallest one, so that a step of a few per
---cent shows.
---@param least number
---@param most number
---@return number first
---@return number last above first
function chart.axis(least, most)
   if most <= 0 then
      return 0.0, 1.0
   elseif least < most / 2 or least == most then
      return 0.0, most
   end
   return math.max(0.0, least - (most - least) / 4), most
end

-- Returns the functions that give the places of the i-th row and of a share.
local function scales(rows, first, last)
   local step = (WIDTH - LEFT - RIGHT) / math.max(#rows - 1, 1)
   return function(i)
      return texts.float("%.1f", LEFT + (i - 1) * step)
   end, function(share)
      return texts.float("%.1f", HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM)
         * (share - first) / (last - first))
   end
end

-- Writes lines of the scale, and names of groups below it.
local function write_scale(out, rows, first, last, x, y, shown)
   for i = 0, STEPS do
      local share = first + (last - first) * i / STEPS
      out:write(('<path d="M%d %sH%d" stroke="#ddd"/><text x="%d" y="%s" text-anchor="end">%s'
         .. '</text>\n'):format(LEFT, y(share), WIDTH - RIGHT, LEFT - 6, y(share), shown(share)))
   end
   local every = math.max(1, math.ceil(#rows / LABELS))
   for i = 1, #rows, every do
      local place = x(i)
      out:write(('<text x="%s" y="%d" text-anchor="end" transform="rotate(-30 %s %d)">%s</text>\n')
         :format(place, HEIGHT - BOTTOM + 18, place, HEIGHT - BOTTOM + 18,
         markup.escaped(rows[i].by or "-")))
   end
end

-- Returns the rows with a value, and the ends of their bands.
local function with_values(rows)
   local least, most, list = math.huge, 0, {}
   for _, row in ipairs(rows) do
      if row.value then
         list[#list + 1] = row
         least = math.min(least, row.value, row.low)
         most = math.max(most, row.value, row.high)
      end
   end
   return list, least, most
end

---Writes a chart.
---@param out profio.Output
---@param rows { by: string|nil, runs: integer, value: number|nil, low: number, high: number }[]
---@param title string
---@param on_axis fun(value: number): string formats a value of the axis
---@param at_point fun(value: number): string formats the value of a group
function chart.write(out, rows, title, on_axis, at_point)
   local shown, least, most = with_values(rows)
   local first, last = chart.axis(least, most)
   local x, y = scales(shown, first, last)
   out:write(HEAD:format(WIDTH, HEIGHT, LEFT, markup.escaped(title)))
   if first > 0 then
      out:write(('<text x="%d" y="22" text-anchor="end" fill="#a40">the axis begins at %s'
         .. '</text>\n'):format(WIDTH - RIGHT, on_axis(first)))
   end
   write_scale(out, shown, first, last, x, y, on_axis)
   local line, band = {}, {}
   for i, row in ipairs(shown) do
      line[i] = x(i) .. "," .. y(row.value)
      band[i] = x(i) .. "," .. y(row.high)
      band[2 * #shown + 1 - i] = x(i) .. "," .. y(row.low)
   end
   out:write('<polygon points="', table.concat(band, " "), '" fill="#4878a8" opacity=".25"/>\n')
   out:write('<polyline points="', table.concat(line, " "), '" fill="none" stroke="#1f4e79" ',
      'stroke-width="2"/>\n')
   for i, row in ipairs(shown) do
      out:write(('<circle cx="%s" cy="%s" r="3" fill="#1f4e79"><title>%s: %s (%d runs)</title>'
         .. '</circle>\n'):format(x(i), y(row.value), markup.escaped(row.by or "-"),
         at_point(row.value), row.runs))
   end
   out:write "</svg>\n"
end

return chart
