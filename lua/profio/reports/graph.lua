-- The call graph: each function between those that called it and those it called.

local gprof = require "profio.reports.gprof"

local graph = {
   name = "graph",
   unit = "s",
   uses = { "span of calls", "functions", "metric", "diff", "compat", "follow" },
   help = "functions between their callers and callees, time handed up along the calls",
   columns = {
      { name = "caller", help = "the function that calls; missing: called from outside" },
      { name = "callee", help = "the function that is called" },
      { name = "calls", help = "how often" },
      { name = "self", help = "what the callee itself spent for this caller, in ns" },
      { name = "total", help = "that and what all it called spent for it, in ns" },
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

---gprof's text is for profiles like gprof's.
---@param context table
function graph.text_fits(context)
   return context:profile():kind() == "graph"
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
      -- The reader comes first: it has the orders of the text made at the same time as the facts.
      local reader = profile:graph_listing(options):reader()
      out:write(i > 1 and "\f\n" or "", gprof.graph_heading(profile:facts_with(options)))
      out:listing(gprof.listing "graph", reader)
      out:write(gprof.index_heading)
      out:listing(gprof.listing "index", profile:index(options):reader())
   end
end

return graph
