-- The runs of a trace by its clock: several files, and a file whose clock starts again, are runs of
-- their own.

local conditions = require "profio.internal.conditions"

local clock_runs = {}

-- Returns the table with times, the name of its column of flags, and that of the file if there are
-- several.
local function timed_rows(trace)
   for _, name in ipairs { trace.tables[1], "events" } do
      local has = {}
      for _, column in ipairs(trace:table(name).columns) do
         has[column] = true
      end
      local file = has.trace_file and "trace_file" or has.file and "file"
      if has.time and (file or has.flags and not trace.info.files) then
         return trace:table(name):where { time = conditions.no(conditions.missing) },
            has.flags and "flags" or nil, trace.info.files and file or nil
      end
   end
   return nil
end

-- Returns the runs in rows whose flags tell where runs begin, possibly of several files; with a
-- column those of each of its values.
local function flagged_runs(rows, flags, file, column)
   local list, runs, of = {}, nil, nil
   for time, words, path, value in rows:each("time", flags, file or flags, column or flags) do
      if not runs or (words and words:find "%f[%a]run%f[%A]") or (file and path ~= of) then
         runs, of = {}, path
      end
      local key = column and value or false
      local run = runs[key]
      if not run then
         run = { first = time, last = time, of = column and value }
         runs[key], list[#list + 1] = run, run
      end
      run.first, run.last = math.min(run.first, time), math.max(run.last, time)
   end
   return list
end

---Returns the first and last time of each run: of each file, and of each run in a file whose clock
---starts again.
---@param trace profio.Trace with events
---@param column string|nil of the main table: the times of each of its values in each run, as `of`
---@return { first: integer, last: integer, of: any }[] empty if there is one run
function clock_runs.of(trace, column)
   local list = {}
   local rows, flags, file = timed_rows(trace)
   if rows and flags
      and rows:where { [flags] = conditions.match "%f[%a]run%f[%A]" }:limit(1):count() > 0 then
      return flagged_runs(rows, flags, file, column)
   elseif rows and file then
      for first, last, of in rows:where { time = conditions.no(conditions.missing) }
         :group(table.unpack { file, column }):aggregate { "first = min(time)",
            "last = max(time)" }:each(table.unpack { "first", "last", column })
      do
         list[#list + 1] = { first = first, last = last, of = of }
      end
   end
   return list
end

-- Returns whether the events of all files are one timeline. Several runs, each of which begins at a
-- time of its own, are not.
local function is_one_run(trace)
   local last = math.mininteger
   for _, run in ipairs(clock_runs.of(trace)) do
      if run.first < last then
         return false
      end
      last = run.last
   end
   return true
end

---Returns whether the events of a trace have one timeline.
---@param trace profio.Trace
---@return boolean
---@return string|nil reason
function clock_runs.fits(trace)
   if not trace:has "events" then
      return false, trace:profile_kind() == nil and "it has no table of events"
         or "it has no table of events; its profile goes to svg, html, speedscope, pprof, ..."
   end
   local is_one = is_one_run(trace)
   return is_one, trace.info.files and "its files are runs whose times overlap: take one of them"
      or "it has several runs whose times overlap: they have no common timeline"
end

return clock_runs
