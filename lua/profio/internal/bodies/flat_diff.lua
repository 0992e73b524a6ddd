-- The functions of two profiles side by side, the largest change first.

local core = require "profio.core"
local saturated = require "profio.internal.saturated"

local flat_diff = {}

-- Columns that are weights have no type here; their help gets the unit.
local columns = { { "function", "name", help = "its name" },
   { "self", help = "its own time or weight" },
   { "self_before", help = "self of the old profile" },
   { "change", help = "self less self_before" },
   { "relative", "num", help = "change as a part of self_before" },
   { "total", help = "with all it called" },
   { "total_before", help = "total of the old profile" },
   { "total_change", help = "total less total_before" },
   { "significance", "num", help = "the change of its count in standard errors" },
   { "file", "name", help = "its source file or module" },
   { "line", "int", help = "its line" } }

local function fields_of(unit)
   local fields = {}
   for i, column in ipairs(columns) do
      fields[i] = { name = column[1], type = column[2] or "int",
         help = column[2] and column.help or core.help_of_weight(column.help, unit, unit) }
   end
   return fields
end

-- Returns the tree of contexts, and its lists of weights by the name of the metric.
local function weights_of(contexts)
   local names, weights = {}, {}
   for i, metric in ipairs(contexts:metrics()) do
      names[i] = metric.name
   end
   local tree = core.context_tree(contexts, names)
   for i, name in ipairs(names) do
      weights[name] = tree.weights[i]
   end
   return tree, weights
end

-- Returns the change of a count in standard errors, if counts have a Poisson distribution: below 2
-- it may be chance. nil: both counts are 0.
local function significance(count, before, exposure)
   local deviation = math.sqrt(math.abs(count + 0.0) + math.abs(before + 0.0) * exposure * exposure)
   return deviation ~= 0 and (count - before * exposure) / deviation or nil
end

---Returns a reader with a row for each function: function, self, self_before, change, relative (nil
---if self_before is 0), total, total_before, total_change, significance (nil if a side has no
---counts or the exposure is not known), file, line.
---@param contexts profio.core.Contexts single frames with the metrics of matching.functions: those
---of the new profile, and those of the old one with the suffix " before"
---@param unit string of the weights, as core.unit returns it
---@param exposure number samples of the new side for one of the old side if nothing changed: more
---runs or a higher rate; 0: not known
---@return profio.core.Reader
function flat_diff.reader(contexts, unit, exposure)
   local tree, weights = weights_of(contexts)
   local counts, counts_before = weights.count, weights["count before"]
   local is_significant = counts and counts_before and exposure > 0
   local rows, width = {}, #columns
   for i, node in ipairs(tree.nodes) do
      local self, before = weights.self[i], weights["self before"][i]
      local total, total_before = weights.total[i], weights["total before"][i]
      if self ~= 0 or before ~= 0 or total ~= 0 or total_before ~= 0 then
         local change, frame = saturated.subtract(self, before), tree.frames[i]
         local row = { tree.names[frame], self, before, change,
            before ~= 0 and (self + 0.0 - before) / before or nil, total, total_before,
            saturated.subtract(total, total_before),
            is_significant and significance(counts[i], counts_before[i], exposure) or nil,
            tree.files[frame] or nil, tree.lines[frame] ~= 0 and tree.lines[frame] or nil }
         row[width + 1], row[width + 2] = math.abs(math.max(change, -math.maxinteger)), node
         rows[#rows + 1] = row
      end
   end
   table.sort(rows, function(a, b)
      local x, y = a[width + 1], b[width + 1]
      return x > y or x == y and a[width + 2] < b[width + 2]
   end)
   return core.rows_reader(fields_of(unit), rows)
end

return flat_diff
