-- Selects runs by labels and by attributes. Conditions are those of view:where; engines get them as
-- tests with sets of values and ranges, so that no engine needs patterns of Lua:
--
--    { key = "version", is_label = true, op = "in", values = { "v2", "v3" } }
--    { key = "time", op = "between", low = 0, high = nil }
--    { key = "host", is_label = true, op = "missing", negate = true }
--    { key = "run", op = "prefix", values = { "0f3a" } }      hexadecimal digits of the hash
--
-- A negated test accepts a run without the label.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local times = require "profio.internal.times"

local selecting = {}

---The attributes of runs: name, type and help. A label cannot have one of these names.
selecting.attributes = {
   { name = "run", type = "name", help = "hash of the run's files and options, as hexadecimal "
      .. "digits; a condition may have the first digits only" },
   { name = "time", type = "int", help = "when it was recorded: ns since 1970" },
   { name = "time_from", type = "name", help = "where the time is from: file or modified" },
   { name = "added", type = "int", help = "when it was added to the store: ns since 1970" },
   { name = "format", type = "name", help = "format of its files" },
   { name = "kind", type = "name", help = "from what its profile was built: stacks, calls or "
      .. "graph (histograms and arcs)" },
   { name = "files", type = "int", help = "number of its files" },
   { name = "bytes", type = "int", help = "size of its files, unpacked" },
   { name = "losses", type = "int", help = "number of losses and damages in its files" },
   { name = "call_bytes", type = "int", help = "size of its statistics of calls; 0: it has none" },
   { name = "path", type = "name", help = "path of its first file when it was added" },
   { name = "profio", type = "name", help = "version of profio that added it" },
   { name = "labels", type = "name", help = "its labels, key=value, in order of the keys" },
}

local attribute = {}

for _, one in ipairs(selecting.attributes) do
   attribute[one.name] = one
end

---Returns the attribute of a name, or nil.
---@param name string
---@return { name: string, type: string, help: string }|nil
function selecting.attribute(name)
   return attribute[name]
end

---Returns a hash as hexadecimal digits.
---@param hash string
---@return string
function selecting.hex(hash)
   return ("%02x"):rep(#hash):format(hash:byte(1, -1))
end

---Returns the tests that select one run.
---@param hash string
---@return table[]
function selecting.one(hash)
   return { { key = "run", op = "prefix", values = { selecting.hex(hash) } } }
end

-- Returns the values of a key that match a pattern.
local function matching(key, pattern, values_of)
   local list = {}
   for _, value in ipairs(values_of(key)) do
      list[#list + 1] = pattern:find(value) and value or nil
   end
   return list
end

local function check_value(test, value)
   local wanted = not test.is_label and attribute[test.key].type == "int" and "integer" or "string"
   local found = math.type(value) or type(value)
   if found ~= wanted then
      error(("run: %s is compared with %s, got %s"):format(test.key, wanted == "string" and "texts"
         or "whole numbers", found), 0)
   elseif test.key == "run" and (not value:find "^%x+$" or #value > 32) then
      error(("run: a run is named by up to 32 hexadecimal digits, got '%s'"):format(value), 0)
   end
   return test.key == "run" and value:lower() or value
end

-- Sets the values of a test.
local function set_values(test, values)
   test.op, test.values = test.key == "run" and "prefix" or "in", {}
   for i, value in ipairs(values) do
      test.values[i] = check_value(test, value)
   end
end

-- Returns the first and the last value that a text stands for in an attribute of dates; other
-- values as they are.
local function dates_of(test, value)
   if type(value) ~= "string" or test.is_label or not core.is_date(attribute[test.key]) then
      return value, value
   end
   local first, last = times.date(value)
   if not first then
      error(("run: %s is %s, got '%s'"):format(test.key, times.DATES, value), 0)
   end
   return first, last
end

-- Converts the dates of a condition to ns since 1970. A day is a range.
local function with_times(test, found)
   local given = { op = found.op, negate = found.negate, pattern = found.pattern, values = {} }
   for i, value in ipairs(found.values or {}) do
      local first, last = dates_of(test, value)
      if first ~= last then
         error(("run: %s: a list has no dates: give profio.between(first, last)"):format(test.key),
            0)
      end
      given.values[i] = first
   end
   given.low, given.high = dates_of(test, found.low), select(2, dates_of(test, found.high))
   local first, last = dates_of(test, found.value)
   given.value = first
   if first ~= last then
      given.op, given.low, given.high = "between", first, last
   end
   return given
end

local function complete(test, found, values_of)
   found = with_times(test, found)
   test.negate = found.negate or false
   if found.op == "match" then
      if test.key == "run" or attribute[test.key] and attribute[test.key].type == "int" then
         error(("run: %s has no patterns"):format(test.key), 0)
      end
      set_values(test, matching(test.key, found.pattern, values_of))
   elseif found.op == "eq" or found.op == "in" then
      set_values(test, found.op == "in" and found.values or { found.value })
   elseif found.op == "between" then
      test.op = "between"
      test.low = found.low ~= nil and check_value(test, found.low) or nil
      test.high = found.high ~= nil and check_value(test, found.high) or nil
   else
      test.op = "missing"
   end
   return test
end

---Converts the conditions of a selection to tests for engines. Raises for wrong conditions and for
---a label that no run of the store has.
---@param where table<string, any>|nil as that of view:where; nil: all runs
---@param keys fun(): string[] returns the keys of the labels in the store; is called if there are
---conditions of labels
---@param values_of fun(key: string): string[] returns the distinct values of a label or an
---attribute
---@return table[]
function selecting.tests(where, keys, values_of)
   local tests = {}
   local function has(key)
      for _, one in ipairs(keys()) do
         if one == key then
            return true
         end
      end
      return false
   end
   for i, found in ipairs(conditions.tests(where or {})) do
      local key = found.column
      if not attribute[key] and not has(key) then
         local names = table.move(keys(), 1, #keys(), 1, {})
         for _, one in ipairs(selecting.attributes) do
            names[#names + 1] = one.name ~= "labels" and one.name or nil
         end
         error(("no label '%s'; there are: %s"):format(key, table.concat(names, ", ")), 0)
      elseif key == "labels" then
         error("run: name a label itself: run = { version = \"v2\" }", 0)
      end
      tests[i] = complete({ key = key, is_label = not attribute[key] }, found, values_of)
   end
   return tests
end

---Returns whether a label is before another one, by the bytes of key and value.
---@param a { key: string, value: string }
---@param b { key: string, value: string }
---@return boolean
function selecting.is_label_before(a, b)
   return a.key < b.key or a.key == b.key and a.value < b.value
end

---Returns labels as a text, "host=h7 version=v2"; values with other characters than letters,
---digits and ._/:@%+- are quoted as in Lua.
---@param labels table<string, string>
---@return string
function selecting.labels_text(labels)
   local keys, parts = {}, {}
   for key in pairs(labels) do
      keys[#keys + 1] = key
   end
   table.sort(keys)
   local function word(text)
      return text:find "^[%w._/:@%%+-]+$" and text or ("%q"):format(text):gsub("\\\n", "\\n")
   end
   for i, key in ipairs(keys) do
      parts[i] = word(key) .. "=" .. word(labels[key])
   end
   return table.concat(parts, " ")
end

return selecting
