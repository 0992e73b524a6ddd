-- Headings of gprof's reports, around the rows that the core prints.

local plain = require "profio.internal.plain"
local templates = require "profio.reports.gprof.templates"

local gprof = {}

-- Formats a number of a heading; infinities and NaN as C's printf does.
local function number(form, value)
   if value ~= value then
      return "nan"
   elseif value == math.huge then
      return "inf"
   end
   return form:format(value)
end

-- {====== The flat profile ======

local function flat_columns(facts)
   local per_call = plain(facts.prefix .. facts.abbreviation) .. "/call"
   local dimension = plain(facts.dimension)
   local form = "%5.5s %9.9s  %8.8s %8.8s %8.8s %8.8s  %-8.8s\n"
   return ("%5.5s %10.10s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n"):format("%  ", "cumulative", "self  ",
      "", "self  ", "total ", "")
      .. form:format("time", dimension, dimension, "calls", per_call, per_call, "name")
end

---Returns the heading of the flat profile.
---@param facts table
---@return string
function gprof.flat_heading(facts)
   local sample = number("%g", facts.sample_seconds)
   local text = ("Flat profile:\n\nEach sample counts as %s %s.\n"):format(sample,
      plain(facts.dimension))
   if facts.total <= 0 then
      text = text .. " no time accumulated\n\n"
   end
   return text .. flat_columns(facts)
end

-- }======

-- {====== The call graph ======

---Returns the heading of the call graph.
---@param facts table
---@return string
function gprof.graph_heading(facts)
   local text = ("\t\t\tCall graph\n\n\ngranularity: each sample hit covers %d byte(s)"):format(
      facts.granularity)
   if facts.shown_seconds > 0 then
      text = text .. (" for %s%% of %s %s\n\n"):format(number("%.2f", facts.sample_percent),
         number("%.2f", facts.shown_seconds), plain(facts.dimension))
   else
      text = text .. " no time propagated\n\n"
   end
   return text .. "index % time    self  children    called     name\n"
end

gprof.index_heading = "\f\nIndex by function name\n\n"

-- }======

---Returns whether gprof's text can show a profile: it has functions and arcs, and --metric does not
---choose counts, because that text has times and dimensions of histograms.
---@param context profio.Context
---@param profile profio.Profile
---@return boolean
function gprof.suits(context, profile)
   for _, metric in ipairs(context.given.metric and profile:metrics() or {}) do
      if metric.name == context.given.metric and metric.unit ~= "ns" and not metric.dimension then
         return false
      end
   end
   return profile:kind() == "graph"
end

---Returns the options of a report for each unit in its text: that of --metric, else the usual
---metric and every dimension of histograms that are not in seconds.
---@param context profio.Context
---@param profile profio.Profile
---@return table[]
function gprof.units(context, profile)
   local given, facts = context:profile_options(profile), profile.facts
   local list = { given }
   for _, metric in ipairs(given.metric == nil and not facts.compat and facts.metrics or {}) do
      if metric.dimension and metric.name ~= profile:usual_metric() then
         local options = { metric = metric.name }
         for name, value in pairs(given) do
            options[name] = value
         end
         list[#list + 1] = options
      end
   end
   return list
end

---Returns the options of core.write_listing for a report of a profile.
---@param report "flat"|"graph"|"index"
---@return table
function gprof.listing(report)
   return { kind = "kind", templates = templates[report] }
end

return gprof
