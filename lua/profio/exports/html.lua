-- A report as one self-contained HTML page: header fields, a table of functions that sorts and
-- filters, a flame graph, the timeline of its lanes, its hot lines.

local core = require "profio.core"
local flame_pictures = require "profio.exports.html.flame_pictures"
local hot_lines = require "profio.exports.html.hot_lines"
local lanes = require "profio.exports.lanes"
local markup = require "profio.exports.markup"
local program = require "profio.exports.html.page_script"
local style = require "profio.exports.html.style"
local sources = require "profio.internal.sources"
local svg = require "profio.exports.svg"
local timeline = require "profio.exports.html.timeline"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"

local MOST_FUNCTIONS = 5000

local html = {
   name = "html",
   help = "a report as one HTML page: functions, flame graph, timeline, hot lines",
   endings = { ".html" },
   takes = "trace",
   options = lanes.with_options {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "title", type = "text", help = "title of the page" },
      { name = "functions", type = "int", default = MOST_FUNCTIONS,
        help = "most functions in the table" },
      { name = "calls", type = "int", default = timeline.MOST_CALLS,
        help = "most calls in the timeline" },
      { name = "lanes", type = "int", default = timeline.MOST_LANES,
        help = "most lanes in the timeline, those with most events" },
      svg.widths_option,
      { name = "source", type = "text", help = "folder of source files" },
      { name = "trust_paths", type = "bool", default = false,
        help = "show sources outside of that and this folder, and of any size" },
   },
}

-- {====== Summary ======

local head = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="profio %s">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<header>
<h1>%s</h1>
<p class="sub">%s</p>
</header>
]]

local function shown(fact)
   if fact.type == "addr" then
      return ("0x%x"):format(fact.value)
   elseif math.type(fact.value) == "float" then
      return ("%.6g"):format(fact.value)
   end
   return tostring(fact.value)
end

-- Returns the ends of the selected span: { name, text } each.
local function part_of(given)
   local list = {}
   for _, word in ipairs { "from", "to" } do
      if given[word] then
         list[#list + 1] = { word, times.show(given[word], times.unit(given[word])) }
      end
   end
   return list
end

-- Returns the entries of the summary: selected span, totals of metrics, header fields.
local function summary_of(trace, profile, given)
   local list = part_of(given)
   for _, metric in ipairs(profile:metrics()) do
      local total = metric.unit == "ns" and times.show(metric.total, times.unit(metric.total))
         or ("%d %s"):format(metric.total, metric.unit ~= "count" and metric.unit or "")
      list[#list + 1] = { metric.name, total }
   end
   for _, facts in ipairs(trace and trace:facts() or {}) do
      for _, fact in ipairs(facts) do
         list[#list + 1] = { fact.name, shown(fact) }
      end
   end
   return list
end

local function put_summary(out, trace, profile, given)
   out:write '<h2 id="summary">Summary</h2>\n<dl>\n'
   for _, fact in ipairs(summary_of(trace, profile, given)) do
      out:write(("<div><dt>%s</dt><dd>%s</dd></div>\n"):format(markup.escaped(fact[1]),
         markup.escaped(fact[2])))
   end
   out:write "</dl>\n"
   local list = {}
   for _, warning in ipairs(trace and trace.warnings or {}) do
      list[#list + 1] = ('<li class="%s">%s <code>%s</code>%s</li>\n'):format(warning.kind,
         markup.escaped(warning.message), markup.escaped(warning.code), traces.times(warning))
   end
   for _, note in ipairs(not trace and profile:notes() or {}) do
      list[#list + 1] = ('<li class="damage">%s</li>\n'):format(markup.escaped(note))
   end
   if #list > 0 then
      out:write('<ul class="warnings">\n', table.concat(list), "</ul>\n")
   end
end

-- }======

-- {====== Functions ======

local functions_table = [[
<h2 id="functions-title">Functions</h2>
<div class="tools"><input id="filter" type="search" placeholder="Filter by name or file"
aria-label="Filter by name or file"><span id="count" class="note"></span></div>
<div class="wide"><table id="functions"><thead><tr>
<th class="l" data-column="0"><button>Function</button></th>
<th data-column="3"><button>Calls</button></th>
<th data-column="4"><button>Self</button></th><th></th>
<th data-column="5"><button>Total</button></th><th></th>
<th class="l" data-column="1"><button>Place</button></th>
</tr></thead><tbody></tbody></table></div>
<p class="tools"><button id="more">Show all</button></p>
]]

local function number(value)
   return value and ("%d"):format(value) or "null"
end

local function text(value)
   return value and lanes.script(value) or "null"
end

-- Writes the functions for the page's script, as members of a JSON object. Shares are relative to
-- the sum of absolute values, so those of a difference have the signs of the changes.
local function put_functions(out, profile, metric, most)
   local rows, list, self, total, whole = {}, {}, 0, 0, 0
   for name, file, line, calls, own, all in profile:flat { metric = metric.name }:each("function",
      "file", "line", "calls", "self", "total") do
      own, all = own or 0, all or 0
      self, total = math.max(self, math.abs(own)), math.max(total, math.abs(all))
      whole = whole + math.abs(own)
      rows[#rows + 1] = { math.abs(own), #rows, ("[%s,%s,%s,%s,%d,%d]"):format(text(name or "?"),
         text(file), number(line), number(calls), own, all) }
   end
   table.sort(rows, function(a, b)
      return a[1] > b[1] or a[1] == b[1] and a[2] < b[2]
   end)
   for i = 1, math.min(#rows, most) do
      list[i] = rows[i][3]
   end
   out:write(('{"unit":%s,"whole":%d,"most":[%d,%d],"left":%d,\n"functions":[\n%s]'):format(
      text(metric.unit), whole, self, total, #rows - #list, table.concat(list, ",\n")))
   return whole
end

-- }======

-- {====== The page ======

local timeline_part = [[
<h2 id="timeline-title">Timeline</h2>
<div class="tools"><button id="in">+</button><button id="out">&minus;</button>
<button id="left" aria-label="earlier">&larr;</button>
<button id="right" aria-label="later">&rarr;</button><button id="all">Show all</button>
<span id="span" class="note"></span></div>
<canvas id="timeline"></canvas><div id="tip" class="tip" role="tooltip"></div>
<p class="note">%s Strips show how busy a lane was. Drag to zoom in, double-click to zoom out.</p>
]]

local function metric_of(profile, name)
   name = name or profile:usual_metric()
   for _, metric in ipairs(profile:metrics()) do
      if metric.name == name then
         return metric
      end
   end
   error(("no metric '%s'"):format(tostring(name)), 0)
end

-- Returns the total weight, how many calls exist and are drawn, why there is no timeline, and which
-- lanes are drawn if not all.
local function put_data(out, trace, profile, given, metric)
   local calls, drawn, fits, reason, few
   out:write '<script type="application/json" id="data">\n'
   local whole = put_functions(out, profile, metric, given.functions or MOST_FUNCTIONS)
   if trace and trace.events then
      fits, reason = lanes.fits(trace)
   end
   if fits then
      calls, drawn, few = timeline.write(out, trace, given)
      given.notes[#given.notes + 1] = few and few .. ": lanes = N draws N" or nil
      reason = not calls and "its times lie more than 292 years apart" or nil
   end
   out:write "}\n</script>\n"
   return whole, calls, drawn, reason and lanes.left_out(trace, reason), few
end

local function put_page(trace, profile, given, file)
   local is_there, message, code = sources.check { given.source }
   if not is_there then
      return nil, message, code
   end
   local out = lanes.out(file)
   local metric = metric_of(profile, given.metric)
   local title = markup.escaped(given.title or profile:title())
   local function show(weight)
      return metric.unit == "ns" and times.show(weight, times.unit(weight)) or tostring(weight)
   end
   out:write(head:format(core.version, title, style, title,
      (trace and markup.escaped(trace.format) .. ", " or "") .. "by profio " .. core.version))
   put_summary(out, trace, profile, given)
   local whole, calls, drawn, left_out, few = put_data(out, trace, profile, given, metric)
   if calls then
      out:write(timeline_part:format((few and few:gsub("^t", "T") .. ". " or "") .. (drawn < calls
         and ("The %d longest of %d calls are drawn."):format(drawn, calls) or "")))
   elseif left_out then
      out:write('<p class="note">This page is ', markup.escaped(left_out), ".</p>\n")
   end
   flame_pictures.write(out, profile, metric, given.widths)
   out:write(functions_table)
   if profile:compared() then
      out:write '<p class="note">Shares are parts of the sum of all changes of self.</p>\n'
   end
   local lined = hot_lines.profile(trace, profile)
   if lined then
      hot_lines.write(out, lined, { metric = metric.name, source = given.source, whole = whole,
         trust_paths = given.trust_paths, inputs = given.inputs }, show)
   end
   out:write("<script>\n", program, "</script>\n</body>\n</html>\n")
   return out:result()
end

-- }======

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
