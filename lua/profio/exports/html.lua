-- A report as one self-contained HTML page: a summary, the timeline of the lanes, a flame graph, a
-- call graph, a table of functions with callers, callees and source. The folder html has its parts:
-- the data of the page, its style sheet and its scripts.

local assets = require "profio.exports.html.page_assets"
local compared = require "profio.exports.compared"
local call_values = require "profio.exports.html.values_of_calls"
local core = require "profio.core"
local guesses = require "profio.exports.html.guesses"
local hot_lines = require "profio.exports.html.hot_lines"
local lanes = require "profio.exports.lanes"
local markup = require "profio.internal.markup"
local numbers = require "profio.internal.numbers"
local profile_data = require "profio.exports.html.profile_data"
local profile_parts = require "profio.internal.bodies.profile_parts"
local profiles = require "profio.internal.bodies.profile_methods"
local sampled = require "profio.exports.html.sampled"
local sources = require "profio.internal.sources"
local summary = require "profio.exports.html.page_summary"
local timeline = require "profio.exports.html.timeline"
local traces = require "profio.internal.trace"

local MOST_SIZE = 4 << 20
local MOST_FUNCTIONS = 1 << 24
local EDGE_SIZE = 2048 -- bytes of the elements between the parts, about
local FOUND_SIZE = 2048 -- of what the summary says about the timeline, about
-- Parts of the size without style sheet and scripts. What the profile and the lines do not need is
-- left to the timeline.
local PARTS = { summary = 1 / 32, lines = 0.15, values = 0.03, profile = 0.4, names = 0.02 }

local html = {
   name = "html",
   help = "a report as one HTML page: summary, timeline, flame graph, call graph, functions, "
      .. "source",
   endings = { ".html" },
   takes = "trace",
   shows_timelines = true, -- of both sides of a difference: option timelines
   options = lanes.with_chains {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "title", type = "text", help = "title of the page" },
      { name = "functions", type = "int", help = "most functions in the table" },
      { name = "size", type = "size", default = "4M",
        help = "most bytes of the page, of which its scripts take 140K to 220K; the heaviest "
           .. "functions, contexts and lines and the longest calls stay" },
      { name = "lanes", type = "int", default = lanes.MOST,
        help = "most lanes in the timeline, those with most events or samples" },
      { name = "source", type = "text", help = "folder of source files; as --source" },
      { name = "trust_paths", type = "bool", default = false,
        help = "show sources outside of that and this folder, and of any size" },
   },
}

local head = [[
<!DOCTYPE html>
<html lang="en">
<head>
%s<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="profio %s">
<title>%s</title>
]]

local top = [[
</head>
<body>
<header>
<h1>%s</h1>
<p class="sub">%sby profio %s</p>
<nav aria-label="Contents"><ul id="contents"></ul></nav>
</header>
<div id="bar" role="search"></div>
<main>
<div id="side">
]]

local middle = [[
<section id="details" aria-labelledby="details-title" hidden>
<h2 id="details-title">Selected function</h2></section>
</div>
<div id="pictures">
]]

local sections = [[
<section id="flames" aria-labelledby="flames-title">
<h2 id="flames-title">Flame graph</h2></section>
<section id="call-graph" aria-labelledby="call-graph-title">
<h2 id="call-graph-title">Call graph</h2></section>
<section id="functions" aria-labelledby="functions-title">
<h2 id="functions-title">Functions</h2></section>
<section id="lines" aria-labelledby="lines-title" hidden>
<h2 id="lines-title">Hot lines</h2></section>
</div>
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

-- Returns the samples by time as text of at most `size` bytes, and what the summary says about
-- them.
local function samples_text(trace, given, functions, size, side)
   local text, found = sampled.text(trace, setmetatable({ size = size, functions = functions,
      member = side == 1 and "samples" or "samples_before",
      metrics = given.is_difference and { { name = given.metric } } or given.metrics },
      { __index = given }))
   for _, note in ipairs(found and found.notes or {}) do
      given.notes[#given.notes + 1] = note
   end
   return text or "", text and found or {}
end

-- Returns the timeline as text of at most `size` bytes, what the summary says about it, and why
-- there is none. `side` is 2 for that of the runs before a change.
local function timeline_text(out, trace, given, functions, size, side)
   local fits, reason, text, found, message, code
   if trace and sampled.fits(trace) then
      return samples_text(trace, given, functions, size, side)
   elseif trace and trace:has "events" then
      fits, reason = lanes.fits(trace)
   end
   if fits then
      text, found, message, code = timeline.text(trace, setmetatable({ size = size,
         functions = functions, member = side == 1 and "timeline" or "timeline_before" },
         { __index = given }))
      out.failure = out.failure or message and { message, code } or nil
      reason = not found and "its times lie more than 292 years apart" or nil
      given.notes[#given.notes + 1] = found and found.few and found.few .. ": lanes = N draws N"
   end
   return text or "", found or {}, reason and lanes.left_out(trace, reason)
end

-- Returns the timelines of both sides of a comparison, as timeline_text does; nothing if one has
-- none.
local function timelines_text(out, sides, given, functions, size)
   local texts, found, reason = {}, {}, nil
   given.notes[#given.notes + 1] = given.shown.samples and given.chains and "event chains are not "
      .. "drawn: the lanes of the page are those of samples; other timelines have them" or nil
   for i, trace in ipairs(sides) do
      texts[i], found[i], reason = timeline_text(out, trace, given, functions, size // #sides, i)
      if texts[i] == "" then
         return "", {}, reason
      end
   end
   if found[2] then
      found[1].before = found[2].flagged
      found[1].length = math.max(found[1].length, found[2].length)
   end
   return table.concat(texts), found[1] or {}, reason
end

-- Returns the verdicts of a comparison of runs: [function, verdict] each.
local function verdicts_text(comparison, functions)
   local rows, list = comparison and comparison:rows(), {}
   if not rows or rows:fields()[1].name ~= "function" then
      return ""
   end
   for name, verdict in rows:each("function", "verdict") do
      local id = functions:find(name)
      list[#list + 1] = id and verdict and ("[%d,%s]"):format(id, lanes.script(verdict)) or nil
   end
   return '"verdicts":[' .. table.concat(list, ",\n") .. "],\n"
end

-- Sets the traces that a page shows by time, and what it shows of them; samples require a timeline.
local function set_times(trace, given)
   given.timelines = trace and { trace } or given.timelines or {}
   local first = given.timelines[1]
   local has_samples = first ~= nil and sampled.fits(first)
   given.shown = { samples = has_samples, timeline = has_samples or first and first:has "events" }
end

-- Returns the data for the scripts as one JSON object of about `size` bytes, and what the summary
-- says about the timeline. Each part may take what those before it have left of its share and
-- theirs.
local function data_text(out, trace, profile, given, size)
   given.metrics = profile:metrics()
   local share = given.shown.timeline and PARTS.profile or 1 - PARTS.lines - PARTS.names
   local profiled, functions, used = profile_data.text(profile, { usual = given.metric,
      functions = given.functions or MOST_FUNCTIONS, size = size * share // 1 | 0 })
   functions.room = size * PARTS.names // 1 | 0
   local verdicts = verdicts_text(given.comparison, functions)
   given.recorded = sources.recording(trace and profile:kind() == "contexts"
      and sources.are_counted(trace) and traces.of(trace).paths or {})
   local hot = hot_lines.text(hot_lines.profile(trace, profile), given, functions,
      math.min(size * PARTS.lines, size * (1 - PARTS.names) - used) // 1 | 0)
   local values = call_values.text(trace, given, functions, size * PARTS.values // 1 | 0)
   local drawn, found, left_out = timelines_text(out, given.timelines, given, functions,
      math.max(size * (1 - PARTS.names) - used - #verdicts - #hot - #values, 0))
   return table.concat { '<script type="application/json" id="data">\n{"kind":',
      lanes.script(profile:kind()), given.is_difference and ',"difference":true,\n' or ",\n",
      profiled, hot, verdicts, values, drawn, functions:text(), '"version":1}\n</script>\n' },
      found, left_out
end

-- Returns the profile of both sides of a difference, as two metrics; any other profile itself.
local function both_sides(profile, given)
   if not profile_parts.compared(profile) then
      given.metric = metric_of(profile, given.metric)
      return profile
   end
   local contexts, metric = compared.contexts(profile, given.metric)
   given.metric, given.is_difference = metric, true
   return profiles.of_contexts(contexts, profile_parts.title(profile))
end

-- Returns the title of a page, and what is left of it for a small line: a path is small but for the
-- name of its file.
local function titles_of(profile, given)
   if given.title or given.is_difference then
      return markup.escaped(given.title or "Comparison"), ""
   end
   local title = profile_parts.title(profile)
   local name = not title:find(" ", 1, true) and title:match "[^/\\]+$" or title
   return markup.escaped(name), name ~= title and markup.escaped(title) .. ", " or ""
end

-- Returns the paragraph of a comparison with numbers as the page shows them; nil: there is none.
local function words_of(comparison)
   local unit = comparison and comparison.metric.unit
   return comparison and comparison:text((unit == "ns" or unit == "bytes") and function(value)
      return numbers.weight(value, unit)
   end or nil)
end

-- Returns sentences about numbers that are estimates, and about sources that are not found.
local function guesses_of(shown, given, found)
   local list = { shown:kind() ~= "contexts" and "The profile has no stacks: paths of calls in "
      .. "the flame graph are estimated from the shares of the callers of each function." or nil }
   if given.sources[1] and not given.has_source then
      list[#list + 1] = "No source is shown: the trace names no file that is in "
         .. table.concat(given.sources, ", ") .. "."
   end
   guesses.add(list, found.before or {}, "Before: ")
   guesses.add(list, found.flagged or {}, found.before and "After: ")
   return list
end

local function put_page(trace, profile, given, file)
   given.sources = table.move(given.sources or {}, 1, #(given.sources or {}), 1, {})
   table.insert(given.sources, given.source)
   local is_there, message, code = sources.check(given.sources)
   if not is_there then
      return nil, message, code
   end
   local out = lanes.out(file)
   local shown = both_sides(profile, given)
   local title, path = titles_of(profile, given)
   set_times(trace, given)
   local fixed = assets.all(out, given.shown)
   local begin, program = head:format(fixed.policy, core.version, title) .. fixed.style
      .. fixed.head_program, fixed.program
   local size = math.max((given.size or MOST_SIZE) - #begin - #program - 2 * #title
      - #path - EDGE_SIZE - #sections - #middle, 0)
   local facts = { from = given.from, to = given.to, guesses = {}, notes = profile:notes(),
      sides = { profile_parts.compared(profile) },
      words = words_of(given.comparison),
      size = size * PARTS.summary // 1 | 0 }
   local data, found, left_out = data_text(out, trace, shown, given, math.max(
      size - #summary.text(trace, shown, facts) - FOUND_SIZE, 0))
   given.guesses = guesses_of(shown, given, found)
   given.length, given.lane_count = found.length, found.lanes
   facts.length, facts.lanes, facts.guesses = found.length, found.lanes, given.guesses
   out:write(begin, data, top:format(title, path, core.version),
      summary.text(trace, shown, facts), middle)
   if found.length then
      out:write '<section id="timeline" aria-labelledby="timeline-title">\n'
      out:write '<h2 id="timeline-title">Timeline</h2></section>\n'
   elseif left_out then
      out:write('<p class="note">This page is ', markup.escaped(left_out), ".</p>\n")
   end
   out:write(sections, program, "</body>\n</html>\n")
   return out:result()
end

---Writes the report of a profile alone.
---@param profile profio.Profile
---@param given table the options; timelines: the new and the old trace of a difference
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
