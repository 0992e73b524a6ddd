-- The columns of the rows of a comparison, and of the row of its whole.

local row_fields = {}

---Returns the columns of the rows.
---@param self table state of a comparison: by, metric
---@return { name: string, type: string, help: string }[]
function row_fields.of(self)
   local weight = self.metric.unit == "ns" and "int" or "num"
   local unit = self.metric.unit ~= "" and ", in " .. self.metric.unit or ""
   return {
      { name = self.by, type = "name", help = "what is compared" },
      { name = "before", type = weight, help = "mean of the runs of the base" .. unit },
      { name = "after", type = weight, help = "mean of the new runs, as normalised" .. unit },
      { name = "change", type = weight, help = "after - before" .. unit },
      { name = "relative", type = "num", help = "change / before; missing if that is 0" },
      { name = "low", type = "num", help = "lower end of the interval of relative" },
      { name = "high", type = "num", help = "upper end of the interval of relative" },
      { name = "p", type = "num", help = "probability of such a difference without a change" },
      { name = "p_adjusted", type = "num", help = "the same, corrected for the number of rows" },
      { name = "verdict", type = "name", help = "slower, faster, new, gone, moved, unchanged or "
         .. "unknown" },
      { name = "moved", type = "name", help = "where the cost went, or came from" },
      { name = "detectable", type = "num", help = "the smallest relative change that these runs "
         .. "could have shown" },
      { name = "runs_needed", type = "int", help = "runs per side that would show a change of "
         .. "2 %" },
      { name = "file", type = "name", help = "its source file or module" },
      { name = "line", type = "int", help = "its line" },
   }
end

---Returns the columns of the row of the whole, which is not normalised.
---@param self table state of a comparison: by, metric
---@return { name: string, type: string, help: string }[]
function row_fields.of_whole(self)
   local fields, others = {}, { [self.by] = true, p_adjusted = true, moved = true, file = true,
      line = true }
   for _, field in ipairs(row_fields.of(self)) do
      field.help = field.name == "verdict" and "slower, faster, unchanged or unknown"
         or field.help:gsub(", as normalised", "")
      fields[#fields + 1] = not others[field.name] and field or nil
   end
   fields[#fields + 1] = { name = "scale", type = "num",
      help = "cost of the typical function, new to old" }
   fields[#fields + 1] = { name = "scale_width", type = "num",
      help = "half of the width of the interval of scale" }
   return fields
end

-- Returns where the cost of a row went or came from: "to main", "from leaf"; nil: it did not move.
local function move_of(row)
   local parts = {}
   for _, word in ipairs { "to", "from" } do
      parts[#parts + 1] = row[word] and word .. " " .. table.concat(row[word], ", ") or nil
   end
   return #parts > 0 and table.concat(parts, "; ") or nil
end

---Returns the value of a row in a column; nil: it is missing.
---@param row table of the test
---@param field table one of the columns
---@return any
function row_fields.value(row, field)
   local value = row[field.name]
   if field.name == "moved" then
      return move_of(row)
   elseif field.type == "int" and value then
      return math.tointeger(value) or math.floor(value + 0.5)
   end
   return value
end

return row_fields
