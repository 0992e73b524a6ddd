-- The lines of Xbase++ sources with the times of functions and calls: the first line of a function
-- has its self and total time, a line of a call the time of what it called.

local plain = require "profio.internal.plain"
local prg_sources = require "profio.formats.xpp.prg_sources"
local xpp = require "profio.reports.xpp.entry_tables"

local annotated_calls = {}

local fields = { { "file", "name" }, { "line", "int" }, { "calls", "int" }, { "count", "int" },
   { "self", "int" }, { "total", "int" }, { "function", "name" } }

-- Adds calls to the sum of a place, whose name is that of the function with the largest total.
local function add(sums, file, line, row, is_own)
   local key = ("%s\0%d"):format(file or row.area or "?", file and line or 0)
   local sum = sums[key]
   if not sum then
      sum = { file = file, line = file and line, calls = 0, self = 0, total = 0, most = -1 }
      sums[key], sums[#sums + 1] = sum, sum
   end
   local total = row.total or 0
   sum.calls, sum.total = sum.calls + row.calls, sum.total + total
   sum.self = sum.self + (is_own and row.self or 0)
   if total > sum.most or is_own then
      sum.most, sum.name = is_own and math.maxinteger or total, row.area
   end
end

-- Says that lines of calls are not in the sources of their callers.
local function note_lost(context, count, example)
   if count > 0 then
      context:note(("note: the source of %s has no line %d, at which it called %s%s: it may be "
         .. "another version"):format(plain(example.caller), example.line, plain(example.area),
         count > 1 and (", nor have callers the lines of %d other calls"):format(count - 1) or ""))
   end
end

---Returns a reader of the lines, in the order of files and lines; functions without a source
---follow.
---@param context profio.Context
---@return userdata
function annotated_calls.reader(context)
   local index, sums, lost, example = prg_sources.open(context, true), {}, 0, nil
   local calls = context:calls_with { recursion = "outermost" }
   local groups = { "area", "caller" }
   for _, name in ipairs(calls.columns) do
      groups[#groups + 1] = name == "line" and name or nil
   end
   for row in calls:group(table.unpack(groups)):aggregate { "calls = sum(count)",
      "self = sum(net)", "total = sum(gross)" }:records()
   do
      local own = index:find(row.area)
      add(sums, own and own.file, own and own.line, row, true)
      local file, is_of_caller = index:place(row.area, row.caller, row.line)
      if is_of_caller then
         add(sums, file, row.line, row, false)
      elseif row.line and not file and row.caller and index:find(row.caller) then
         lost, example = lost + 1, row
      end
   end
   note_lost(context, lost, example)
   table.sort(sums, function(a, b)
      if a.file ~= b.file then
         return a.file ~= nil and (b.file == nil or a.file < b.file)
      elseif a.line ~= b.line then
         return a.line < b.line
      end
      return a.name < b.name
   end)
   local rows = {}
   for i, sum in ipairs(sums) do
      rows[i] = { sum.file, sum.line, sum.calls, nil, sum.self, sum.total, sum.name }
   end
   return xpp.reader(context.trace, fields, rows)
end

---The layout of times for report annotate: see there.
annotated_calls.layout = {
   titles = { "self ms", "total ms" }, unit = "ms",
   time = xpp.ms,
   second = function(mark)
      return xpp.ms(mark.total or 0)
   end,
}

return annotated_calls
