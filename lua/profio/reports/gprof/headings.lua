-- The text of gprof's reports: headings, and templates for the rows of listings
-- (csrc/kernels/listing/).

local plain = require "profio.internal.plain"

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

-- {====== Templates ======

-- A row with a name has four kinds: whether the function is of a cycle, and has an entry.
local function named(list, kind, text)
   list[kind] = text .. "{name} [{reference}]\n"
   list[kind .. "_hidden"] = text .. "{name} ({reference})\n"
   list[kind .. "_in_cycle"] = text .. "{name} <cycle {cycle}> [{reference}]\n"
   list[kind .. "_in_cycle_hidden"] = text .. "{name} <cycle {cycle}> ({reference})\n"
end

local function graph()
   local seconds = "{self_seconds:7.2} {children_seconds:7.2} "
   local entry, blank = "{label:-6.6} {percent:5.1} " .. seconds, (" "):rep(13)
   local whole = " <cycle {cycle} as a whole> [{reference}]\n"
   local times, inner = blank .. seconds, blank .. (" "):rep(16) .. "{count:7}" .. (" "):rep(13)
   local list = {
      cycle = entry .. "{count:7} {of:-7}" .. whole,
      cycle_recursive = entry .. "{count:7}+{of:-7}" .. whole,
      spontaneous = blank .. (" "):rep(36) .. "<spontaneous>\n",
      outside = times .. "{count:7}/{of:-7}     <spontaneous>\n",
      separator = ("-"):rep(47) .. "\n",
   }
   named(list, "member", times .. "{count:7} {of:-7}     ")
   named(list, "member_recursive", times .. "{count:7}+{of:-7}     ")
   named(list, "caller", times .. "{count:7}/{of:-7}     ")
   named(list, "caller_inner", inner)
   named(list, "function", entry .. "{count:7} {of:-7} ")
   named(list, "function_recursive", entry .. "{count:7}+{of:-7} ")
   named(list, "callee", times .. "{count:7}/{of:-7}     ")
   named(list, "callee_inner", inner)
   return list
end

---The templates of core.write_listing by report, then by kind of row.
---@type table<"flat"|"graph"|"index", table<string, string>>
gprof.templates = {
   flat = {
      ["function"] = "{percent:6.2} {cumulative_seconds:9.2} {self_seconds:8.2} {calls:8} "
         .. "{self_per_call:8.2} {total_per_call:8.2}  {function}\n",
   },
   graph = graph(),
   index = {
      cell = "{pad} {label} {name}",
      cell_file = "{pad} {label} {name} ({file})",
      row_end = "\n",
   },
}

---Returns the options of core.write_listing for a report of a profile.
---@param report "flat"|"graph"|"index"
---@return table
function gprof.listing(report)
   return { kind = "kind", templates = gprof.templates[report] }
end

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

return gprof
