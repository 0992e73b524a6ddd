-- The context of a report: the open trace, the options of the command line, and the profile, built
-- once and narrowed by --focus, --ignore and --hide.

local later = require "profio.internal.later"
local algebra = later "profio.internal.bodies.algebra"
local conditions = require "profio.internal.conditions"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local messages = require "profio.cli.messages"
local narrowing = later "profio.cli.narrowing"
local profiles = require "profio.internal.bodies.profile_methods"
local query = require "profio.internal.command.query"
local span = require "profio.internal.command.selection"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"

local context = {}

---@class profio.Context
---@field trace profio.Trace
---@field old profio.Trace|nil trace of --diff
---@field given table the options of the command line
---@field out profio.Output
local Context = {}
Context.__index = Context

---@param trace profio.Trace
---@param given table
---@param out profio.Output
---@param old profio.Trace|nil trace of --diff
---@return profio.Context
function context.new(trace, given, out, old)
   return setmetatable({ trace = trace, old = old, given = given, out = out, profiles = {},
      kept = {}, options = {}, met = {}, missed = {}, pairs = {}, notes = {} }, Context)
end

-- {====== The profile ======

-- Returns the calls of a trace within --from, --to and --lane.
local function calls_of(self, trace, options)
   options.from, options.to = span.of(trace, self.given)
   return span.in_lane(trace:calls(options), self.given)
end

-- Builds a profile of a trace with options of trace:profile; for events and samples with times
-- within --from, --to, --lane.
local function profile_of(self, trace, options)
   local own = { arcs = query.names_functions(self.given) and narrowing.arcs(self, trace)
      or nil }
   for name, value in pairs(options) do
      own[name] = value
   end
   local has_span = query.has_span(self.given)
   local name = has_span and profiles.span_table(traces.of(trace))
   if has_span and not name and trace == self.old then
      failure.use("--from, --to and --lane select from events or samples with times, and %s has "
         .. "neither", trace.path)
   elseif name == "events" then
      own.calls = calls_of(self, trace, {})
   elseif name then
      own.samples = span.cut(trace:table(name), trace, self.given)
   end
   return failure.check(trace:profile(own))
end

-- Returns both sides of --diff so that they can be compared: means of a run if the numbers of runs
-- differ. Counts of samples at two rates are refused, as by profio compare.
local function comparable(self, new, old)
   local rates, is_against = algebra.rates_note(new, old, self.given.metric)
   if is_against then
      failure.raise(failure.NOTHING, ("--diff: these runs must not be compared (--metric of a time "
         .. "can be, and profio compare --anyway compares them): %s"):format(rates))
   end
   self:note(rates and "note: " .. rates)
   local note
   new, old, note = algebra.in_equal_runs(new, old)
   self:note(note and "note: " .. note)
   return new, old
end

-- Returns the narrowed profiles of both sides; the old one is nil without --diff.
local function both_profiles(self, options)
   local made = { profile_of(self, self.trace, options) }
   made[2] = self.old and profile_of(self, self.old, options)
   if query.names_functions(self.given) then
      made = table.pack(narrowing.narrow(self, made))
   end
   if made[2] then
      return comparable(self, made[1], made[2])
   end
   return made[1]
end

-- Returns the profile for a set of options; it is built once per key.
local function make_profile(self, key, options)
   if not self.profiles[key] then
      local new, old = both_profiles(self, options)
      self.profiles[key] = old and new - old or new
   end
   return self.profiles[key]
end

---Returns the profile of the trace; it is built at the first call.
---@param lines boolean|nil also attribute time to source lines, always in exact arithmetic
---@return profio.Profile
function Context:profile(lines)
   if lines then
      return make_profile(self, "lines", { lines = true, compat = "exact" })
   end
   return make_profile(self, "plain", {})
end

---Returns the two profiles that --diff compares.
---@return profio.Profile new
---@return profio.Profile old
function Context:both_profiles()
   if not self.both then
      self.both = { both_profiles(self, {}) }
   end
   return self.both[1], self.both[2]
end

---Returns the profile in which each source line is a function, as with gprof's -l.
---@return profio.Profile
function Context:profile_by_line()
   return make_profile(self, "by line", { by_line = true })
end

---Returns the profile in gprof's or exact arithmetic, whatever --compat is.
---@param compat "exact"|"gprof"
---@return profio.Profile
function Context:profile_as(compat)
   return make_profile(self, compat, { compat = compat })
end

---Returns the rows of a view as a reader. They are read once for a name: a report is asked for its
---columns first, and then for its rows.
---@param name string
---@param open fun(): profio.View
---@param seen fun(rows: table[])|nil is called with the rows when they are read
---@return userdata
function Context:kept_rows(name, open, seen)
   local kept = self.kept[name]
   if not kept then
      local view = open()
      kept = { fields = view:fields(), rows = view:rows() }
      if seen then
         seen(kept.rows)
      end
      self.kept[name] = kept
   end
   return views.reader_of(kept.fields, kept.rows)
end

---Returns the checked options of a report from --set.
---@param report table
---@return table<string, any>
function Context:report_options(report)
   return files.options_of(self.given, report)
end

---Returns the calls of the trace within --from, --to and --lane.
---@param options table of trace:calls, changed
---@return profio.View
function Context:calls_with(options)
   return calls_of(self, self.trace, options)
end

---Returns the calls with the options of a report.
---@param report table whose options are those of trace:calls
---@return profio.View
function Context:calls(report)
   return self:calls_with(self:report_options(report))
end

---Returns the rows of a report.
---@param report table
---@return profio.View
function Context:view_of(report)
   return views.over(function()
      return report.reader(self)
   end, self.trace)
end

-- }======

-- {====== Selections ======

---Returns the options of the command line for profile:flat() and other reports.
---@param made profio.Profile|nil default: that of profile()
---@return table
function Context:profile_options(made)
   made = made or self:profile()
   if not self.options[made] then
      local options = { metric = self.given.metric }
      if query.names_functions(self.given) then
         self.hidden = narrowing.report_options(self, options, made) or self.hidden
      end
      self.options[made] = options
   end
   return self.options[made]
end

---Removes the rows of functions hidden by --hide.
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

---Returns the rows of a table within --from, --to and --lane.
---@param rows profio.View
---@return profio.View
function Context:within(rows)
   return span.cut(rows, self.trace, self.given)
end

---Adds a line for standard error, once; nil adds none.
---@param line string|nil
function Context:note(line)
   for _, known in ipairs(self.notes) do
      if known == line then
         return
      end
   end
   self.notes[#self.notes + 1] = line
end

---Rewrites a message of the library for the command.
---@param message string
---@return string
function Context.worded(_, message)
   return messages.command(message)
end

---Returns the rows that satisfy --where.
---@param rows profio.View
---@return profio.View
function Context:where(rows)
   return query.where(rows, self.given)
end

---Returns the number of --top, or nil.
---@return integer|nil
function Context:top()
   return query.count(self.given)
end

---Iterates over the records that a report's own text shows, and counts them as shown.
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

---Returns the rows after --where and --top.
---@param rows profio.View
---@return profio.View
function Context:narrow(rows)
   return query.top(query.where(rows, self.given), self.given)
end

-- }======


return context
