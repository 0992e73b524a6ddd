-- Rows of texts as aligned columns, for reports that are not rows of one schema.

local plain = require "profio.reports.plain"

-- string.format knows no width above 99, and counts bytes.
local function places(text)
   return utf8.len(text) or #text
end

-- A text to the left that ends its row needs no column.
local function counts(row, i, to_left)
   return i < #row or not to_left[i]
end

local function widths_of(rows, to_left)
   local widths = {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do
         widths[i] = math.max(widths[i] or 0, counts(row, i, to_left) and places(cell) or 0)
      end
   end
   return widths
end

local function line_of(row, widths, to_left)
   local cells = {}
   for i, cell in ipairs(row) do
      local blanks = (" "):rep(widths[i] - places(cell))
      cells[i] = to_left[i] and cell .. blanks or blanks .. cell
   end
   return (table.concat(cells, "  "):gsub("%s+$", ""))
end

---Write rows of texts as columns with two blanks between, control characters made harmless.
---@param out profio.Output
---@param rows string[][]
---@param to_left table<integer, boolean> the columns whose texts stand to the left
---@param indent string|nil what each line begins with
local function columns(out, rows, to_left, indent)
   local safe = {}
   for r, row in ipairs(rows) do
      safe[r] = {}
      for i, cell in ipairs(row) do
         safe[r][i] = plain(cell)
      end
   end
   local widths = widths_of(safe, to_left)
   for _, row in ipairs(safe) do
      out:write(indent or "", line_of(row, widths, to_left), "\n")
   end
end

return columns
