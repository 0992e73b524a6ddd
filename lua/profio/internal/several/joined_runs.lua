-- Decides whether several files with a clock can be written as one. Each file is a run of its own:
-- no call is open from one to the next, and its times may begin again. The written file must give
-- the same calls.
--
-- A format states what its files can hold in field `several_runs`: "ascending" if a file is one
-- run, "detected" if a reader finds by the times where the next run begins; nil: it has no clock.

local clock_runs = require "profio.internal.calls.clock_runs"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local writer = require "profio.internal.writing.writer"

local joined_runs = {}

local advice = "; read the files together instead, or write each one by itself"

-- Returns whether a call is open where one file ends and the next one begins. A stated end of the
-- recording is that of the first file.
local function has_calls_across(trace, runs)
   local open = trace:calls():where { flags = conditions.match "open" }
   if trace.info.total_time == nil then
      open = open:where { start = conditions.between(nil, runs[#runs].first - 1) }
   end
   local orphans = trace:calls():where { flags = conditions.match "orphan",
      stop = conditions.between(runs[1].last + 1, nil) }
   return open:limit(1):count() + orphans:limit(1):count() > 0
end

-- Returns why a number of an area has no name that is valid for all files, or nil.
local function names_reason(trace)
   local row = trace:has "areas" and trace.areas:group("handle", "value")
      :aggregate { "names = distinct(name)" }
      :where { names = conditions.between(2, nil) }:limit(1):rows()[1]
   return row and ("area 0x%08x has several names in the files, and the written file has only one"
      .. "%s"):format(row.handle, advice) or nil
end

-- Returns why the rows of several files, one after the other, have other calls than the files; nil
-- if they have the same calls.
local function ascending_reason(trace, runs)
   for i = 2, #runs do
      if runs[i].first <= runs[i - 1].last then
         return "the files are runs whose times overlap, and the written file would be one run"
            .. advice
      end
   end
   if has_calls_across(trace, runs) then
      return "calls are open where one file ends and the next begins, and the written file would "
         .. "be one run" .. advice
   end
   return names_reason(trace)
end

-- Returns the statistics of calls that must not change.
local function statistics_of(trace)
   return core.rows(trace:call_statistics { by = "context", quantiles = "" }:reader(),
      { "count", "net", "net_min", "net_max", "gross", "gross_min", "gross_max", "call",
         "call_min", "call_max", "period", "period_min", "period_max" })
end

local function are_equal(some, others)
   if #some ~= #others then
      return false
   end
   for i, row in ipairs(some) do
      for name, value in pairs(row) do
         if others[i][name] ~= value then
            return false
         end
      end
      for name in pairs(others[i]) do
         if row[name] == nil then
            return false
         end
      end
   end
   return true
end

-- Returns why the file that would be written, which `render` returns, has other calls than the
-- files. `open` is the function of profio.open.
local function detected_reason(trace, open, render, reading)
   local bytes, message = render()
   local written <close> = bytes and open({ data = bytes }, reading)
   if not bytes then
      return message
   elseif written and are_equal(statistics_of(trace), statistics_of(written)) then
      return nil
   end
   return "the written file would have other calls than the files, which are runs of their own, "
      .. "because a reader cannot find by the times where each begins" .. advice
end

-- Returns the options with which the bytes that options of writing describe are read.
local function reading_of(trace, given)
   return { format = trace.format, idle = trace:options().idle, map = given.map,
      separator = given.separator }
end

-- Returns why the files of a trace cannot be written as one, or nil; and whether the runs become
-- one: periods go on from one to the next. `kind` is what the format can hold; `render` is a
-- function of options of writing that returns the bytes of the file, or nil and a message.
local function reason_of(trace, open, kind, given, render)
   local runs = kind and trace.info.files and trace:has "events"
      and clock_runs.of(trace) or {}
   if #runs < 2 then
      return nil
   end
   local reason = ascending_reason(trace, runs)
   if kind == "ascending" or not reason then
      return reason, not reason
   end
   local alone = {}
   for name, value in pairs(given) do
      alone[name] = value
   end
   alone.packets, alone.flush_every, alone.settings = nil, nil, nil
   return detected_reason(trace, open, function()
      return render(alone)
   end, reading_of(trace, given))
end

---Checks whether one file can hold the files of a trace. If they are runs that become one, a note
---says so.
---@param trace profio.Trace
---@param state table of the trace
---@param path string|nil of the file
---@param options table of trace:save
---@return boolean|nil ok
---@return string|nil message
---@return string|nil code
function joined_runs.check(trace, state, path, options)
   local notes = #state.notes
   local is_same = options.format == nil or options.format == state.format.name
   local reason, are_joined = reason_of(trace, state.open,
      is_same and state.format.several_runs or nil, options, function(given)
         return writer.save(state, nil, given)
      end)
   for i = #state.notes, notes + 1, -1 do
      state.notes[i] = nil
   end
   if reason and not (state.is_over and state.is_over()) then
      return nil, (path or "(data)") .. ": " .. reason, "unsupported"
   elseif are_joined then
      state.notes[notes + 1] = { code = state.format.name .. "-joined", kind = "note",
         message = "the files become one run: periods go on from one to the next" }
   end
   return true
end

return joined_runs
