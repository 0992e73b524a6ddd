-- Annotated source: source files with the calls and time of each line.

local gprof = require "profio.reports.gprof.headings"
local plain = require "profio.internal.plain"
local profile_parts = require "profio.internal.bodies.profile_parts"
local sources = require "profio.internal.sources"
local texts = require "profio.internal.texts"
local symbols = require "profio.internal.symbols"
local traces = require "profio.internal.trace"

local annotate = {
   name = "annotate",
   help = "source files with the time and calls of each line",
   unit = "auto",
   uses = { "functions", "metric", "source" },
   narrows = true,
   columns = {
      { name = "file", help = "the source file" },
      { name = "line", help = "the line" },
      { name = "calls", help = "calls of the functions that begin on the line" },
      { name = "count", help = "samples on the line" },
      { name = "self", help = "time spent on the line, in ns" },
      { name = "function", help = "the function it belongs to" },
   },
}

local MOST_LINES = 10 -- in the list of the heaviest lines

---@param trace profio.Trace
function annotate.fits(trace)
   if trace:profile_kind() ~= "graph" then
      return false, "no profile of functions and arcs is made from its tables"
   end
   return symbols.has_lines(traces.of(trace))
end

---@param context profio.Context
---@return userdata
function annotate.reader(context)
   local profile = context:profile(true)
   return profile:annotations(context:profile_options(profile)):reader()
end

-- {====== Functions never called ======

-- Returns the first lines of functions that were never called: { [file] = { line, ... } }.
local function uncalled(context)
   local files = {}
   if context.given.where[1] or context.given.top then
      return files -- only selected functions are marked
   end
   local functions = context:profile(true):functions { zeros = true }
   for file, line in functions:where { calls = 0, recursive_calls = 0 }:each("file", "line") do
      if file and line then
         files[file] = files[file] or {}
         table.insert(files[file], line)
      end
   end
   return files
end

-- }======

-- {====== One file ======

-- Adds a row to the values of a file's lines: { [line] = { self =, calls =, functions = } }.
local function add_row(marks, row)
   local mark = marks[row.line] or { self = 0, count = 0, functions = row["function"] }
   mark.self = mark.self + (row.self or 0)
   mark.count = mark.count + (row.count or 0)
   if row.calls then
      mark.calls = (mark.calls or 0) + row.calls
   end
   marks[row.line] = mark
end

-- Returns the margin with time and calls; "#####" at the first line of a function that was never
-- called. `unit.size` is the number of the metric per unit, `unit.name` the name of the unit.
local function margin(mark, unit)
   if not mark then
      return (" "):rep(27)
   end
   local time = mark.self > 0 and ("%.2f"):format(mark.self / unit.size) or ""
   local calls = mark.calls and tostring(mark.calls) or ""
   if mark.calls == 0 then
      calls = "#####"
   end
   return ("%10s %12s -> "):format(time, calls)
end

local function sorted_lines(marks)
   local list = {}
   for line in pairs(marks) do
      list[#list + 1] = line
   end
   table.sort(list)
   return list
end

local function write_source(out, marks, source, unit)
   for number, line in ipairs(source) do
      out:write(texts.trim_end(margin(marks[number], unit) .. plain(line):gsub("\\x09", "\t")),
         "\n")
   end
end

-- Writes the lines with values, if the source is not found.
local function write_marks(out, marks, reason, unit)
   out:write("   (", reason and "the source is left out: " .. plain(reason)
      or "the source is not found: name its folder with --source", ")\n")
   for _, line in ipairs(sorted_lines(marks)) do
      out:write(margin(marks[line], unit), ("line %d, %s\n"):format(line,
         plain(marks[line].functions or "?")))
   end
end

local function write_heaviest(out, marks, unit)
   local list = sorted_lines(marks)
   table.sort(list, function(a, b)
      local left, right = marks[a], marks[b]
      if left.self ~= right.self then
         return left.self > right.self
      elseif (left.calls or 0) ~= (right.calls or 0) then
         return (left.calls or 0) > (right.calls or 0)
      end
      return a < b
   end)
   out:write(("\n\nTop %d Lines:\n\n     Line %10s        Calls\n\n"):format(MOST_LINES, unit.name))
   for i = 1, math.min(MOST_LINES, #list) do
      local mark = marks[list[i]]
      out:write((("%9d %10.2f %12s"):format(list[i], mark.self / unit.size, mark.calls or "")
         :gsub("%s+$", "")), "\n")
   end
end

local function write_summary(out, marks, unit)
   local lines, called, calls, self = 0, 0, 0, 0
   for _, mark in pairs(marks) do
      lines = lines + 1
      called = called + ((mark.calls or 0) > 0 and 1 or 0)
      calls, self = calls + (mark.calls or 0), self + mark.self
   end
   out:write("\nExecution Summary:\n\n",
      ("%9d   Lines with time, or where a function begins\n"):format(lines),
      ("%9d   Lines on which a called function begins\n"):format(called),
      ("%9d   Total number of calls\n%9.2f   %s in this file\n"):format(calls, self / unit.size,
         unit.name))
end

local function write_file(context, out, path, marks, unit)
   local given = context.given
   out:write(("*** File %s:\n"):format(plain(path)))
   local source, found = sources.read(path, given.source, given.trust_paths)
   if source then
      out:reads { found }
      write_source(out, marks, source, unit)
   else
      write_marks(out, marks, found and context:worded(found), unit)
   end
   write_heaviest(out, marks, unit)
   write_summary(out, marks, unit)
end

-- }======

-- Writes the files with the values of one unit, and what is spent outside of known lines.
local function write_files(context, out, rows, unit)
   local path, marks
   local elsewhere = 0
   local never = uncalled(context)
   local function finish()
      if path then
         for _, line in ipairs(never[path] or {}) do
            marks[line] = marks[line] or { self = 0, count = 0 }
            marks[line].calls = marks[line].calls or 0
         end
         write_file(context, out, path, marks, unit)
         out:write "\n"
      end
   end
   for row in context:records(context:narrow(rows)) do
      if row.file and row.file ~= path then
         finish()
         path, marks = row.file, {}
      end
      if row.file and row.line then
         add_row(marks, row)
      else
         elsewhere = elsewhere + (row.self or 0)
      end
   end
   finish()
   if elsewhere ~= 0 then
      out:write(("%9.2f   %s in code without line numbers\n"):format(elsewhere / unit.size,
         unit.name))
   end
end

---@param context profio.Context
---@param out profio.Output
function annotate.text(context, out)
   local profile = context:profile(true)
   for _, options in ipairs(gprof.units(context, profile)) do
      local facts = profile_parts.facts(profile, options)
      local name = facts.per_unit == 1 and options.metric or facts.dimension
      write_files(context, out, profile:annotations(options), { size = facts.per_unit,
         name = (name:gsub("^%l", string.upper)) })
   end
end

return annotate
