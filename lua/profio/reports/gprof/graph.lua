-- The call graph: each function between its callers and its callees.

local gprof = require "profio.reports.gprof.headings"
local profile_parts = require "profio.internal.bodies.profile_parts"

local graph = {
   name = "graph",
   unit = "auto",
   uses = { "span of calls", "functions", "metric", "diff", "compat", "follow" },
   help = "functions between their callers and callees, time charged to callers",
   columns = {
      { name = "caller", help = "the calling function; missing: called from outside" },
      { name = "callee", help = "the called function" },
      { name = "calls", help = "number of calls" },
      { name = "self", help = "self time of the callee for this caller, in ns" },
      { name = "total", help = "self and the time of its callees for this caller, in ns" },
      { name = "caller_file", help = "the caller's source file or module" },
      { name = "callee_file", help = "the callee's source file or module" },
   },
}

---@param trace profio.Trace
function graph.fits(trace)
   local kind = trace:profile_kind()
   if kind ~= "graph" then
      return kind ~= nil, "no profile is made from its tables"
   end
   return (trace.info.arcs or 0) > 0, "it has no arcs"
end

---@param context table
function graph.text_fits(context)
   return gprof.suits(context, context:profile())
end

---@param context table
---@return userdata
function graph.reader(context)
   return context:profile():graph(context:profile_options()):reader()
end

---@param context table
---@param out profio.Output
function graph.text(context, out)
   local profile = context:profile()
   for i, options in ipairs(gprof.units(context, profile)) do
      -- The reader comes first: it sorts the rows and computes the facts at the same time.
      local reader = profile:graph_listing(options):reader()
      out:write(i > 1 and "\f\n" or "", gprof.graph_heading(profile_parts.facts(profile, options)))
      out:listing(gprof.listing "graph", reader)
      out:write(gprof.index_heading)
      out:listing(gprof.listing "index", profile:index(options):reader())
   end
end

return graph
