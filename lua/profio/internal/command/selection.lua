-- --from, --to and --lane: the selected part of a trace.

local later = require "profio.internal.later"
local calls_view = later "profio.internal.calls"
local conditions = require "profio.internal.conditions"
local failure = require "profio.internal.command.failure"
local profiles = require "profio.internal.bodies.profile_methods"
local query = require "profio.internal.command.query"
local traces = require "profio.internal.trace"
local words = later "profio.internal.command.values"

local span = {}

---Checks --from and --to before a file is opened.
---@param given table
function span.check(given)
   for _, word in ipairs { "from", "to" } do
      if given[word] then
         words.time(given[word], given.unit, "--" .. word)
      end
   end
end

-- {====== The ends ======

local function field_of(rows, name)
   for _, field in ipairs(rows:fields()) do
      if field.name == name then
         return field
      end
   end
end

-- Returns a table with times: that of events, or the first one.
local function timed_table(trace)
   local names = trace.tables
   table.insert(names, 1, "events")
   for i, name in ipairs(names) do
      local rows = (i > 1 or trace:has(name)) and trace:table(name)
      local field = rows and field_of(rows, "time")
      if field and field.type == "int" then
         return rows
      end
   end
   failure.use("--from and --to: no table of %s has times", trace.path)
end

---Returns the first and the last time of a trace: from the header, or by reading the rows; several
---files have a header each, so they are read.
---@param trace profio.Trace
---@return integer|nil first nil: there are no rows
---@return integer|nil last
function span.ends(trace)
   return calls_view.ends(trace, function()
      return timed_table(trace)
   end)
end

local ALL = 100000000 -- millionths of a percent

-- Returns the time at `percent` between first and last, in integer arithmetic: 0 is the first
-- nanosecond, 100 the one after the last. `percent` has up to 6 decimals.
local function part_of(first, last, percent)
   local length, part = last - first + 1, math.floor(percent * (ALL // 100) + 0.5)
   return first + length // ALL * part + length % ALL * part // ALL
end

---Returns the span of --from and --to in the trace's nanoseconds.
---@param trace profio.Trace
---@param given table
---@return integer|nil from nil: from the beginning
---@return integer|nil to nil: to the end
function span.of(trace, given)
   local found, first, last = {}, nil, nil
   for _, word in ipairs { "from", "to" } do
      local time, percent = nil, nil
      if given[word] then
         time, percent = words.time(given[word], given.unit, "--" .. word)
      end
      if percent then
         if not first then
            first, last = span.ends(trace)
         end
         time = part_of(first or 0, last or 0, percent)
      end
      found[word] = time
   end
   if found.from and found.to and found.from > found.to then
      failure.use("--from %s is after --to %s", given.from, given.to)
   end
   return found.from, found.to
end

-- }======

-- Columns that identify what has a call stack of its own, in order of preference.
local lanes = { "lane", "thread", "core" }

-- If lanes have names, a number also selects the core of that number.
local function with_cores(lane)
   return (lane:gsub("[^,]+", function(word)
      return word:match "^%d+$" and ("%s,core %s"):format(word, word) or nil
   end))
end

---Returns the column of lanes; raises if there is none.
---@param rows profio.View
---@return profio.Field
function span.lane_field(rows)
   for _, name in ipairs(lanes) do
      local field = field_of(rows, name)
      if field then
         return field
      end
   end
   failure.use("--lane: these rows have no lanes; there are: %s", table.concat(rows.columns, ", "))
end

-- Returns the condition that selects the rows of the lanes of --lane. It matches no row if lanes
-- are numbers and the option has a word.
local function lane_condition(rows, given)
   local field = span.lane_field(rows)
   local is_name = field.type == "name"
   if not is_name and not given.lane:match "^[%d,%s]+$" then
      return { [field.name] = conditions.between(math.maxinteger, math.mininteger) }
   end
   return words.condition(field.name .. "=" .. (is_name and with_cores(given.lane) or given.lane),
      rows:fields())
end

---Returns the rows of the lanes of --lane, which may be several, separated by commas.
---@param rows profio.View
---@param given table
---@return profio.View
function span.in_lane(rows, given)
   return given.lane and rows:where(lane_condition(rows, given)) or rows
end

---Returns the condition of --lane for the events of a trace, or for its samples with times, as
---options named `lane` expect it.
---@param trace profio.Trace
---@param given table
---@return any condition nil without --lane
function span.lanes(trace, given)
   if not given.lane then
      return nil
   end
   local name = profiles.span_table(traces.of(trace)) or "events"
   return select(2, next(lane_condition(trace:table(name), given)))
end

---Sets the span of the command line as options of an export.
---@param options table of the export, changed
---@param trace profio.Trace
---@param given table
function span.into_export(options, trace, given)
   if not query.has_span(given) then
      return
   end
   local from, to = span.of(trace, given)
   options.from, options.to = from or options.from, to or options.to
   if given.lane then
      options.lane = span.lanes(trace, given)
   end
end

---Returns the rows of a table within --from, --to and --lane.
---@param rows profio.View
---@param trace profio.Trace
---@param given table
---@return profio.View
function span.cut(rows, trace, given)
   local from, to = span.of(trace, given)
   if from or to then
      local field = field_of(rows, "time")
      if not field or field.type ~= "int" then
         failure.use("--from and --to: these rows have no column 'time'; there are: %s",
            table.concat(rows.columns, ", "))
      end
      rows = rows:range(from, to)
   end
   return span.in_lane(rows, given)
end

return span
