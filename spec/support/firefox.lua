-- A checker of processed profiles of the Firefox profiler (version 60). It returns a list of
-- breaches: lengths of all columns, prefixes before their stacks, indexes in range, the order of
-- samples, and nesting of the calls in the markers of each thread.

local json = require "dkjson"

local firefox = {}

local tables = {
   stackTable = { "frame", "prefix" },
   frameTable = { "address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
      "innerWindowID", "line", "column" },
   funcTable = { "isJS", "relevantForJS", "name", "resource", "source", "lineNumber",
      "columnNumber" },
   resourceTable = { "lib", "name", "host", "type" },
   nativeSymbols = { "libIndex", "address", "name", "functionSize" },
   sources = { "uuid", "filename" },
   samples = { "stack", "time", "weight" },
   markers = { "data", "name", "startTime", "endTime", "phase", "category" },
}

local null = json.null

local function check_columns(what, name, breach)
   if type(what) ~= "table" or math.type(what.length) ~= "integer" then
      breach("%s has no length", name)
      return false
   end
   for _, column in ipairs(tables[name]) do
      if not (name == "samples" and column == "weight" and what.weight == null) then
         local count = type(what[column]) == "table" and #what[column]
         if count ~= what.length then
            breach("%s.%s has %s rows of %d", name, column, count, what.length)
         end
      end
   end
   return true
end

-- Checks that each value is an index below `count`, or null.
local function check_indexes(what, name, column, count, breach)
   for row, value in ipairs(what[column] or {}) do
      if value ~= null and (math.type(value) ~= "integer" or value < 0 or value >= count) then
         breach("%s.%s of row %d: no index %s", name, column, row - 1, tostring(value))
      end
   end
end

-- Checks that the times of samples do not decrease.
local function check_times(samples, breach)
   local last = -math.huge
   for row, time in ipairs(samples.time or {}) do
      if type(time) ~= "number" or time < last then
         breach("sample %d: time %s after %s", row - 1, tostring(time), last)
         return
      end
      last = time
   end
end

local function check_shared(shared, breach)
   for _, name in ipairs { "stackTable", "frameTable", "funcTable", "resourceTable",
      "nativeSymbols", "sources" } do
      check_columns(shared[name], name, breach)
   end
   check_indexes(shared.stackTable, "stackTable", "frame", shared.frameTable.length, breach)
   check_indexes(shared.frameTable, "frameTable", "func", shared.funcTable.length, breach)
   check_indexes(shared.funcTable, "funcTable", "name", #shared.stringArray, breach)
   check_indexes(shared.funcTable, "funcTable", "source", shared.sources.length, breach)
   check_indexes(shared.sources, "sources", "filename", #shared.stringArray, breach)
   for row, prefix in ipairs(shared.stackTable.prefix or {}) do
      if prefix ~= null and not (prefix >= 0 and prefix < row - 1) then
         breach("stackTable.prefix of row %d: %s does not stand before it", row - 1,
            tostring(prefix))
      end
   end
end

-- Checks that pairs of markers are nested. Returns the number of pairs.
local function check_markers(markers, breach)
   local open, pairs_of, last = {}, 0, -math.huge
   for row = 1, markers.length do
      local phase, name = markers.phase[row], markers.name[row]
      local time = phase == 3 and markers.endTime[row] or markers.startTime[row]
      if type(time) ~= "number" or time < last then
         breach("marker %d: time %s after %s", row - 1, type(time), last)
         return pairs_of
      end
      last = time
      if phase == 2 then
         open[#open + 1] = name
      elseif phase == 3 then
         pairs_of = pairs_of + 1
         if table.remove(open) ~= name then
            breach("marker %d ends what was not the last to begin", row - 1)
         end
      end
   end
   if #open > 0 then
      breach("%d markers have no end", #open)
   end
   return pairs_of
end

-- Self and total of each function in the samples, in units of a weight.
local function sums_of(shared, samples)
   local own, total, sum = {}, {}, 0
   for row = 1, samples.length do
      local weight = samples.weight == null and 1 or samples.weight[row]
      local stack, seen, is_leaf = samples.stack[row], {}, true
      sum = sum + weight
      while stack ~= null do
         local func = shared.frameTable.func[shared.stackTable.frame[stack + 1] + 1]
         local name = shared.stringArray[shared.funcTable.name[func + 1] + 1]
         if is_leaf then
            own[name] = (own[name] or 0) + weight
         end
         if not seen[name] then
            total[name] = (total[name] or 0) + weight
         end
         seen[name], is_leaf, stack = true, false, shared.stackTable.prefix[stack + 1]
      end
   end
   return { own = own, total = total, sum = sum }
end

---@param text string
---@return string[] breaches
---@return table|nil seen { profile =, threads = { { name =, samples =, first =, last = (times),
---pairs =, sums = }, ... } }
function firefox.check(text)
   local breaches, seen = {}, { threads = {} }
   local function breach(...)
      breaches[#breaches + 1] = string.format(...)
   end
   local profile, _, message = json.decode(text, 1, null)
   if not profile then
      return { message }
   elseif not profile.meta or profile.meta.preprocessedProfileVersion ~= 60 then
      breach "meta.preprocessedProfileVersion is not 60"
   end
   seen.profile = profile
   check_shared(profile.shared, breach)
   for i, thread in ipairs(profile.threads) do
      check_columns(thread.samples, "samples", breach)
      check_columns(thread.markers, "markers", breach)
      check_indexes(thread.samples, "samples", "stack", profile.shared.stackTable.length, breach)
      check_indexes(thread.markers, "markers", "name", #profile.shared.stringArray, breach)
      check_times(thread.samples, breach)
      local row = { name = thread.name, samples = thread.samples.length,
         first = thread.samples.time[1], last = thread.samples.time[thread.samples.length] }
      if #breaches == 0 then
         row.pairs = check_markers(thread.markers, breach)
         row.sums = sums_of(profile.shared, thread.samples)
      end
      seen.threads[i] = row
   end
   return breaches, seen
end

return firefox
