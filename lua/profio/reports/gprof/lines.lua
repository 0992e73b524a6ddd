-- Source lines by self time, the longest first: gprof's option -l.

local gprof = require "profio.reports.gprof.headings"
local line_times = require "profio.internal.bodies.line_times"
local plain = require "profio.internal.plain"
local prg_sources = require "profio.formats.xpp.prg_sources"
local profile_parts = require "profio.internal.bodies.profile_parts"
local texts = require "profio.internal.texts"

local lines = {
   name = "lines",
   help = "source lines by self time, the longest first",
   unit = "auto",
   narrows = true,
   columns = {
      { name = "file", help = "the source file; missing if no line is known" },
      { name = "line", help = "the line" },
      { name = "count", help = "its samples; missing if a bin is shared by several lines" },
      { name = "self", help = "self time of the line, in ns" },
      { name = "total", help = "with all that the line called; only of profiles of stacks" },
      { name = "self_share", help = "self as a share of the time of all lines" },
      { name = "function", help = "the function that contains it" },
   },
   fits = line_times.fit,
}

---@param trace profio.Trace
---@return string[]
function lines.uses(trace)
   return { "functions", "metric", "diff", "compat", trace.format == "xpp" and "source" or nil }
end

---@param context profio.Context
function lines.text_fits(context)
   return gprof.suits(context, context:profile(true))
end

-- With --compat each line is a function: returns the flat profile of these.
local function compat_view(context)
   local profile = context:profile_by_line()
   return profile:flat(context:profile_options(profile))
end

-- Writes it as gprof's -l does.
local function compat_text(context, out)
   local profile = context:profile_by_line()
   out:write(gprof.flat_heading(profile_parts.facts(profile, context:profile_options(profile))))
   out:listing(gprof.listing "flat", context:narrow(compat_view(context)):reader())
end

---@param context profio.Context
---@return userdata
function lines.reader(context)
   if context.given.compat then
      return compat_view(context):reader()
   end
   local profile = context:profile(true)
   local rows = profile:lines(context:profile_options(profile))
   local index = prg_sources.open(context)
   return index and index:with_places(rows) or rows:reader()
end

-- Returns a row as gprof prints it: the name is that of the function, with file and line.
local function shown(row, cumulative, per_unit)
   local place = row.file and (" (%s:%d)"):format(texts.base_name(row.file), row.line) or ""
   return ("%6.2f %10.2f %8.2f %8s %8s %8s  %s%s\n"):format(100 * (row.self_share or 0),
      cumulative / per_unit, (row.self or 0) / per_unit, "", "", "", plain(row["function"] or "?"),
      plain(place))
end

---@param context profio.Context
---@param out profio.Output
function lines.text(context, out)
   if context.given.compat then
      return compat_text(context, out)
   end
   local profile = context:profile(true)
   for i, options in ipairs(gprof.units(context, profile)) do
      local facts, cumulative = profile_parts.facts(profile, options), 0
      out:write(i > 1 and "\n" or "", gprof.flat_heading(facts))
      for row in context:records(context:narrow(profile:lines(options))) do
         cumulative = cumulative + (row.self or 0)
         out:write(shown(row, cumulative, facts.per_unit))
      end
   end
end

return lines
