-- The text that `profio record` prints at the end: the functions with most self time.

local plain = require "profio.internal.plain"
local times = require "profio.internal.times"

local recorded_text = {}

local SHOWN <const> = 10

-- Returns where a function is: its file and line.
local function place_of(row)
   local file = row.file and plain(row.file) or ""
   return row.line and row.line > 0 and ("%s:%d"):format(file, row.line) or file
end

-- Returns what a recording is, as a sentence.
local function title_of(trace, metric, count)
   local interval = trace.info.interval
   if interval then
      return ("%.3f s in %d samples, one each %s"):format(metric.total / 1e9, metric.total
         // interval, (times.show(interval, times.unit(interval)):gsub("%.000", "")))
   end
   return metric.unit == "ns" and ("%.3f s in %d functions"):format(metric.total / 1e9, count)
      or ("%d %s in %d functions"):format(metric.total, metric.name, count)
end

-- Returns the metric of a profile that is a time, or else its first one.
local function metric_of(profile)
   local metrics = profile:metrics()
   for _, metric in ipairs(metrics) do
      if metric.unit == "ns" then
         return metric
      end
   end
   return metrics[1]
end

-- {====== Memory ======

local MIB <const> = 1 << 20

-- Returns what each function has of a metric, by function, file and line.
local function values_of(profile, metric)
   local values = {}
   for _, row in ipairs(profile:flat { metric = metric }:rows()) do
      values[row["function"] .. "\0" .. place_of(row)] = row.self
   end
   return values
end

-- Writes the functions that allocated most, with what of it was alive at the end.
local function write_memory(file, profile, totals)
   if totals.alloc_space <= 0 then
      return false
   end
   local rows = profile:flat { metric = "alloc_space" }:rows()
   local objects = values_of(profile, "alloc_objects")
   local alive = values_of(profile, "inuse_space")
   file:write(("\n%.1f MiB allocated in %d objects by %d functions; %.1f MiB alive at the end\n")
      :format(totals.alloc_space / MIB, totals.alloc_objects, #rows, totals.inuse_space / MIB),
      " self MiB   self%   objects  alive MiB  function\n")
   for i = 1, math.min(SHOWN, #rows) do
      local row = rows[i]
      if row.self <= 0 then
         break
      end
      local place = place_of(row)
      local key = row["function"] .. "\0" .. place
      file:write(("%9.1f %6.1f%% %9d %10.1f  %s  %s\n"):format(row.self / MIB,
         100 * row.self / totals.alloc_space, objects[key] or 0, (alive[key] or 0) / MIB,
         plain(row["function"]), place))
   end
   return true
end

-- }======

---Writes the functions with most self time, or that allocated most.
---@param file file*
---@param trace profio.Trace
---@return boolean is_written false: there is nothing in the recording
function recorded_text.write(file, trace)
   local profile = trace:profile()
   local totals = {}
   for _, one in ipairs(profile:metrics()) do
      totals[one.name] = one.total
   end
   if totals.alloc_space then
      return write_memory(file, profile, totals)
   end
   local metric = metric_of(profile)
   if metric.total <= 0 then
      return false
   end
   local rows = profile:flat { metric = metric.name }:rows()
   local is_time = metric.unit == "ns"
   file:write("\n", title_of(trace, metric, #rows), "\n   ",
      is_time and "self s   total s" or "  self     total", "   self%  function\n")
   for i = 1, math.min(SHOWN, #rows) do
      local row = rows[i]
      if row.self <= 0 then
         break
      end
      file:write((is_time and "%9.3f %9.3f" or "%9d %9d"):format(
         is_time and row.self / 1e9 or row.self, is_time and row.total / 1e9 or row.total),
         (" %6.1f%%  %s  %s\n"):format(100 * row.self / metric.total, plain(row["function"]),
            place_of(row)))
   end
   return true
end

return recorded_text
