-- Statistics of calls in stores: each run with events has the packed sums of its calls
-- (csrc/kernels/statistics/packed_sums.h), by area and lane, with the default options.

local calls_view = require "profio.internal.calls"
local core = require "profio.core"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"

local call_sums = {}

local LIMIT = 64 << 20 -- bytes in the packed sums of one run
local GROUP = 256 -- runs whose packed sums are added up at once; fewer if they have LIMIT bytes

-- {====== Writing ======

---Returns the packed sums of a trace; nil: it has no events. Raises failures.
---@param trace profio.Trace
---@param state table of the trace
---@return string|nil
function call_sums.of_trace(trace, state)
   if not state.schema.events or trace:table("events"):limit(1):count() == 0 then
      return nil
   end
   local done, packed = pcall(calls_view.packed_sums, trace, state, {})
   if not done then
      problem.raise(tostring(packed), "format")
   elseif #packed > LIMIT then
      problem.raise(("%s: the statistics of its calls take %d bytes, of which a store takes up to "
         .. "%d for each run"):format(trace.path or "(data)", #packed, LIMIT), "limit")
   end
   return packed
end

-- }======

-- {====== Reading ======

-- Raises a failure that names a run.
local function refuse(path, run, why, code)
   problem.raise(("%s: the statistics of calls of run %s (%s): %s"):format(path,
      selecting.hex(run.hash), run.path, why), code or "format")
end

-- Returns the runs that have packed sums.
local function with_sums(runs)
   local list = {}
   for _, run in ipairs(runs) do
      list[#list + 1] = run.call_bytes ~= 0 and run or nil
   end
   return list
end

---Calls f(run, packed) for the packed sums of runs. Raises if they are not those that were stored.
---@param engine table
---@param tests table[] that select the runs
---@param runs profio.StoredRun[] the selected runs
---@param path string of the store
---@param f fun(run: profio.StoredRun, packed: string)
function call_sums.each(engine, tests, runs, path, f)
   local list, missing = with_sums(runs), {}
   for _, run in ipairs(list) do
      if run.call_bytes < 0 or run.call_bytes > LIMIT then
         refuse(path, run, ("%d bytes are stated, and up to %d are read: the store is damaged, or "
            .. "forged"):format(run.call_bytes, LIMIT), "limit")
      end
      missing[run.hash] = run
   end
   for hash, packed in engine:calls(tests) do
      local run = missing[hash]
      if run then
         missing[hash] = nil
         if type(packed) ~= "string" or #packed ~= run.call_bytes then
            refuse(path, run, "they are damaged")
         end
         f(run, packed)
      end
   end
   for _, run in ipairs(list) do
      if missing[run.hash] then
         refuse(path, run, "they are missing: the store is damaged")
      end
   end
end

-- Returns the sum of a group: { { run =, packed = }, ... }. Raises if a run is damaged, or does not
-- fit the first one.
local function sum_of(group, path)
   local list = {}
   for i, one in ipairs(group) do
      list[i] = one.packed
   end
   local sum, message, code = core.merged_sums(list)
   if sum then
      return sum
   end
   for _, one in ipairs(group) do
      local is_whole, why, kind = core.merged_sums { one.packed }
      if not is_whole then
         refuse(path, one.run, why, kind)
      end
   end
   for _, one in ipairs(group) do
      local fits, why, kind = core.merged_sums { list[1], one.packed }
      if not fits then
         refuse(path, one.run, ("they are not added to those of a run of format %s (%s): %s; "
            .. "select runs with --run"):format(group[1].run.format, group[1].run.path,
            why), kind)
      end
   end
   return problem.check(sum, path .. ": statistics of calls: " .. message, code)
end

---Packed sums that are being added up.
---@class profio.CallSumsAdder
local Adder = {}
Adder.__index = Adder

---Adds the packed sums of a run. Raises if a run is damaged, or does not fit those before it.
---@param run profio.StoredRun
---@param packed string
function Adder:add(run, packed)
   local group = self.group
   group[#group + 1], self.bytes = { run = run, packed = packed }, self.bytes + #packed
   if #group == GROUP or self.bytes >= LIMIT then
      self.group = { { run = group[1].run, packed = sum_of(group, self.path) } }
      self.bytes = 0
   end
end

---Returns the sum, or nil if there are no runs. Raises as `add` does.
---@return string|nil
function Adder:sum()
   return self.group[1] and sum_of(self.group, self.path) -- also of one run: it is checked
end

---Returns a sum of packed sums to which runs can be added.
---@param path string of the store
---@return profio.CallSumsAdder
function call_sums.adder(path)
   return setmetatable({ path = path, group = {}, bytes = 0 }, Adder)
end

---Returns the sum of the packed sums of the selected runs. Raises failures, also if there are none.
---@param engine table
---@param tests table[] that select the runs
---@param runs profio.StoredRun[] the selected runs
---@param path string of the store
---@return string
function call_sums.merged(engine, tests, runs, path)
   local adder = call_sums.adder(path)
   call_sums.each(engine, tests, runs, path, function(run, packed)
      adder:add(run, packed)
   end)
   return adder:sum() or problem.raise(path
      .. ": none of the selected runs has statistics of calls", "unsupported")
end

---Returns how many runs have no statistics of calls.
---@param runs profio.StoredRun[]
---@return integer
function call_sums.without(runs)
   return #runs - #with_sums(runs)
end

---Returns the packed sums of one run of a store, or nil if it has none. Raises failures.
---@param engine table
---@param tests table[] that select the run
---@param run profio.StoredRun
---@param path string of the store
---@return string|nil
function call_sums.of_run(engine, tests, run, path)
   return run.call_bytes ~= 0 and call_sums.merged(engine, tests, { run }, path) or nil
end

-- }======

-- {====== The table durations ======

---The columns of the table durations: the run, and those of trace:call_statistics by context.
call_sums.fields = { { "run", "name", "the run, as in table runs" },
   { "area", "name", "the function, line, variable or state" },
   { "handle", "handle", "the vendor's number of it" },
   { "value", "int", "distinguishes areas with the same handle" },
   { "context", "name", "the lane; missing: all of them together" },
   { "count", "int", "number of enters, or of writes" } }

local function add_field(name, type, help)
   table.insert(call_sums.fields, { name, type, help })
end

for _, duration in ipairs { { "net", "time in the area itself" },
   { "gross", "net and gross time of callees" },
   { "call", "time from enter to leave, including other contexts" },
   { "period", "time from one enter to the next in the lane" },
   { "outside", "time from a leave to the next enter in the lane" } } do
   for _, number in ipairs { { "", "int", "sum" }, { "_min", "int", "minimum" },
      { "_max", "int", "maximum" }, { "_mean", "num", "mean" },
      { "_stddev", "num", "standard deviation" }, { "_p50", "int", "median" },
      { "_p99", "int", "99th percentile" } } do
      add_field(duration[1] .. number[1], number[2], ("%s: %s, ns"):format(number[3],
         duration[2]))
   end
end
for _, name in ipairs { "net", "gross", "call" } do
   add_field(name .. "_max_at", "int", ("start of the call with the largest %s, ns"):format(name))
end
add_field("period_jitter", "int", "largest minus smallest period, ns")
add_field("last_stop", "int", "end of its last call, ns")
add_field("file", "name", "the file of the area")
add_field("line", "int", "the line in this file")
add_field("about", "name", "names of the columns of the row whose values are estimates")

---Passes the rows of a run in the table durations to `put`.
---@param run string the hash as hexadecimal digits
---@param packed string
---@param put fun(...)
function call_sums.put_rows(run, packed, put)
   for row in calls_view.of_sums(packed, { by = "context" }):records() do
      local values = {}
      row.run = run
      for i, field in ipairs(call_sums.fields) do
         local value = row[field[1]]
         values[i] = field[2] == "name" and value ~= nil and tostring(value) or value
      end
      put(table.unpack(values, 1, #call_sums.fields))
   end
end

-- }======

return call_sums
