-- Compares the values of groups of runs, and marks those that stand out.

local modified_scores = require "profio.internal.inference.modified_scores"
local texts = require "profio.internal.texts"

local odd_values = {}

local FEW_RUNS <const> = 3 -- the value of fewer runs may be chance

---All columns: value is of a metric of calls, total_share of one of profiles.
odd_values.all_columns = {
   { name = "by", type = "name", help = "the value of the label, or the hash of the run; missing "
      .. "for runs without the label" },
   { name = "runs", type = "int", help = "number of runs" },
   { name = "value", type = "num", is_weight = true, help = "the metric of all calls of the "
      .. "function in these runs; of counts and sums of times the mean of a run" },
   { name = "total_share", type = "num", help = "the share of the function, with what it calls, in "
      .. "these runs" },
   { name = "relative", type = "num", help = "value, or share, / median of all of them - 1" },
   { name = "score", type = "num", help = "modified z score: (value - median) * 0.6745 / median "
      .. "of the absolute deviations" },
   { name = "mark", type = "name", help = "high or low if the value stands out: its score is "
      .. "above 3.5 or below -3.5 (Iglewicz and Hoaglin 1993)" },
}

---Returns the columns of the rows that have a value.
---@param column "value"|"total_share"
---@return table[]
function odd_values.columns(column)
   local list = {}
   for _, one in ipairs(odd_values.all_columns) do
      local is_other = (one.name == "value" or one.name == "total_share") and one.name ~= column
      list[#list + 1] = not is_other and one or nil
   end
   return list
end

-- Adds notes on values that may stand out by chance.
local function note(compared, by, rows, count)
   local few = {}
   for _, row in ipairs(rows) do
      few[#few + 1] = by ~= "run" and row.mark and row.runs < FEW_RUNS and ("%s (%s)"):format(
         row.by or "-", texts.counted(row.runs, "run")) or nil
   end
   if count < modified_scores.FEWEST then
      compared.note(("%s: which of them is odd is known from %d on"):format(texts.counted(count,
         "value"), modified_scores.FEWEST), "store-few-values")
   elseif count < modified_scores.FEW then
      compared.note(("%s are few: with fewer than %d, one stands out by chance in up to 3 of 10 "
         .. "cases"):format(texts.counted(count, "value"), modified_scores.FEW), "store-few-values")
   end
   if few[1] then
      compared.note(("what stands out comes from few runs, and may be theirs only: %s"):format(
         table.concat(few, ", ", 1, math.min(#few, 5))), "store-few-values")
   end
end

---Marks the rows that stand out and sorts them, the farthest from the median first; rows without a
---value are the last. Adds notes.
---@param compared profio.ComparedRuns
---@param by string
---@param rows table[] changed: by, runs, and the value
---@param column string of the value
function odd_values.mark(compared, by, rows, column)
   local with_value, values, rank = {}, {}, {}
   for i, row in ipairs(rows) do
      rank[row] = i
      if row[column] then
         with_value[#with_value + 1], values[#values + 1] = row, row[column]
      end
   end
   local scores, median = modified_scores.of(values)
   for i, row in ipairs(scores and with_value or {}) do
      local is_odd = math.abs(scores[i]) > modified_scores.LIMIT
      row.score, row.relative = scores[i], median ~= 0 and row[column] / median - 1 or nil
      row.mark = is_odd and (scores[i] > 0 and "high" or "low") or nil
   end
   table.sort(rows, function(a, b)
      local x = a.score and math.abs(a.score) or a[column] and -1 or -2
      local y = b.score and math.abs(b.score) or b[column] and -1 or -2
      return x > y or x == y and rank[a] < rank[b]
   end)
   note(compared, by, rows, #values)
end

return odd_values
