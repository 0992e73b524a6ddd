-- A trace described as rows: format, header fields, tables, warnings.

local core = require "profio.core"
local traces = require "profio.internal.trace"

local trace_facts = {}

local function shown(fact)
   if fact.type == "addr" then
      return ("0x%x"):format(fact.value)
   elseif math.type(fact.value) == "float" then
      return ("%.14g"):format(fact.value)
   end
   return tostring(fact.value)
end

-- Adds the header fields of each file, one row each: add(part, name, value, detail).
local function put_facts(trace, add)
   add("file", "format", trace.format)
   for _, facts in ipairs(trace:facts()) do
      for _, fact in ipairs(facts) do
         add("header", fact.name, shown(fact))
      end
   end
end

local function put_tables(trace, add)
   for _, name in ipairs(trace.tables) do
      local view = trace:table(name)
      local count = trace:row_count(name)
      add("table", name, count and tostring(count) or "?", table.concat(view.columns, " "))
   end
end

local function put_warnings(trace, worded, add)
   for _, warning in ipairs(trace.warnings) do
      local place = warning.offset and (", byte %d"):format(warning.offset) or ""
      add("warning", warning.code, worded(warning.message),
         warning.kind .. place .. traces.times(warning))
   end
end

---Passes the rows of a trace to a function.
---@param trace profio.Trace
---@param worded fun(message: string): string words the messages of warnings
---@param add fun(part: string, name: string, value: string, detail: string|nil)
function trace_facts.put(trace, worded, add)
   put_facts(trace, add)
   put_tables(trace, add)
   put_warnings(trace, worded, add)
end

local fields = { { "part", "name" }, { "name", "name" }, { "value", "name" },
   { "detail", "name" } }

---Returns a reader of the rows of a trace, with columns part, name, value and detail.
---@param trace profio.Trace
---@param worded fun(message: string): string words the messages of warnings
---@return userdata
function trace_facts.reader(trace, worded)
   return core.decoder(fields, function(put)
      trace_facts.put(trace, worded, put)
   end, core.dictionary(), trace.path)
end

return trace_facts
