-- Which options go together: one that would be ignored is wrong use.

local failure = require "profio.cli.failure"

local together = {}

-- What picks and shapes rows, and what makes a profile another one.
local of_rows = { "where", "group", "aggregate", "sort", "columns", "top", "keep", "unfilter" }
local of_profiles = { "focus", "ignore", "hide", "diff", "metric" }

-- What takes the files as they are, and what an export of the whole does instead of.
local whole_ways = { "check", "merge", "list_reports", "new_script" }
local other_ways = { "report", "table", "info", "limits", "follow", "script", "check", "merge",
   "list_reports", "new_script" }

local function is_given(value)
   return value and (type(value) ~= "table" or #value > 0)
end

local function name_of(key)
   return "--" .. key:gsub("_", "-")
end

-- Raises when one of some options is given beside another.
local function refuse(given, keys, words)
   for _, key in ipairs(keys) do
      if is_given(given[key]) then
         failure.use("%s, without %s", words, name_of(key))
      end
   end
end

---What goes with exports of the whole: nothing that picks rows or does something else.
---@param export table
---@param given table
function together.check_export(export, given)
   local words = ("--export %s takes the %s as a whole"):format(export.name, export.takes)
   refuse(given, of_rows, words)
   refuse(given, other_ways, words)
end

---What goes with the ways that take no part of a file, and with a table.
---@param given table
function together.check(given)
   for _, way in ipairs(whole_ways) do
      if given[way] then
         refuse(given, of_rows, name_of(way) .. " takes the files as they are")
      end
   end
   if given.table then
      refuse(given, of_profiles, "--table shows rows and no profile")
   end
end

return together
