-- What a report gets: the open trace, what the command line gave, and the profile, made once and
-- narrowed by --focus, --ignore and --hide.

local conditions = require "profio.conditions"
local failure = require "profio.cli.failure"
local files = require "profio.cli.files"
local query = require "profio.cli.query"
local span = require "profio.cli.span"
local symspec = require "profio.cli.symspec"
local view = require "profio.view"

local context = {}

---@class profio.Context
---@field trace profio.Trace
---@field given table the options of the command line
---@field out profio.Output
local Context = {}
Context.__index = Context

---@param trace profio.Trace
---@param given table
---@param out profio.Output
---@return profio.Context
function context.new(trace, given, out)
   return setmetatable({ trace = trace, given = given, out = out, profiles = {}, options = {},
      met = {}, missed = {} }, Context)
end

-- {====== The profile ======

-- The pairs of --ignore FROM/TO: these calls are not read at all.
local function ignored_calls(given)
   local pairs_of = {}
   for _, text in ipairs(given.ignore or {}) do
      local from, to = symspec.pair(text)
      if from then
         pairs_of[#pairs_of + 1] = { from, to }
      end
   end
   return pairs_of
end

local function without_calls(calls, ignored)
   return calls:filter(function(from, to)
      for _, pair in ipairs(ignored) do
         if pair[1] == from and pair[2] == to then
            return false
         end
      end
      return true
   end, "from_function", "to_function")
end

-- Pieces of functions, one per line, go by the name of the whole.
local function whole_name(name)
   return name:match "^(.-) %([^()]+ @ %x+%)$" or name
end

-- All functions of a profile.
local function functions_of(made)
   local list = made:functions():rows("number", "function", "symbol", "file", "line")
   for _, row in ipairs(list) do
      row["function"] = whole_name(row["function"])
   end
   return list
end

-- What --focus and the others narrow of a graph: the profile itself, or only the reports, as gprof
-- does and where flat=, graph= or time= say so.
local function is_of_reports(made, word, text)
   return made:kind() == "graph"
      and (made.facts.compat or symspec.place(text) ~= nil
         or word == "ignore" and symspec.pair(text) ~= nil)
end

-- Note whether functions were found, and else which there are. Functions of a profile that
-- compares are found when one of both files has them.
local function note_found(self, word, text, is_found, functions)
   if is_found then
      self.met[text] = true
      return
   end
   local names = {}
   for i, row in ipairs(functions) do
      names[i] = whole_name(row["function"])
   end
   self.missed[#self.missed + 1] = { word = word, text = text, names = names }
end

-- The profile that --focus, --ignore and --hide leave; see profile_options for the reports.
local function narrowed(self, made)
   for _, word in ipairs { "focus", "ignore", "hide" } do
      for _, text in ipairs(self.given[word] or {}) do
         if not is_of_reports(made, word, text) then
            local test = symspec.test((select(2, symspec.place(text))))
            local is_any, frames = false, {}
            made = made[word](made, function(frame)
               local is_one = test { ["function"] = whole_name(frame["function"]),
                  symbol = frame.symbol, file = frame.file, line = frame.line }
               is_any, frames[#frames + 1] = is_any or is_one, frame
               return is_one
            end)
            note_found(self, word, text, is_any, frames)
         end
      end
   end
   return made
end

-- The calls of a trace within --from, --to and --lane.
local function calls_of(self, trace, options)
   options.from, options.to = span.of(trace, self.given)
   return span.in_lane(trace:calls(options), self.given)
end

-- A profile of a trace; of events that within --from, --to and --lane.
local function profile_of(self, trace, options)
   if span.is_asked(self.given) and trace:profile_kind() == "calls" then
      options.calls = calls_of(self, trace, {})
   end
   return narrowed(self, failure.check(trace:profile(options)))
end

-- The profile of --diff, made by the same options; nil without --diff.
local function old_profile(self, options)
   if not self.given.diff then
      return nil
   end
   local trace <close> = files.open_old(self.given)
   return profile_of(self, trace, options)
end

-- Made once for each set of options.
local function make_profile(self, key, options)
   if not self.profiles[key] then
      local ignored = ignored_calls(self.given)
      if #ignored > 0 then
         options.arcs = without_calls(self.trace:table "arcs", ignored)
      end
      local made = profile_of(self, self.trace, options)
      local old = old_profile(self, options)
      self.profiles[key] = old and made - old or made
   end
   return self.profiles[key]
end

---The profile of the trace, made at the first call.
---@param lines boolean|nil source lines are wanted too: these are always credited exactly
---@return profio.Profile
function Context:profile(lines)
   if lines then
      return make_profile(self, "lines", { lines = true, compat = "exact" })
   end
   return make_profile(self, "plain", {})
end

---The two profiles that --diff compares.
---@return profio.Profile new
---@return profio.Profile old
function Context:both_profiles()
   if not self.both then
      self.both = { profile_of(self, self.trace, {}), old_profile(self, {}) }
   end
   return self.both[1], self.both[2]
end

---The profile with each source line as a function of its own, as gprof's -l makes it.
---@return profio.Profile
function Context:profile_by_line()
   return make_profile(self, "by line", { by_line = true })
end

---The profile in one kind of arithmetic, whatever --compat says.
---@param compat "exact"|"gprof"
---@return profio.Profile
function Context:profile_as(compat)
   return make_profile(self, compat, { compat = compat })
end

---The options of a report that --set gives, checked.
---@param report table
---@return table<string, any>
function Context:report_options(report)
   return files.options_of(self.given, report)
end

---The calls of the trace within --from, --to and --lane.
---@param options table of trace:calls, changed
---@return profio.View
function Context:calls_with(options)
   return calls_of(self, self.trace, options)
end

---The same, made as the options of a report say.
---@param report table whose options are those of trace:calls
---@return profio.View
function Context:calls(report)
   return self:calls_with(self:report_options(report))
end

---The rows of a report.
---@param report table
---@return profio.View
function Context:view_of(report)
   return view.over(function()
      return report.reader(self)
   end, self.trace)
end

-- }======

-- {====== Which functions ======

local prefixes = { focus = "include_", ignore = "exclude_" }

local function add_all(list, more)
   return table.move(more, 1, #more, #list + 1, list)
end

local function numbers_of(functions)
   local numbers = {}
   for i, row in ipairs(functions) do
      numbers[i] = row.number
   end
   return numbers
end

local function add_to_lists(options, prefix, place, numbers)
   for _, each in ipairs(place and { place } or { "flat", "graph", "time" }) do
      options[prefix .. each] = add_all(options[prefix .. each] or {}, numbers)
   end
end

-- Add the functions that one option names to the lists of the profile's options. A focus that finds
-- no function leaves none.
local function add_named(self, made, options, word, functions)
   local found, places = 0, {}
   for _, text in ipairs(self.given[word] or {}) do
      local place, rest = symspec.place(text)
      if is_of_reports(made, word, text) and (word == "focus" or not symspec.pair(text)) then
         local numbers = symspec.find(rest, functions)
         note_found(self, word, text, #numbers > 0, functions)
         add_to_lists(options, prefixes[word], place, numbers)
         found, places[#places + 1] = found + #numbers, place or false
      end
   end
   for _, place in ipairs(word == "focus" and found == 0 and places or {}) do
      add_to_lists(options, prefixes.ignore, place, numbers_of(functions))
   end
end

-- Hidden functions get no entry; their time still counts.
local function add_hidden(self, made, options, functions)
   for _, text in ipairs(made.facts.compat and self.given.hide or {}) do
      local numbers, names = symspec.find(text, functions)
      note_found(self, "hide", text, #numbers > 0, functions)
      options.exclude_graph = add_all(options.exclude_graph or {}, numbers)
      self.hidden = add_all(self.hidden or {}, names)
   end
end

-- Whether --focus, --ignore or --hide name functions at all.
local function names_functions(given)
   return #(given.focus or {}) + #(given.ignore or {}) + #(given.hide or {}) > 0
end

---The options of profile:flat() and the others that the command line asks for.
---@param made profio.Profile|nil the profile they are for; default: that of profile()
---@return table
function Context:profile_options(made)
   made = made or self:profile()
   if not self.options[made] then
      local options = { metric = self.given.metric }
      if made:kind() == "graph" and names_functions(self.given) then
         local functions = functions_of(made)
         add_named(self, made, options, "focus", functions)
         add_named(self, made, options, "ignore", functions)
         add_hidden(self, made, options, functions)
      end
      self.options[made] = options
   end
   return self.options[made]
end

---Rows of functions without the hidden ones.
---@param rows profio.View
---@param column string
---@return profio.View
function Context:without_hidden(rows, column)
   self:profile_options()
   if not self.hidden then
      return rows
   end
   return rows:where { [column] = conditions.no(self.hidden) }
end

---Rows of a table within --from, --to and --lane.
---@param rows profio.View
---@return profio.View
function Context:within(rows)
   return span.cut(rows, self.trace, self.given)
end

---The rows that --where leaves.
---@param rows profio.View
---@return profio.View
function Context:where(rows)
   return query.where(rows, self.given)
end

---What --top says, or nil.
---@return integer|nil
function Context:top()
   return query.count(self.given)
end

---The records of a view that a report's own text shows, and which count as shown.
---@param rows profio.View
---@return fun(): table|nil
function Context:records(rows)
   local next_record, state, first = rows:records()
   return function(...)
      local record = next_record(...)
      self.out.shown = self.out.shown + (record and 1 or 0)
      return record
   end, state, first
end

---The rows that --where and --top leave.
---@param rows profio.View
---@return profio.View
function Context:narrow(rows)
   return query.top(query.where(rows, self.given), self.given)
end

-- }======


return context
