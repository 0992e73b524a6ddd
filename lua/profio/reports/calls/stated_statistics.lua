-- Compares the statistics that a file states with those of its events.
--
-- Vendors do not document how they count ambiguous cases: recursion, calls that began before the
-- recording or outlast it, the time outside before the first call, the end of the recording.
-- Therefore every interpretation is tried, and the one that agrees best is reported.

local calls_of = require "profio.internal.calls"

local verify = {}

-- The interpretations, the usual one first: { option of calls, values }.
local readings = {
   { "partial", { "include", "exclude" } },
   { "recursion", { "all", "outermost" } },
   { "edges", { "exclude", "include" } },
}

-- Columns that both sides may have.
local numbers = { "count" }
for _, length in ipairs { "net", "gross", "call", "period", "outside" } do
   for _, suffix in ipairs { "", "_min", "_max", "_mean" } do
      numbers[#numbers + 1] = length .. suffix
   end
end

-- {====== Sets of options ======

-- Returns every combination of interpretations, the usual one first.
local function all_sets(lasted)
   local sets = { {} }
   local function multiply(name, values)
      local more = {}
      for _, value in ipairs(values) do
         for _, set in ipairs(sets) do
            local with = { [name] = value or nil }
            for key, known in pairs(set) do
               with[key] = known
            end
            more[#more + 1] = with
         end
      end
      sets = more
   end
   for _, reading in ipairs(readings) do
      multiply(reading[1], reading[2])
   end
   multiply("recording", lasted and { "stated", "events" } or { "events" })
   return sets
end

---Returns a set of options as text.
---@param set table
---@param lasted integer|nil end of the recording
---@return string
function verify.words(set, lasted)
   local words = {}
   for i, reading in ipairs(readings) do
      words[i] = reading[1] .. "=" .. set[reading[1]]
   end
   words[#words + 1] = set.recording == "stated" and "last=" .. lasted or nil
   return table.concat(words, " ")
end

-- Returns the end of the recording, if it is later than the last event.
local function end_of(trace)
   local total = trace.info.total_time
   if math.type(total) ~= "integer" then
      return nil
   end
   local first, last = calls_of.ends(trace, function()
      return trace:table "timeline"
   end)
   if not last then
      return nil
   end
   local stop = total + math.min(0, first or 0)
   return stop > last and stop or nil
end

-- }======

-- {====== Both sides ======

-- Returns the key of a row: handle, value and context; without handles, the name.
local function key_of(row, value)
   return ("%s|%s|%s"):format(row.handle or row.area or "", value or "", row.context or "")
end

-- Indexes rows by their keys. A row with a value can also be found by the key without it, if it is
-- the only one: not every section states values.
local function index(rows)
   local by_key, twice = {}, {}
   for _, row in ipairs(rows) do
      by_key[key_of(row, row.value)] = row
   end
   for _, row in ipairs(rows) do
      local short = row.value and key_of(row)
      if short and by_key[short] and by_key[short].value then
         twice[#twice + 1] = short
      elseif short and not by_key[short] then
         by_key[short] = row
      end
   end
   for _, short in ipairs(twice) do
      by_key[short] = nil
   end
   return by_key
end

local function computed_of(trace, set)
   local options = { by = "context", quantiles = "" }
   for name, value in pairs(set) do
      options[name] = value
   end
   return index(trace:call_statistics(options):rows("area", "handle", "value", "context",
      table.unpack(numbers)))
end

-- }======

-- {====== Comparing ======

-- Compares two numbers: vendors print 0 for a missing value, and round means up or down.
local function agrees(name, exported, computed)
   local difference = math.abs(exported - (computed or 0))
   return difference == 0 or (name:find "_mean$" ~= nil and difference <= 1)
end

local function compare(exported, computed)
   local differences, count = {}, 0
   for _, row in ipairs(exported) do
      local ours = computed[key_of(row, row.value)]
      for _, name in ipairs(numbers) do
         local stated = row[name]
         local value = ours and ours[name]
         count = count + (stated and 1 or 0)
         if stated and not agrees(name, stated, value) then
            differences[#differences + 1] = { area = row.area, handle = row.handle,
               value = row.value, context = row.context, column = name, exported = stated,
               computed = value }
         end
      end
   end
   return differences, count
end

---Compares the table `statistics` of a trace with the statistics of its events, under each set of
---options of calls until one agrees in all numbers.
---@param trace profio.Trace
---@return table result { numbers =, rows =, tried = { { options =, words =, differences = {...} },
---...}, best = one of tried }
function verify.run(trace)
   local exported = trace:table("statistics"):rows()
   local result = { rows = #exported, tried = {} }
   local lasted = end_of(trace)
   for _, set in ipairs(all_sets(lasted)) do
      local differences, count = compare(exported, computed_of(trace, set))
      local tried = { options = set, words = verify.words(set, lasted), differences = differences }
      result.numbers = count
      result.tried[#result.tried + 1] = tried
      if not result.best or #differences < #result.best.differences then
         result.best = tried
      end
      if #differences == 0 then
         break
      end
   end
   return result
end

-- }======

return verify
