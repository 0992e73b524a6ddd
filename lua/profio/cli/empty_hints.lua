-- Hints for an empty selection: a line for standard error with the values that exist. The command
-- still succeeds with status 0 and prints the header.

local core = require "profio.core"
local plain = require "profio.internal.plain"
local query = require "profio.internal.command.query"
local span = require "profio.internal.command.selection"
local suggestions = require "profio.internal.suggestions"
local times = require "profio.internal.times"
local words = require "profio.internal.command.values"

local empty_hints = {}

local MOST_VALUES, MOST_ROWS = 20, 100000

local function has_rows(view)
   return view:limit(1):count() > 0
end

-- {====== --where ======

local function shown(value, field)
   if value == nil then
      return "(missing)"
   elseif field.type == "addr" then
      return ("0x%x"):format(value)
   elseif field.type == "handle" then
      return ("%08X"):format(value)
   elseif core.is_date(field) then
      return times.date_text(value)
   end
   return plain(tostring(value))
end

-- Returns the minimum and maximum of a numeric column.
local function ends_of(rows, name)
   local ends = { ("low = min(%s)"):format(name), ("high = max(%s)"):format(name) }
   return rows:aggregate(ends):rows()[1]
end

-- Returns the distinct values of a column; if it has no names, only those of the first rows.
local function distinct(rows, field)
   local list, names, count = {}, {}, field.name .. "_rows"
   local some = field.type == "name" and rows or rows:limit(MOST_ROWS)
   for row in some:group(field.name):aggregate { count .. " = count" }:limit(2000):records() do
      list[#list + 1] = shown(row[field.name], field)
      names[#names + 1] = row[field.name] and tostring(row[field.name])
   end
   return list, names
end

-- Returns the values of a column as text and as a list: all if there are few, else their range or
-- the first ones.
local function values_of(rows, field)
   if field.type == "int" or field.type == "num" then
      local ends = ends_of(rows, field.name)
      if ends.low and ends.high - ends.low >= MOST_VALUES then
         return ("%s to %s"):format(shown(ends.low, field), shown(ends.high, field)), {}
      end
   end
   local list, names = distinct(rows, field)
   if #list <= MOST_VALUES then
      return table.concat(list, ", "), names
   end
   return table.concat(list, ", ", 1, MOST_VALUES) .. ", ...", names
end

-- Returns what value may have been meant: one with a comma was read as several.
local function meant(wanted, names)
   for _, name in ipairs(wanted:find(",", 1, true) and names or {}) do
      if name == wanted then
         return ("; a comma in a value is written \\,: '%s'"):format((wanted:gsub(",", "\\,")))
      end
   end
   return suggestions.hint(wanted, names)
end

-- Returns the hint for a condition that no row satisfies.
local function condition_hint(rows, text)
   local name, operator, wanted = words.parts(text)
   for _, field in ipairs(rows:fields()) do
      if field.name == name then
         local values, names = values_of(rows, field)
         return ("--where %s leaves no rows; column '%s' has: %s%s"):format(text, name, values,
            operator == "=" and meant(wanted, names) or "")
      end
   end
end

-- Returns the hint for the first --where that leaves no rows; nil if all leave some, or if there
-- were no rows before.
local function where_hint(given)
   local rows = given.selected_from
   if not rows or not has_rows(rows) then
      return nil
   end
   for _, text in ipairs(given.where) do
      local left = rows:where(words.condition(text, rows:fields()))
      if not has_rows(left) then
         return condition_hint(rows, text)
      end
      rows = left
   end
end

-- }======

-- {====== --from, --to and --lane ======

local function span_hint(trace, given)
   if not given.from and not given.to then
      return nil
   end
   local from, to = span.of(trace, given)
   local first, last = span.ends(trace)
   if not first or (not from or from <= last) and (not to or to > first) and from ~= to then
      return nil
   end
   local words_of = {}
   for _, word in ipairs { "from", "to" } do
      words_of[#words_of + 1] = given[word] and ("--%s %s"):format(word, given[word])
   end
   local unit = given.unit or times.unit(math.max(math.abs(first), math.abs(last)))
   return ("%s leaves nothing: the trace lasts from %s to %s"):format(
      table.concat(words_of, " "), times.show(first, unit), times.show(last, unit))
end

local function lane_hint(trace, given, table_name)
   if not given.lane then
      return nil
   end
   local rows = trace:table(table_name or trace:has "events" and "events" or trace.tables[1])
   if has_rows(span.in_lane(rows, given)) or not has_rows(rows) then
      return nil
   end
   local values, names = values_of(rows, span.lane_field(rows))
   return ("--lane: no lane is '%s'; there are: %s%s"):format(given.lane, values,
      suggestions.hint(given.lane, names))
end

-- }======

-- {====== --focus, --ignore and --hide ======

local function functions_hint(context)
   local list = {}
   for _, missed in ipairs(context.missed) do
      if missed.from and not context.met[missed.text] then
         list[#list + 1] = ("--ignore: no call from '%s' to '%s', and no function is '%s'"):format(
            missed.from, missed.to, missed.text)
         context.met[missed.text] = true
      elseif not context.met[missed.text] then
         local hint = suggestions.known(missed.text, missed.names)
         list[#list + 1] = ("--%s: no function of this profile is '%s'%s"):format(missed.word,
            missed.text, hint)
         context.met[missed.text] = true
      end
   end
   return #list > 0 and table.concat(list, "\nprofio: ") or nil
end

-- }======

---Returns the hint for an empty selection; nil if there are rows, and with --follow.
---@param context profio.Context
---@return string|nil lines without a line end
function empty_hints.hint(context)
   local trace, given = context.trace, context.given
   if given.follow then
      return nil
   end
   local hint = functions_hint(context)
   if hint then
      return hint
   end
   if query.has_span(given) then
      hint = span_hint(trace, given) or lane_hint(trace, given, given.table)
   end
   local is_one_row = given.aggregate and not given.group
   if not hint and given.where[1] and (context.out.shown == 0 or is_one_row) then
      hint = where_hint(given)
   end
   return hint
end

return empty_hints
