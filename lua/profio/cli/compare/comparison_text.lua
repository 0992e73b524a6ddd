-- A comparison as text: a table of the largest changes, then the paragraph in plain words. By area
-- and context the statistics of calls stand between them.

local columns = require "profio.reports.columns"
local core = require "profio.core"
local distinguished = require "profio.internal.naming.distinguished"
local metric_counts = require "profio.internal.bodies.counts"
local plain = require "profio.internal.plain"
local statistics_diff = require "profio.internal.compare.statistics_diff"

local text = {}

---Rows that are shown without --top.
text.MOST = 30

---Returns a relative change as text, "+5.0 %"; nil is an empty text.
---@param value number|nil
---@return string
function text.percent(value)
   return value and ("%+.1f %%"):format(value * 100) or ""
end

-- The relative change from which on the end of an interval is any change.
local ANY <const> = 1000

local function bound(value)
   return value < ANY and text.percent(value) or "any"
end

---Returns the interval of a relative change as text; an empty one if it is not known.
---@param record { relative: number|nil, low: number|nil, high: number|nil }
---@return string
function text.interval(record)
   return record.relative and record.low and record.high
      and ("%s .. %s"):format(bound(record.low), bound(record.high)) or ""
end

---Returns a p value as text; nil is an empty text.
---@param p number|nil
---@return string
function text.p(p)
   return p and (p > 0 and ("%.2g"):format(p) or "<1e-300") or ""
end

---Returns the cells of a row: change, relative change, its interval, before, after, p, verdict and
---name.
---@param record table of comparison:rows()
---@param by string the column of the name
---@param shown fun(value: number): string
---@return string[]
function text.cells(record, by, shown)
   local verdict = record.verdict .. (record.moved and " " .. record.moved or "")
   return { (record.change > 0 and "+" or "") .. shown(record.change),
      text.percent(record.relative), text.interval(record), shown(record.before),
      shown(record.after), text.p(record.p_adjusted), verdict, record[by] }
end

-- Cells with weights, of which the head names what is counted.
local weights <const> = { change = true, before = true, after = true }

---Returns the heads of these cells. Weights that count have no unit, so the head names the metric.
---@param metric { name: string, unit: string }
---@return string[]
function text.heads(metric)
   local heads = { "change", "relative", "interval", "before", "after", "p", "verdict" }
   for i, head in ipairs(heads) do
      heads[i] = metric_counts.is_counted(metric) and weights[head]
         and ("%s (%s)"):format(head, metric.name) or head
   end
   return heads
end

---Returns the rows to show, and how many others there are by verdict.
---@param records table[]
---@param top integer|nil
---@return table[]
---@return string|nil others "12 more: 10 unchanged, 2 unknown"; nil: none
function text.picked(records, top)
   local most = top or text.MOST
   local list, counts, names = table.move(records, 1, math.min(#records, most), 1, {}), {}, {}
   for i = most + 1, #records do
      local verdict = records[i].verdict
      if not counts[verdict] then
         names[#names + 1] = verdict
      end
      counts[verdict] = (counts[verdict] or 0) + 1
   end
   table.sort(names)
   for i, name in ipairs(names) do
      names[i] = ("%d %s"):format(counts[name], name)
   end
   return list, #names > 0 and ("%d more: %s"):format(#records - #list,
      table.concat(names, ", ")) or nil
end

-- Unknown rows with a smaller share of the whole, on both sides, are folded.
local SMALL <const> = 0.01

-- Returns whether a row is unknown and small.
local function is_small(record, whole)
   return record.verdict == "unknown" and record.before < SMALL * whole.before
      and record.after < SMALL * whole.after
end

---Folds rows of which it is not known whether they changed, and which have less than 1 % of the
---whole on both sides, into one row, the last one. One such row is not folded.
---@param records table[]
---@param comparison profio.Comparison
---@param is_all boolean fold none
---@return table[]
---@return table|nil folded their sum; nil: none
function text.folded(records, comparison, is_all)
   local list, whole, count = {}, comparison.whole, 0
   local sum = { change = 0, before = 0, after = 0, verdict = "unknown" }
   for _, record in ipairs(records) do
      if not is_all and is_small(record, whole) then
         sum.change, sum.before = sum.change + record.change, sum.before + record.before
         sum.after, count = sum.after + record.after, count + 1
      else
         list[#list + 1] = record
      end
   end
   if count < 2 then
      return records
   end
   sum.count, sum.relative = count, sum.before > 0 and sum.change / sum.before or nil
   sum[comparison.by] = ("(%d rows below %g %%, by --all)"):format(count, 100 * SMALL)
   return list, sum
end

-- Unknown rows that are shown of each condition of a gate.
local MOST_UNKNOWN <const> = 5

---Returns the results of a gate that are shown: all that failed, and of each condition the unknown
---ones with the largest changes.
---@param results { condition: string, state: string, text: string }[] of comparison:check
---@return { condition: string, state: string, text: string }[]
function text.results(results)
   local list, others = {}, {}
   for _, result in ipairs(results) do
      local rest = others[result.condition]
      if result.state == "unknown" then
         rest = rest or { condition = result.condition, state = "unknown", count = 0 }
         others[result.condition], rest.count = rest, rest.count + 1
      end
      if result.state == "failed" or rest.count <= MOST_UNKNOWN then
         list[#list + 1] = result
      elseif rest.count == MOST_UNKNOWN + 1 then
         list[#list + 1] = rest
      end
   end
   for _, rest in pairs(others) do
      rest.text = ("%d more rows are not known"):format(rest.count - MOST_UNKNOWN)
   end
   return list
end

---Returns the lines of a gate: those that failed, and the largest unknown ones.
---@param results table[] of comparison:check
---@return string[]
function text.lines(results)
   local lines = {}
   for i, result in ipairs(text.results(results)) do
      lines[i] = ("%s  %s: %s"):format(result.state == "failed" and "FAILED" or "unknown",
         result.condition, plain(result.text))
   end
   return lines
end

---Writes the lines of a gate after an empty line.
---@param out profio.Output
---@param results table[]
function text.write_results(out, results)
   for i, line in ipairs(text.lines(results)) do
      out:write(i == 1 and "\n" or "", line, "\n")
   end
end

---Returns whether a condition of a gate has failed.
---@param results table[]
---@return boolean
function text.has_failed(results)
   for _, result in ipairs(results) do
      if result.state == "failed" then
         return true
      end
   end
   return false
end

-- Makes a column of means whole numbers if all of them are.
local function make_whole(fields, lines, name)
   for at, field in ipairs(fields) do
      if field.name == name then
         for _, line in ipairs(lines) do
            if line[at] and not math.tointeger(line[at]) then
               return
            end
         end
         fields[at] = { name = name, type = "int", help = field.help }
         for _, line in ipairs(lines) do
            line[at] = line[at] and math.tointeger(line[at])
         end
      end
   end
end

-- Writes the statistics of the calls of areas: three lines for each.
local function write_calls(out, comparison, rows, records, unit)
   local fields, lines, names = statistics_diff.lines(rows, records, nil,
      { comparison.by, "value" })
   make_whole(fields, lines, "count")
   out:write("\nCalls: ", comparison.calls_note, ".\n")
   out:rows({ output = "text", unit = unit, columns = names }, core.rows_reader(fields, lines))
end

---Writes the table, by area and context the statistics of their calls, and the paragraph.
---@param out profio.Output
---@param comparison profio.Comparison
---@param rows profio.View of the comparison
---@param given { top: integer|nil, unit: string|nil, is_all: boolean } unit of times in statistics
---of calls; is_all: show all rows
---@param shown fun(value: number): string
function text.write(out, comparison, rows, given, shown)
   local records = rows:rows(table.unpack(rows.columns))
   distinguished.by_file(records, comparison.by)
   local others, folded
   records, folded = text.folded(records, comparison, given.is_all or given.top ~= nil)
   records, others = text.picked(records, given.top or given.is_all and #records or nil)
   local lines = { text.heads(comparison.metric) }
   table.insert(lines[1], comparison.by)
   for i, record in ipairs(records) do
      lines[i + 1] = text.cells(record, comparison.by, shown)
   end
   lines[#lines + 1] = folded and text.cells(folded, comparison.by, shown)
   columns(out, lines, { [7] = true, [8] = true })
   if others then
      out:write(others, "; --top shows more\n")
   end
   if comparison.calls_note and #records > 0 then
      write_calls(out, comparison, rows, records, given.unit or "us")
   end
   out:write("\n", plain(comparison:text()), "\n")
end

return text
