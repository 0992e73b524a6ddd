-- The calls of functions by line and by parameters, as data for the page's scripts.

local call_details = require "profio.internal.calls.call_details"
local lanes = require "profio.exports.lanes"
local prg_sources = require "profio.formats.xpp.prg_sources"
local traces = require "profio.internal.trace"

local call_values = {}

local MOST_ROWS = 10  -- of a function
local LONGEST = 200   -- bytes of parameters

-- Returns the index of sources, or nil: only traces of Xbase++ name no files.
local function sources_of(trace, given)
   return prg_sources.open {
      trace = trace,
      given = { source = given.sources, trust_paths = given.trust_paths },
      note = function(_, text)
         table.insert(given.notes, (text:gsub("^note: ", "")))
      end,
      worded = function(_, text)
         return text
      end,
      out = { reads = function(_, paths)
         table.move(paths, 1, #paths, #given.inputs + 1, given.inputs)
      end },
   }
end

-- Returns the line of a call, with its caller and its text, as members of an array of JSON.
local function line_cells(row, index, functions, given)
   local file = index and index:place(row.area, row.caller, row.line)
   local text = file and index:text(file, row.line)
   given.has_source = text and true or given.has_source
   return ("%s,%s,%s"):format(row.line or "null", row.caller and functions:of(row.caller) or "null",
      text and lanes.script(text:match "^%s*(.-)%s*$":sub(1, LONGEST)) or "null")
end

-- Returns rows as arrays of JSON by function, those with the longest time first, and adds up what
-- each function takes.
local function rows_of(trace, format, name, given, functions)
   local found = {}
   if not call_details.has(trace, format, name) then
      return found
   end
   local index = name == "line" and sources_of(trace, given) or nil
   for row in call_details.by_area(trace, name, given):records() do
      local list = found[row.area] or { left = 0, elapsed = 0 }
      found[row.area] = list
      list.elapsed = list.elapsed + row.elapsed
      if row[name] == nil then
         list.has_missing = true
      end
      if #list == MOST_ROWS then
         list.left = list.left + 1
      else
         local value = name == "line" and line_cells(row, index, functions, given)
            or row.params and lanes.script(row.params:sub(1, LONGEST)) or "null"
         list[#list + 1] = ("[%s,%d,%d,%d]"):format(value, row.calls, row.elapsed, row.longest)
      end
   end
   return found
end

-- Whether a list says more than that nothing is known.
local function has_values(list)
   return list and not (list.has_missing and #list == 1)
end

-- Returns the lists of a function as an object of JSON; nil: it has none.
local function object_of(area, lines, params, functions)
   local parts = {}
   for name, list in pairs { line = lines[area], params = params[area] } do
      parts[#parts + 1] = has_values(list) and ('"%s":{"left":%d,"rows":[%s]}'):format(name,
         list.left, table.concat(list, ",")) or nil
   end
   table.sort(parts)
   return parts[1] and ('{"function":%d,%s}'):format(functions:of(area),
      table.concat(parts, ",")) or nil
end

---Returns the calls of functions by line and by parameters as a member of a JSON object of at most
---`size` bytes: those of functions with the longest time, as many as fit; "" if there are none.
---@param trace profio.Trace|nil
---@param given table from, to, lane
---@param functions profio.PageFunctions
---@param size integer
---@return string
function call_values.text(trace, given, functions, size)
   if not trace or not trace:has "events" then
      return ""
   end
   local format = traces.of(trace).format
   local lines = rows_of(trace, format, "line", given, functions)
   local params = rows_of(trace, format, "params", given, functions)
   local areas, list = {}, {}
   for area, one in pairs(next(params) and params or lines) do
      areas[#areas + 1] = { area = area, elapsed = one.elapsed }
   end
   table.sort(areas, function(a, b)
      return a.elapsed > b.elapsed or a.elapsed == b.elapsed and a.area < b.area
   end)
   for _, one in ipairs(areas) do
      local object = object_of(one.area, lines, params, functions)
      size = size - #(object or "") - 2
      if size < 20 then
         break
      end
      list[#list + 1] = object
   end
   return #list > 0 and '"call_values":[' .. table.concat(list, ",\n") .. "],\n" or ""
end

return call_values
