-- Annotated source: source files with the time of each line, and its calls or, where the profile
-- has stacks, the time with all that it called; of an Xbase++ trace the time of functions and of
-- calls.

local annotated_calls = require "profio.reports.xpp.annotated_calls"
local counts = require "profio.internal.bodies.counts"
local gprof = require "profio.reports.gprof.headings"
local line_times = require "profio.internal.bodies.line_times"
local plain = require "profio.internal.plain"
local profile_parts = require "profio.internal.bodies.profile_parts"
local prg_sources = require "profio.formats.xpp.prg_sources"
local query = require "profio.internal.command.query"
local sources = require "profio.internal.sources"
local texts = require "profio.internal.texts"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"
local view_warnings = require "profio.internal.views.view_warnings"

local annotate = {
   name = "annotate",
   help = "source files with the time of each line, and its calls or total",
   unit = "auto",
   narrows = true,
   columns = {
      { name = "file", help = "the source file" },
      { name = "line", help = "the line" },
      { name = "calls", help = "calls of the functions that begin on the line, and of an Xbase++ "
         .. "trace calls made there; not with stacks" },
      { name = "count", help = "samples on the line" },
      { name = "self", help = "time spent on the line, in ns" },
      { name = "total", help = "with all that the line called, in ns; only with stacks and of "
         .. "Xbase++" },
      { name = "function", help = "the function it belongs to; with stacks one of them" },
   },
}

---@param trace profio.Trace
---@return string[]
function annotate.uses(trace)
   return trace.format == "xpp" and { "span", "source" } or { "functions", "metric", "source" }
end

local MOST_LINES = 10 -- in the list of the heaviest lines

---@param trace profio.Trace
function annotate.fits(trace)
   local kind = trace:profile_kind()
   if trace.format == "xpp" and kind == "calls" then
      return true
   elseif kind ~= "graph" and kind ~= "stacks" and kind ~= "sums" then
      return false, "no profile of functions and arcs or of stacks is made from its tables"
   elseif not sources.are_counted(trace) then
      return false, "its lines have numbers of their own, which report hotlines finds"
   end
   return line_times.fit(trace)
end

---@param context profio.Context
---@return userdata
function annotate.reader(context)
   if context.trace.format == "xpp" then
      return annotated_calls.reader(context)
   end
   local profile = context:profile(true)
   return profile:annotations(context:profile_options(profile)):reader()
end

-- {====== Functions never called ======

-- Returns whether only some of the rows are shown.
local function is_narrowed(context)
   return context.given.where[1] or context.given.top
end

-- Returns the functions that were never called: { [file] = { { name =, line = }, ... } }, and the
-- files in order.
local function uncalled(context)
   local functions, files = {}, {}
   if is_narrowed(context) or query.names_functions(context.given)
      or not context.trace:has_callers()
   then
      return functions, files -- only selected functions are marked, and none without counted calls
   end
   local rows = context:profile(true):unused()
   for name, file, line in rows:each("function", "file", "line") do
      if file and line then
         if not functions[file] then
            functions[file], files[#files + 1] = {}, file
         end
         table.insert(functions[file], { name = name, line = line })
      end
   end
   for _, warning in ipairs(files[1] and rows.warnings or {}) do
      if warning.code ~= "profile-unlocated" then -- which files do not have
         view_warnings.note(context.trace, warning.code, warning.message)
      end
   end
   return functions, files
end

-- Marks the first lines of functions that were never called. A line on which a function begins that
-- was called, or has samples, stays as it is.
local function mark_uncalled(marks, functions)
   for _, one in ipairs(functions) do
      local mark = marks[one.line] or { self = 0, count = 0 }
      marks[one.line] = mark
      mark.calls = mark.calls or 0
      mark.is_uncalled = mark.calls == 0 and mark.self == 0
   end
end

local function write_uncalled(out, functions)
   if functions[1] then
      out:write "\nFunctions that were never called:\n\n"
   end
   for _, one in ipairs(functions) do
      out:write(("%9d   %s\n"):format(one.line, plain(one.name)))
   end
end

-- }======

-- {====== Layouts ======

-- How values are shown: the functions `time` (of a number of the metric) and `second` (of a line's
-- values), the titles of both, and the unit in a sentence.

-- Returns the layout of a profile of functions and arcs: time and calls.
local function graph_layout(profile, options)
   local facts = profile_parts.facts(profile, options)
   local name = facts.per_unit == 1 and options.metric or facts.dimension
   name = name:gsub("^%l", string.upper)
   return {
      titles = { name, "Calls" }, unit = name, has_calls = true,
      time = function(value)
         return ("%.2f"):format(value / facts.per_unit)
      end,
      second = function(mark)
         return mark.calls and tostring(mark.calls) or ""
      end,
   }
end

-- Returns the layout of a profile of stacks: self and total, or without callers self and count. The
-- unit is that of the interval between samples, else that which suits the whole.
local function stacks_layout(context, profile, options)
   local metric = options.metric or profile:usual_metric()
   local unit = ""
   for _, known in ipairs(profile:metrics()) do
      unit = known.name ~= metric and unit or counts.is_counted(known) and metric or known.unit
   end
   local shown = unit == "ns" and times.unit(context.trace.info.interval
      or counts.whole(profile, metric)) or unit
   local function time(value)
      return unit == "ns" and times.show(value, shown):match "^%S+" or tostring(value)
   end
   local has_callers = context.trace.info.has_backtraces ~= false
   return {
      titles = { "self " .. shown, has_callers and "total " .. shown or "count" }, unit = shown,
      time = time,
      second = function(mark)
         return has_callers and time(mark.total) or tostring(mark.count)
      end,
   }
end

-- }======

-- {====== One file ======

-- Adds a row to the values of a file's lines: { [line] = { self =, calls =, functions = } }.
local function add_row(marks, row)
   local mark = marks[row.line] or { self = 0, count = 0, functions = row["function"] }
   mark.self = mark.self + (row.self or 0)
   mark.count = mark.count + (row.count or 0)
   mark.total = row.total
   if row.calls then
      mark.calls = (mark.calls or 0) + row.calls
   end
   marks[row.line] = mark
end

-- Returns the margin with time and calls or total; "#####" at the first line of a function that was
-- never called.
local function margin(mark, layout)
   if not mark then
      return (" "):rep(27)
   end
   local time = mark.self ~= 0 and layout.time(mark.self) or ""
   return ("%10s %12s -> "):format(time, mark.is_uncalled and "#####"
      or mark.calls == 0 and "" or layout.second(mark))
end

local function sorted_lines(marks)
   local list = {}
   for line in pairs(marks) do
      list[#list + 1] = line
   end
   table.sort(list)
   return list
end

-- Writes the lines of a source; those with values that it does not have follow.
local function write_source(out, marks, source, layout)
   for number, line in ipairs(source) do
      out:write(texts.trim_end(margin(marks[number], layout) .. plain(line):gsub("\\x09", "\t")),
         "\n")
   end
   for _, line in ipairs(sorted_lines(marks)) do
      if line > #source then
         out:write(margin(marks[line], layout), ("line %d, which the file does not have\n"):format(
            line))
      end
   end
end

-- Writes the lines with values, if the source is not found.
local function write_marks(out, marks, layout)
   for _, line in ipairs(sorted_lines(marks)) do
      out:write(margin(marks[line], layout), ("line %d, %s\n"):format(line,
         plain(marks[line].functions or "?")))
   end
end

local function write_heaviest(out, marks, layout)
   local list = sorted_lines(marks)
   local function second(line)
      return marks[line].calls or marks[line].total or 0
   end
   table.sort(list, function(a, b)
      local left, right = marks[a], marks[b]
      if left.self ~= right.self then
         return left.self > right.self
      elseif second(a) ~= second(b) then
         return second(a) > second(b)
      end
      return a < b
   end)
   out:write(("\n\nTop %d Lines:\n\n     Line %10s %12s\n\n"):format(MOST_LINES,
      table.unpack(layout.titles)))
   for i = 1, math.min(MOST_LINES, #list) do
      local mark = marks[list[i]]
      out:write((("%9d %10s %12s"):format(list[i], layout.time(mark.self), layout.second(mark))
         :gsub("%s+$", "")), "\n")
   end
end

local function write_summary(context, out, marks, layout)
   local lines, called, calls, self = 0, 0, 0, 0
   for _, mark in pairs(marks) do
      lines = lines + 1
      called = called + ((mark.calls or 0) > 0 and 1 or 0)
      calls, self = calls + (mark.calls or 0), self + mark.self
   end
   out:write("\nExecution Summary:\n\n", ("%9d   Lines with time%s\n"):format(lines,
      layout.has_calls and ", or where a function begins" or ""))
   if layout.has_calls then
      out:write(("%9d   Lines on which a called function begins\n"):format(called),
         ("%9d   Total number of calls\n"):format(calls))
   end
   out:write(("%9s   %s in %s\n"):format(layout.time(self), layout.unit,
      is_narrowed(context) and "the lines that are shown" or "this file"))
end

-- Returns the lines of a source, or nil, and the other results of sources.read.
local function read_source(context, path)
   local given = context.given
   if context.trace.format == "xpp" then
      return prg_sources.open(context, true):lines(path), path
   end
   return sources.read(path, given.source, given.trust_paths,
      sources.recording(context.trace:profile_kind() == "stacks" and traces.of(context.trace).paths
         or {}))
end

local function write_file(context, out, path, marks, layout)
   out:write(("*** File %s:\n"):format(plain(path)))
   local source, found, doubt = read_source(context, path)
   if not source then
      doubt = found and "the source is left out: " .. context:worded(found)
         or "the source is not found: name its folder with --source"
   end
   out:write(doubt and "   (" .. plain(doubt) .. ")\n" or "",
      layout.has_calls and "" or ("%10s %12s\n"):format(table.unpack(layout.titles)))
   if source then
      context:note(doubt and "note: " .. plain(doubt))
      out:reads { found }
      write_source(out, marks, source, layout)
   else
      write_marks(out, marks, layout)
   end
   write_heaviest(out, marks, layout)
   write_summary(context, out, marks, layout)
end

-- }======

-- Writes the files with the values of one unit, and what is spent outside of known lines.
local function write_files(context, out, rows, layout)
   local path, marks
   local elsewhere = 0
   local never, of_files = {}, {}
   if layout.has_calls then
      never, of_files = uncalled(context)
   end
   local function finish()
      if path then
         local functions = never[path] or {}
         mark_uncalled(marks, functions)
         write_file(context, out, path, marks, layout)
         write_uncalled(out, functions)
         out:write "\n"
         never[path] = nil
      end
   end
   for row in context:records(context:narrow(rows)) do
      if not (row.file and row.line) then
         elsewhere = elsewhere + (row.self or 0)
      else
         if row.file ~= path then
            finish()
            path, marks = row.file, {}
         end
         add_row(marks, row)
      end
   end
   finish()
   for _, file in ipairs(of_files) do
      if never[file] then
         out:write(("*** File %s:\n"):format(plain(file)))
         write_uncalled(out, never[file])
         out:write "\n"
      end
   end
   if elsewhere ~= 0 and not is_narrowed(context) then
      out:write(("%9s   %s in %s\n"):format(layout.time(elsewhere), layout.unit,
         context.trace.format == "xpp" and "functions without a source" or
         "code without line numbers"))
   end
end

---@param context profio.Context
---@param out profio.Output
function annotate.text(context, out)
   if context.trace.format == "xpp" then
      return write_files(context, out, context:view_of(annotate), annotated_calls.layout)
   end
   local profile = context:profile(true)
   for _, options in ipairs(gprof.units(context, profile)) do
      write_files(context, out, profile:annotations(options), profile:kind() == "graph"
         and graph_layout(profile, options) or stacks_layout(context, profile, options))
   end
end

return annotate
