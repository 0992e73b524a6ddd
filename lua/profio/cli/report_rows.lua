-- The rows of reports for scripts: trace:report, which internal/trace.lua loads from here.

local conflicts = require "profio.cli.conflicts"
local contexts = require "profio.cli.context"
local declarations = require "profio.cli.declarations"
local options = require "profio.internal.options"
local reports = require "profio.reports"

local report_rows = {}

-- Options of the command that reports may have, beside their own: key and kind of the value.
local taken = { from = "time", to = "time", lane = "text", metric = "text", keep = "text",
   focus = "list", ignore = "list", hide = "list", source = "list", chain = "list",
   compat = "text", trust_paths = "flag" }

-- Returns the command line without options.
local function bare()
   local given = { files = {}, asked = {}, argv = {}, output = "text" }
   declarations.each(function(option)
      local key = declarations.key_of(option[1])
      given[key] = given[key] or option.many and {} or nil
   end)
   given.run, given.diff_run, given.diff = nil, nil, nil
   return given
end

-- Raises for an option that a report does not have.
local function unknown(report, name)
   local names = options.names(report.options)
   for other in pairs(taken) do
      names[#names + 1] = other
   end
   table.sort(names)
   error(("report '%s' has no option '%s'; there are: %s"):format(report.name, tostring(name),
      table.concat(names, ", ")), 0)
end

-- Sets an option as the command line would.
local function set(given, report, trace, name, value)
   local kind = taken[name]
   if options.find(report.options, name) then
      table.insert(given.set, ("%s=%s"):format(name, tostring(value)))
   elseif not kind then
      unknown(report, name)
   elseif not conflicts.uses(report, name, trace) then
      error(("report '%s' cannot use option '%s'"):format(report.name, name), 0)
   elseif kind == "list" then
      given[name] = type(value) == "table" and value or { value }
   elseif kind == "time" and math.type(value) == "integer" then
      given[name] = value .. "ns"
   else
      given[name] = kind == "flag" and value or tostring(value)
   end
end

-- Returns a report of a name; - and _ are the same.
local function found(name)
   return reports.find(name) or reports.find((name:gsub("_", "-")))
end

---Returns whether there is a report of a name.
---@param name string with _ for -
---@return boolean
function report_rows.has(name)
   return found(name) ~= nil
end

---Returns the rows of a report. See trace:report.
---@param trace profio.Trace
---@param name string
---@param given table|nil options of the report, and from, to, lane, metric, focus, chain, ...
---@return profio.View
---@return string[] notes
function report_rows.rows(trace, name, given)
   local report = found(name)
   if not report then
      error(("no report '%s'; there are: %s"):format(tostring(name), reports.names()), 0)
   elseif report.compares then
      error(("report '%s' compares two traces: use profio.compare, or subtract profiles"):format(
         name), 0)
   end
   local fits, reason = report.fits(trace)
   if not fits then
      error(("report '%s' does not fit this trace: %s"):format(report.name, reason), 0)
   end
   local line = bare()
   for key, value in pairs(given or {}) do
      set(line, report, trace, key, value)
   end
   if report.needs and #line[report.needs[1]] == 0 then
      error(("report '%s' needs option '%s'"):format(report.name, report.needs[1]), 0)
   end
   local out = { shown = 0, reads = function() end } -- nothing is written
   local context = contexts.new(trace, line, out)
   return context:view_of(report), context.notes
end

return report_rows
