-- The call graph: each function between its callers and its callees.

local conditions = require "profio.internal.conditions"
local gprof = require "profio.reports.gprof.headings"
local plain = require "profio.internal.plain"
local profile_parts = require "profio.internal.bodies.profile_parts"
local query = require "profio.internal.command.query"
local traces = require "profio.internal.trace"
local view_warnings = require "profio.internal.views.view_warnings"

local graph = {
   name = "graph",
   unit = "auto",
   uses = { "span of profile", "functions", "metric", "diff", "compat", "follow" },
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

-- {====== Spontaneous functions ======

local LEAST <const> = 0.05 -- share of the whole of a function that is worth a note
local FEW <const> = 3      -- functions that the note names

-- Functions that are always called from outside. The second one lies before those of the program,
-- so it can get samples of the first of these.
local outside = { main = true, frame_dummy = true }

-- Returns the functions with a notable share of which no call is counted, the largest first,
-- without those of the C library (_start, __libc_start_main, mcount).
local function spontaneous(profile)
   local names = {}
   for name in profile:flat { zeros = true }:where { calls = conditions.missing,
      total_share = conditions.between(LEAST) }:sort("-total"):each "function" do
      if not outside[name] and not name:find "^_" and not name:find "mcount" then
         names[#names + 1] = plain(name)
      end
   end
   return names
end

-- Notes such functions of a program, because the cost that they have is missing in their callers.
local function note_spontaneous(context, profile)
   local is_whole = not (context.given.diff or query.names_functions(context.given))
   if not is_whole or profile.facts.compat or not traces.of(context.trace).symbols then
      return
   end
   local names = spontaneous(profile)
   if #names > 0 then
      local more = #names > FEW and (" and %d more"):format(#names - FEW) or ""
      view_warnings.note(context.trace, "profile-spontaneous", ("no call of %s%s is counted "
         .. "(<spontaneous>): callers do not have this cost. A shared library calls it, as a "
         .. "callback or thread, or callers are compiled without -pg"):format(
            table.concat(names, ", ", 1, math.min(FEW, #names)), more))
   end
end

-- }======

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
   note_spontaneous(context, profile)
end

return graph
