-- Writes texts as aligned columns, for reports that do not have rows of one schema.

local plain = require "profio.internal.plain"

-- Returns the width of a text in characters; string.format counts bytes, up to 99.
local function width_in_chars(text)
   return utf8.len(text) or #text
end

-- A left-aligned text at the end of a row does not widen its column.
local function counts(row, i, to_left)
   return i < #row or not to_left[i]
end

local function widths_of(rows, to_left, is_cut)
   local widths = {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do
         widths[i] = math.max(widths[i] or 0, (is_cut or counts(row, i, to_left))
               and width_in_chars(cell) or 0)
      end
   end
   return widths
end

local LEAST = 8 -- minimum width of a text if a line is too long

-- Narrows left-aligned columns, the widest first, until a line fits into `width`.
local function fit(widths, to_left, width)
   local total = 2 * (#widths - 1)
   for _, places_of in ipairs(widths) do
      total = total + places_of
   end
   while total > width do
      local widest
      for i = 1, #widths do
         if to_left[i] and widths[i] > LEAST and (not widest or widths[i] > widths[widest]) then
            widest = i
         end
      end
      if not widest then
         return
      end
      widths[widest], total = widths[widest] - 1, total - 1
   end
end

-- Cuts a text to a width; the last text of a row may be wider than its column.
local function cut(cell, width)
   if width_in_chars(cell) <= width or not utf8.len(cell) then
      return cell
   end
   return cell:sub(1, utf8.offset(cell, width) - 1) .. "\u{2026}"
end

local function line_of(row, widths, to_left, is_cut)
   local cells = {}
   for i, cell in ipairs(row) do
      cell = is_cut and to_left[i] and cut(cell, widths[i]) or cell
      local blanks = (" "):rep(math.max(widths[i] - width_in_chars(cell), 0))
      cells[i] = to_left[i] and cell .. blanks or blanks .. cell
   end
   return (table.concat(cells, "  "):gsub("%s+$", ""))
end

---Writes rows of texts as columns separated by two blanks, with control characters escaped.
---@param out profio.Output
---@param rows string[][]
---@param to_left table<integer, boolean> the columns that are left-aligned
---@param indent string|nil beginning of each line
local function columns(out, rows, to_left, indent)
   local safe = {}
   for r, row in ipairs(rows) do
      safe[r] = {}
      for i, cell in ipairs(row) do
         safe[r][i] = plain(cell)
      end
   end
   local widths = widths_of(safe, to_left, out.width)
   if out.width then
      fit(widths, to_left, out.width - #(indent or ""))
   end
   for _, row in ipairs(safe) do
      out:write(indent or "", line_of(row, widths, to_left, out.width), "\n")
   end
end

return columns
