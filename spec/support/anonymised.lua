-- Checks of an anonymised trace: two runs are equal, no name of the original occurs in its
-- bytes, and its tables are those of the original but for names, which correspond one to one.

local os_states = require "profio.internal.calls.os_states"
local profio = require "profio"

local anonymised = {}

-- Columns whose texts are words of a format, or parameters.
local WORDS <const> = { event = true, op = true, kind = true, flags = true, type = true,
   phase = true, role = true, word = true, bytes = true, text = true, params = true, args = true,
   detail = true, note = true, unit = true, class = true, operation = true,
   id = true, dimension = true, abbreviation = true, tag = true, notes = true, pid = true,
   bin_unit = true, line = true }
-- Those of them that are always words of a format.
local FIXED <const> = { event = true, op = true, kind = true, flags = true, type = true,
   phase = true, role = true }
-- Columns whose texts are partly names and partly not.
local MIXED <const> = { value = true }
local TEXTS <const> = { name = true, area = true, bytes = true }

-- Calls f(table, row, column, value) for each value; a stack is its frames.
local function each_value(trace, f)
   for _, name in ipairs(trace.tables) do
      local columns = trace[name]:fields()
      local row = 0
      for record in trace[name]:records() do
         row = row + 1
         for _, column in ipairs(name == "raw" and record.kind == "rest" and {} or columns) do
            local value = record[column.name]
            for depth, frame in ipairs(column.type == "stack" and value and trace:stack(value)
               or {})
            do
               for _, key in ipairs { "area", "file", "line" } do
                  f(name, row, { name = column.name .. depth .. key, type = "name" }, frame[key])
               end
            end
            if column.type ~= "stack" then
               f(name, row, column, value)
            end
         end
      end
   end
end

local function opened(data, format, options)
   local given = { format = format }
   for key, value in pairs(options or {}) do
      given[key] = value
   end
   return profio.open(data, given)
end

local function inputs_of(bytes, sides)
   local data = { data = bytes }
   for role, side in pairs(sides or {}) do
      data[role] = side
   end
   return data
end

---Returns the values of all tables, in order, as { table =, row =, column =, type =, value = }.
---@param trace profio.Trace
---@return table[]
local function values_of(trace)
   local list = {}
   each_value(trace, function(name, row, column, value)
      list[#list + 1] = { place = ("%s, row %d, column %s"):format(name, row, column.name),
         column = column.name, type = column.type, value = value }
   end)
   return list
end

-- Returns what differs between two lists of values, or nil.
local function difference(old, new, kept)
   local forth, back = {}, {}
   for i = 1, math.max(#old, #new) do
      local a, b = old[i], new[i]
      if not a or not b or a.place ~= b.place then
         return ("%s beside %s"):format(a and a.place or "nothing", b and b.place or "nothing")
      end
      local is_text = TEXTS[a.type] and not math.type(a.value) and a.value ~= nil
      local x, y = tostring(a.value), tostring(b.value)
      if not is_text and x ~= y then
         return ("%s: %s was %s"):format(a.place, y, x)
      elseif is_text and not WORDS[a.column] and not a.place:find "^structure" then
         if forth[x] and forth[x] ~= y or back[y] and back[y] ~= x then
            return ("%s: %q was %q; before: %s, %s"):format(a.place, y, x, forth[x], back[y])
         end
         forth[x], back[y] = y, x
      elseif is_text and FIXED[a.column] and x ~= y and not kept then
         return ("%s: %q was %q"):format(a.place, y, x)
      end
   end
end

---Returns what is wrong with the anonymised form of a trace, or nil; and its bytes.
---@param data string
---@param format string
---@param given { sides: table|nil, kept: table<string, boolean>|nil, options: table|nil,
---secrets: string[]|nil, looser: boolean|nil }|nil
---@return string|nil
---@return string|nil bytes
---@return table|nil sides
function anonymised.wrong(data, format, given)
   given = given or {}
   local trace, message = opened(inputs_of(data, given.sides), format, given.options)
   if not trace then
      return nil, nil, message
   end
   local old = values_of(trace)
   local bytes, sides, code = trace:anonymise()
   local again = trace:anonymise()
   trace:close()
   if not bytes then
      return ("refused: %s (%s)"):format(sides, code)
   elseif bytes ~= again then
      return "two runs differ"
   end
   local all = bytes
   for _, side in pairs(sides or {}) do
      all = all .. "\n" .. side
   end
   for _, value in ipairs(old) do
      local text = value.value
      if TEXTS[value.type] and type(text) == "string" and not WORDS[value.column]
         and not MIXED[value.column] and #text > 3
         and not value.place:find "^structure"
         and text:find "%a" and not (given.kept or {})[text] and not os_states.is_usual(text)
         and all:find(text, 1, true)
      then
         return ("%s: %q is in the output"):format(value.place, text)
      end
   end
   for _, secret in ipairs(given.secrets or {}) do
      if all:find(secret, 1, true) then
         return ("%q is in the output"):format(secret)
      end
   end
   local made, problem = opened(inputs_of(bytes, sides), format, given.options)
   if not made then
      return "it cannot be read: " .. problem
   end
   local wrong = difference(old, values_of(made), given.looser)
   made:close()
   return wrong, bytes, sides
end

return anonymised
