-- An answer besides its rows, which are JSON without units: the sentences of the report,
-- the units of its columns, and the whole of which rows are parts.

local json = require "dkjson"

local answer_facts = {}

local MOST_SENTENCES <const> = 9 -- paragraphs
local FRACTIONS <const> = { relative = true, low = true, high = true, detectable = true }

-- Returns the words of a command whose output is text, of one row.
local function as_text(words)
   local list = table.move(words, 1, #words, 1, {})
   for i, word in ipairs(words) do
      if words[i - 1] == "--output" then
         list[i] = "text"
      elseif words[i - 1] == "--top" then
         list[i] = "1"
      end
      if word == "--" then
         break
      end
   end
   return list
end

-- Returns the paragraphs of a text that are no table: they have no columns.
local function sentences_of(text)
   local list = {}
   for block in (text .. "\n\n"):gmatch "(.-)\n\n+" do
      if block:find "%S" and not block:find("%S  +%S") and block:find "[.:] *$" then
         list[#list + 1] = block
      end
   end
   return list
end

-- Returns the columns of rows in JSON as a set.
local function columns_of(output)
   local rows, columns = json.decode(output), {}
   for name in pairs(type(rows) == "table" and rows[1] or {}) do
      columns[name] = true
   end
   return columns
end

-- Returns what is known of the units of the columns of rows.
local function units_of(units, columns)
   local list = {}
   for name in pairs(columns) do
      if type(name) == "string" and (name:find "share$" or FRACTIONS[name]) then
         list[#list + 1] = name .. " is a fraction of 1"
      elseif units[name] then
         list[#list + 1] = ("%s in %s"):format(name, units[name])
      end
   end
   table.sort(list)
   return list
end

-- Returns the whole of which the self weights of functions are parts, with its unit, or nil.
local function whole_of(run, words)
   local units = {}
   local ok, output = run(words, units)
   local rows = ok and json.decode(output)
   local whole = type(rows) == "table" and rows[1] and rows[1].whole
   return whole and ("the whole is %s%s (the sum of self over all functions)"):format(
      math.tointeger(whole) or whole, units.whole and " " .. units.whole or "") or nil
end

---Returns a text about an answer, or nil if there is nothing to say.
---@param run fun(words: string[], units: table|nil): boolean, string runs a command, and sets the
---units of its columns; returns whether it has read its files, and its output
---@param rows { words: string[], output: string, units: table } the command of the rows, its JSON,
---and
---the units of its columns
---@param tool table of which it is an answer: `units` of columns that state none
---@param whole string[]|nil the command whose row is the whole
---@return string|nil
function answer_facts.of(run, rows, tool, whole)
   local lines = {}
   local ok, text = run(as_text(rows.words))
   if ok then
      table.move(sentences_of(text), 1, MOST_SENTENCES, 1, lines)
   end
   local units = units_of(rows.units, columns_of(rows.output))
   units[#units + 1] = units[1] and tool.units or nil
   lines[#lines + 1] = units[1] and "units: " .. table.concat(units, "; ") or nil
   lines[#lines + 1] = whole and whole_of(run, whole) or nil
   return lines[1] and table.concat(lines, "\n") .. "\n" or nil
end

return answer_facts
