-- A report as one self-contained HTML page: a summary, the timeline of the lanes, a flame graph, a
-- table of functions with callers, callees and source. The folder html has its parts: the data of
-- the page, its style sheet and its scripts.

local assets = require "profio.exports.html.page_assets"
local compared = require "profio.exports.compared"
local core = require "profio.core"
local guesses = require "profio.exports.html.guesses"
local hot_lines = require "profio.exports.html.hot_lines"
local lanes = require "profio.exports.lanes"
local later = require "profio.internal.later"
local markup = require "profio.exports.markup"
local profile_data = require "profio.exports.html.profile_data"
local profiles = later "profio.profile"
local sources = require "profio.internal.sources"
local summary = require "profio.exports.html.page_summary"
local timeline = require "profio.exports.html.timeline"

local MOST_FUNCTIONS = 5000
local MOST_SIZE = 4 << 20
local TREE_PART = 0.4    -- of the size
local CONTEXT_SIZE = 16  -- bytes of JSON, about, without those of further metrics

local html = {
   name = "html",
   help = "a report as one HTML page: summary, timeline, flame graph, functions, source",
   endings = { ".html" },
   takes = "trace",
   options = lanes.with_options {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "title", type = "text", help = "title of the page" },
      { name = "functions", type = "int", default = MOST_FUNCTIONS,
        help = "most functions in the table" },
      { name = "size", type = "size", default = "4M",
        help = "about how many bytes of calls and contexts the page may have; the longest calls "
           .. "and the heaviest contexts stay" },
      { name = "lanes", type = "int", default = timeline.MOST_LANES,
        help = "most lanes in the timeline, those with most events" },
      { name = "source", type = "text", help = "folder of source files" },
      { name = "trust_paths", type = "bool", default = false,
        help = "show sources outside of that and this folder, and of any size" },
   },
}

local head = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="profio %s">
<title>%s</title>
]]

local top = [[
</head>
<body>
<header>
<h1>%s</h1>
<p class="sub">by profio %s</p>
<nav aria-label="Contents"><ul id="contents"></ul></nav>
</header>
<div id="bar" role="search"></div>
<main>
]]

local sections = [[
<section id="flames" aria-labelledby="flames-title">
<h2 id="flames-title">Flame graph</h2></section>
<section id="functions" aria-labelledby="functions-title">
<h2 id="functions-title">Functions</h2></section>
<section id="details" aria-labelledby="details-title" hidden>
<h2 id="details-title">Selected function</h2></section>
<section id="lines" aria-labelledby="lines-title" hidden>
<h2 id="lines-title">Hot lines</h2></section>
</main>
<div id="tip" role="tooltip" hidden></div>
<p id="spoken" class="unseen" aria-live="polite"></p>
<noscript><p>This page shows its parts by scripts, which are off.</p></noscript>
]]

-- Checks that a profile has a metric; returns its name.
local function metric_of(profile, name)
   name = name or profile:usual_metric()
   for _, metric in ipairs(profile:metrics()) do
      if metric.name == name then
         return name
      end
   end
   error(("no metric '%s'"):format(tostring(name)), 0)
end

-- Writes the timeline. Returns what the summary says about it, or why there is none.
local function put_timeline(out, trace, given)
   local fits, reason, found, message, code
   if trace and trace.events then
      fits, reason = lanes.fits(trace)
   end
   if fits then
      found, message, code = timeline.write(out, trace, setmetatable({ size = given.size // 2 },
         { __index = given }))
      out.failure = out.failure or message and { message, code } or nil
      reason = not found and "its times lie more than 292 years apart" or nil
      given.notes[#given.notes + 1] = found and found.few and found.few .. ": lanes = N draws N"
   end
   return found or {}, reason and lanes.left_out(trace, reason)
end

-- Writes the verdicts of a comparison of runs: [function, verdict] each.
local function put_verdicts(out, comparison, id_of)
   local rows, list = comparison and comparison:rows(), {}
   if not rows or rows:fields()[1].name ~= "function" then
      return
   end
   for name, verdict in rows:each("function", "verdict") do
      list[#list + 1] = verdict and ("[%d,%s]"):format(id_of(name), lanes.script(verdict)) or nil
   end
   out:write('"verdicts":[', table.concat(list, ",\n"), "],\n")
end

-- Returns how many contexts the tree may have.
local function contexts_for(size, profile)
   return math.max(size * TREE_PART // (CONTEXT_SIZE + 6 * #profile:metrics()) // 1 | 0, 100)
end

-- Writes all data for the scripts as one JSON object.
local function put_data(out, trace, profile, given)
   out:write('<script type="application/json" id="data">\n{"kind":', lanes.script(profile:kind()),
      given.is_difference and ',"difference":true,\n' or ",\n")
   local id_of, ids = profile_data.write(out, profile, { usual = given.metric,
      functions = given.functions or MOST_FUNCTIONS,
      contexts = contexts_for(given.size, profile) })
   hot_lines.write(out, hot_lines.profile(trace, profile), given)
   put_verdicts(out, given.comparison, id_of)
   given.id_of = id_of
   local found, left_out = put_timeline(out, trace, given)
   profile_data.write_names(out, ids)
   out:write '"version":1}\n</script>\n'
   return found, left_out
end

-- Returns the profile of both sides of a difference, as two metrics; any other profile itself.
local function both_sides(profile, given)
   if not profile:compared() then
      given.metric = metric_of(profile, given.metric)
      return profile
   end
   local contexts, metric = compared.contexts(profile, given.metric)
   given.metric, given.is_difference = metric, true
   return profiles.of_contexts(contexts, profile:title())
end

local function put_page(trace, profile, given, file)
   local is_there, message, code = sources.check { given.source }
   if not is_there then
      return nil, message, code
   end
   local out = lanes.out(file)
   local shown = both_sides(profile, given)
   given.size = given.size or MOST_SIZE
   local title = markup.escaped(given.title or given.is_difference and "Comparison"
      or profile:title())
   out:write(head:format(core.version, title))
   assets.write_style(out)
   local found, left_out = put_data(out, trace, shown, given)
   out:write(top:format(title, core.version))
   given.guesses = {}
   if shown:kind() ~= "contexts" then
      given.guesses[1] = "The profile has no stacks: paths of calls in the flame graph are " ..
         "estimated from the shares of the callers of each function."
   end
   guesses.add(given.guesses, found.flagged or {})
   given.length, given.lane_count = found.length, found.lanes
   summary.write(out, trace, shown, { from = given.from, to = given.to, length = found.length,
      lanes = found.lanes, guesses = given.guesses, notes = profile:notes(),
      sides = { profile:compared() } })
   if found.length then
      out:write '<section id="timeline" aria-labelledby="timeline-title">\n'
      out:write '<h2 id="timeline-title">Timeline</h2></section>\n'
   elseif left_out then
      out:write('<p class="note">This page is ', markup.escaped(left_out), ".</p>\n")
   end
   out:write(sections)
   assets.write_scripts(out)
   out:write "</body>\n</html>\n"
   return out:result()
end

---Writes the report of a profile alone.
---@param profile profio.Profile
---@param given table
---@param file file*
function html.write_profile(profile, given, file)
   return put_page(nil, profile, given, file)
end

---@param trace profio.Trace
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function html.write(trace, given, file)
   local profile, message, code = lanes.profile(trace, given)
   if not profile then
      return nil, message, code
   end
   return put_page(trace, profile, given, file)
end

return html
