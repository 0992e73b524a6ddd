-- --limits: compares timing requirements in a file with the statistics of a trace.

local calls_view = require "profio.internal.calls"
local columns = require "profio.reports.columns"
local conflicts = require "profio.cli.conflicts"
local core = require "profio.core"
local exact_quantile = require "profio.internal.calls.exact_quantile"
local failure = require "profio.internal.command.failure"
local inputs = require "profio.internal.opening.inputs"
local flat = require "profio.reports.gprof.flat"
local limits = require "profio.internal.requirements.limit_checks"
local plain = require "profio.internal.plain"
local query = require "profio.internal.command.query"
local show = require "profio.cli.show"
local span = require "profio.internal.command.selection"
local statistics = require "profio.reports.calls.statistics"
local text_file = require "profio.internal.command.text_file"
local texts = require "profio.internal.texts"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"
local verdict = require "profio.cli.limits.verdict"
local views = require "profio.internal.views"

local mode = {}

-- {====== Comparison ======

-- Returns the functions of the profile of a trace without events, and those of the base, or nil.
local function flat_rows(context)
   for _, trace in ipairs { context.trace, context.old } do
      if not flat.fits(trace) then
         failure.use "--limits needs a trace with events, or with a profile of functions"
      end
   end
   if not context.old then
      return context:view_of(flat)
   end
   local new, old = context:both_profiles()
   return new:flat(context:profile_options(new)), old:flat(context:profile_options(old))
end

-- Returns the statistics of the areas of a trace with events, and those of the base, or nil.
local function statistics_rows(context, quantiles)
   return statistics.rows_of_trace(context, context.trace, quantiles),
      context.old and statistics.rows_of_trace(context, context.old, quantiles)
end

local function exact_of(context, trace)
   return limits.exact(trace, statistics.call_options(context, trace))
end

local function has_statistics(trace)
   return calls_view.has_statistics(traces.of(trace))
end

-- Columns that tell areas of one name apart, and estimates from exact values.
local distinct = { "value", "parent", "file" }
local of_estimates = { "about", table.unpack(exact_quantile.keys) }

-- Reads the rows with only the columns that the limits need; with a base also those that tell areas
-- of one name apart.
local function needed_rows(rows, key, list, has_base)
   local known, names = {}, {}
   for _, name in ipairs(rows.columns) do
      known[name] = true
   end
   local function need(name)
      if known[name] then
         names[#names + 1] = name
         known[name] = nil
      end
   end
   need(key)
   need "context"
   for _, name in ipairs(has_base and distinct or {}) do
      need(name)
   end
   for _, limit in ipairs(list) do
      need(limit.column)
      need(limit.column .. "_at")
      for _, name in ipairs(limit.column:find "_p%d" and of_estimates or {}) do
         need(name)
      end
   end
   local found = rows:rows(table.unpack(names))
   for _, row in ipairs(found) do
      row.area = row[key]
   end
   return found
end

---Reads a file of limits. Raises failures and usage errors.
---@param path string
---@return profio.Limit[]
function mode.read(path)
   local text = text_file.read(path)
   local list, wrong, line = limits.parse(text)
   if not list then
      failure.use("%s:%d: %s", path, line, wrong)
   elseif #list == 0 then
      failure.use("%s: there is no limit in it", path)
   end
   return list
end

-- Returns two lists of results, each in the order of the limits, as one.
local function in_order(list, ...)
   local by_line, all = {}, {}
   for _, results in ipairs { ... } do
      for _, result in ipairs(results) do
         by_line[result.line] = by_line[result.line] or {}
         table.insert(by_line[result.line], result)
      end
   end
   for _, limit in ipairs(list) do
      local found = by_line[limit.line]
      table.move(found, 1, #found, #all + 1, all)
   end
   return all
end

local function results_of(context)
   local path = context.given.limits
   local list = mode.read(path)
   local relative = limits.relative(list)
   if (relative ~= nil) ~= (context.old ~= nil) then
      failure.use(relative and "%s:%d: the bound is relative to a base: give the older runs by "
         .. "--diff FILE" or "--limits %s cannot use --diff: no bound is relative to a base", path,
         relative)
   end
   local of_rows, of_trace = limits.split(list)
   local results = {}
   if #of_trace > 0 then
      if not context.trace:has "events" then
         failure.use("%s:%d: this limit needs a trace with events", path, of_trace[1].line)
      end
      local from, to = span.of(context.trace, context.given)
      results = limits.check_trace(list, context.trace, { from = from, to = to })
   end
   if #of_rows == 0 then
      return results
   end
   local rows, base, key
   if has_statistics(context.trace) and (not context.old or has_statistics(context.old)) then
      key = "area"
      rows, base = statistics_rows(context, limits.quantiles(list))
   else
      key = "function"
      rows, base = flat_rows(context)
   end
   local fits, message, line = limits.fit(list, limits.columns(rows))
   if not fits then
      failure.use("%s:%d: %s", path, line, message)
   end
   if base and key == "area" then
      rows, base = rows:with_area(), base:with_area()
   end
   local checked = limits.check(of_rows, needed_rows(rows, key, of_rows, base ~= nil),
      base and needed_rows(base, key, of_rows, true),
      key == "area" and exact_of(context, context.trace) or nil,
      key == "area" and base and exact_of(context, context.old) or nil)
   return in_order(list, results, checked)
end

-- }======

-- {====== Output ======

local fields = { { "line", "int" }, { "area", "name" }, { "context", "name" },
   { "column", "name" }, { "operator", "name" }, { "bound", "num" }, { "value", "num" },
   { "state", "name" }, { "at", "int" }, { "about", "name" } }

local function view_of(results)
   local rows = {}
   for i, r in ipairs(results) do
      rows[i] = { r.line, r.area, r.context and tostring(r.context), r.column, r.operator, r.bound,
         r.value, r.state, r.at, r.about }
   end
   return views.over(function()
      return core.rows_reader(fields, rows)
   end)
end

-- Returns the results with failures first, otherwise in the order of the file.
local function failures_first(results)
   local failed, kept = {}, {}
   for _, result in ipairs(results) do
      local list = result.state == "ok" and kept or failed
      list[#list + 1] = result
   end
   return table.move(kept, 1, #kept, #failed + 1, failed)
end

-- Returns the results to show: with --failed only failures.
local function shown_of(results, given)
   if not given.failed then
      return results
   end
   local list = {}
   for _, result in ipairs(results) do
      list[#list + 1] = result.state ~= "ok" and result or nil
   end
   return list
end

-- Formats a value in the unit of its bound, or of the command line.
local function shown(value, unit)
   if value == nil then
      return "none"
   elseif unit == "%" then
      return ("%.1f%%"):format(100 * value)
   elseif unit then
      return times.show(value, unit)
   end
   return math.type(value) == "integer" and tostring(value) or ("%.3f"):format(value)
end

---Returns the cells of a result: state, area, column, value, and the bound, with the time of the
---worst case if it is exceeded, or similar names if none has that of the limit.
---@param result table of limits.check
---@param given { unit: string|nil }
---@return string[]
function mode.cells(result, given)
   local unit = result.unit == "%" and "%" or result.unit and (given.unit or result.unit)
   local at = unit and result.at and result.state == "exceeded"
      and "  at " .. times.show(result.at, unit == "%" and times.unit(result.at) or unit) or ""
   local hint = result.hint and "  " .. plain(result.hint) or ""
   return { result.state == "ok" and "ok" or result.state:upper(),
      plain(result.area) .. (result.context and " in " .. plain(tostring(result.context)) or ""),
      result.column, (result.about and "about " or "") .. shown(result.value, unit),
      result.operator .. " " .. shown(result.bound, unit) .. at .. hint }
end

local function write_text(results, context)
   local rows = {}
   for i, result in ipairs(shown_of(results, context.given)) do
      rows[i] = mode.cells(result, context.given)
   end
   columns(context.out, rows, { true, true, true, false, true })
end

local documents = {}
for _, form in ipairs(verdict.forms) do
   documents[form] = true
end

-- Writes the verdict, which begins a text of profio verdict, and the file of --junit.
local function write_document(results, context)
   local given, cells = context.given, {}
   local listed = shown_of(results, given)
   for i, result in ipairs(listed) do
      cells[i] = mode.cells(result, given)
   end
   local made = verdict.of(context, results, listed, cells)
   if given.junit then
      verdict.write_junit_file(given.junit, made, inputs.paths_of(traces.of(context.trace)))
   end
   if documents[given.output] then
      conflicts.check_unused(given, { "columns", "where", "group", "aggregate", "sort", "top",
         "export" }, "--output " .. given.output)
      verdict.write(context.out, made, given.output)
   elseif given.output == "text" then
      context.out:write(made.sentence, "\n")
      write_text(results, context)
   else
      show.rows(context, view_of(listed), show.form(given, nil, "limits"))
   end
end

-- }======

-- Returns how many results have a state.
local function count(results, state)
   local n = 0
   for _, result in ipairs(results) do
      n = n + (result.state == state and 1 or 0)
   end
   return n
end

local function write(results, context)
   local given = context.given
   if given.verdict or documents[given.output] then
      write_document(results, context)
      return
   end
   if given.output ~= "text" or given.export or query.reshapes(given) or given.where[1]
      or given.top then
      local rows = query.apply(view_of(shown_of(results, given)), given)
      show.rows(context, rows, show.form(given, query.columns(given), "limits"))
      return
   end
   write_text(results, context)
   local undecided = count(results, "undecided")
   context.out:write(("%s: %d kept, %d exceeded, %d without a value%s\n"):format(
      texts.counted(#results, "limit"), count(results, "ok"), count(results, "exceeded"),
      count(results, "missing"), undecided > 0 and (", %d undecided: the bound is within the error "
      .. "of an estimate, read the files of the runs"):format(undecided) or ""))
end

---Compares the trace with the limits of --limits and shows the results. The exit status tells
---whether all are met.
---@param context profio.Context
---@return integer status
function mode.run(context)
   local results = failures_first(results_of(context))
   write(results, context)
   return count(results, "ok") == #results and failure.READ or failure.EXCEEDED
end

return mode
