-- The flat profile: functions by self time, the longest first.

local gprof = require "profio.reports.gprof.headings"
local profile_parts = require "profio.internal.bodies.profile_parts"

local flat = {
   name = "flat",
   help = "functions by self time, the longest first",
   unit = "auto",
   uses = { "span of profile", "functions", "metric", "diff", "compat", "follow" },
   narrows = true,
   columns = {
      { name = "function", help = "its name, or the address range of code without a symbol" },
      { name = "calls", help = "calls by other functions; missing if none is known" },
      { name = "self", help = "self time, in ns (or the unit of --metric)" },
      { name = "total", help = "time including callees, in ns" },
      { name = "self_share", help = "self as a share of the time of all functions" },
      { name = "total_share", help = "total as a share of the time of all functions" },
      { name = "file", help = "source file where it begins" },
      { name = "line", help = "line where it begins" },
      { name = "recursive_calls", help = "calls by itself" },
      { name = "percent", help = "self_share times 100: gprof's column % time" },
      { name = "cumulative_seconds", help = "self of this function and those above it, in s" },
      { name = "self_seconds", help = "self, in s" },
      { name = "self_per_call", help = "self divided by all calls, in the unit of the heading" },
      { name = "total_per_call", help = "total divided by all calls, in that unit" },
   },
}

---@param trace profio.Trace
function flat.fits(trace)
   local kind = trace:profile_kind()
   if kind ~= "graph" then
      return kind ~= nil, "no profile is made from its tables"
   end
   if not trace.info.sets then
      return false, "it has no samples"
   end
   return (trace.info.sets or 0) > 0, "it has no histogram"
end

---@param context table
function flat.text_fits(context)
   return gprof.suits(context, context:profile())
end

-- Returns the rows for options of the profile.
local function rows_of(context, options)
   return context:without_hidden(context:profile():flat(options), "function")
end

---@param context table
---@return userdata
function flat.reader(context)
   return rows_of(context, context:profile_options()):reader()
end

---@param context table
---@param out profio.Output
function flat.text(context, out)
   local profile = context:profile()
   for i, options in ipairs(gprof.units(context, profile)) do
      -- The reader comes first: it sorts the rows and computes the facts at the same time.
      local reader = context:narrow(rows_of(context, options)):reader()
      out:write(i > 1 and "\n" or "", gprof.flat_heading(profile_parts.facts(profile, options)))
      out:listing(gprof.listing "flat", reader)
   end
end

return flat
