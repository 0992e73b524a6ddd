-- Distribution of the durations of calls of each area, in buckets between powers of two.

local calls = require "profio.reports.calls.calls"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local plain = require "profio.internal.plain"
local times = require "profio.internal.times"

local histogram = {
   name = "histogram",
   help = "durations of the calls of each area as a histogram",
   uses = { "span", "unit", "follow" },
   narrows = true,
   columns = {
      { name = "area", help = "the function, line, variable or state" },
      { name = "low", help = "the shortest duration of the bucket, in ns" },
      { name = "high", help = "the end of the bucket (not included), in ns" },
      { name = "count", help = "number of calls" },
      { name = "count_share", help = "share of the area's calls" },
      { name = "total", help = "sum of their durations, in ns" },
   },
   options = {
      { name = "of", type = "choice", choices = { "net", "gross", "call", "period", "outside" },
        default = "gross", help = "the duration of a call" },
   },
}

table.move(calls.options, 1, #calls.options, 2, histogram.options)

histogram.fits = calls.fits

local fields = { { name = "area", type = "name" }, { name = "low", type = "int" },
   { name = "high", type = "int" }, { name = "count", type = "int" },
   { name = "count_share", type = "num" }, { name = "total", type = "int" },
   { name = "number", type = "int" } } -- of the area, only for the text

-- Returns a key that distinguishes areas of one name.
local function key_of(group)
   return table.concat({ group.area or "", group.class or "", group.handle or "",
      group.value or "", group.parent or "", group.file or "", group.line or "" }, "\0")
end

-- Returns the sums of each area by key: { count =, total =, first = index of its first row }.
local function sums_of(groups)
   local sums = {}
   for i, group in ipairs(groups) do
      group.key = key_of(group)
      local sum = sums[group.key] or { count = 0, total = 0, first = i }
      sum.count, sum.total = sum.count + group.count, sum.total + group.total
      sums[group.key] = sum
   end
   return sums
end

-- Sorts areas by their total, the largest first, and rows of an area by duration.
local function sort(groups, sums)
   table.sort(groups, function(a, b)
      local x, y = sums[a.key], sums[b.key]
      if x == y then
         return a.low < b.low
      elseif x.total ~= y.total then
         return x.total > y.total
      end
      return x.first < y.first
   end)
end

---@param context profio.Context
---@return userdata
function histogram.reader(context)
   local options = context:report_options(histogram)
   local of = options.of or "gross"
   options.of = nil
   local groups = context:calls_with(options):where { [of] = conditions.no(conditions.missing) }
      :group("area", ("octave(%s)"):format(of))
      :aggregate { "count = count", ("total = sum(%s)"):format(of) }:with_area():rows()
   for _, group in ipairs(groups) do
      group.low = group[of]
   end
   local sums, rows = sums_of(groups), {}
   sort(groups, sums)
   for i, group in ipairs(groups) do
      local high = group.low == 0 and 1 or group.low > math.maxinteger // 2 and math.maxinteger
         or 2 * group.low
      rows[i] = { group.area, group.low, high, group.count,
         group.count / sums[group.key].count, group.total, sums[group.key].first }
   end
   return core.rows_reader(fields, rows)
end

local BAR, AREAS = 40, 10

local function line_of(row, most, unit)
   local width = math.max(1, math.floor(BAR * row.count / most + 0.5))
   return ("  %14s  %10d  %6.2f%%  %s\n"):format(times.show(row.low, unit), row.count,
      100 * row.count_share, ("#"):rep(width))
end

-- Writes the rows of an area as bars on one scale.
local function write_area(out, rows, unit)
   local most = 0
   for _, row in ipairs(rows) do
      most = math.max(most, row.count)
   end
   out:write(plain(rows[1].area or "?"), "\n")
   for _, row in ipairs(rows) do
      out:write(line_of(row, most, unit or times.unit(row.low)))
   end
end

-- Splits rows by area; several areas may have one name.
local function areas_of(rows)
   local areas, last = {}, nil
   for _, row in ipairs(rows) do
      if not last or row.number ~= last.number then
         areas[#areas + 1] = {}
      end
      table.insert(areas[#areas], row)
      last = row
   end
   return areas
end

---@param context profio.Context
---@param out profio.Output
function histogram.text(context, out)
   local areas = areas_of(context:where(context:view_of(histogram)):rows())
   context.out.shown = #areas
   local shown = math.min(#areas, context:top() or AREAS)
   for i = 1, shown do
      out:write(i > 1 and "\n" or "")
      write_area(out, areas[i], context.given.unit)
   end
   if shown < #areas then
      out:write(("\n%d more areas; --top N shows N of them, --where 'area=NAME' one\n"):format(
         #areas - shown))
   end
end

return histogram
