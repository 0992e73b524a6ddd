-- The call graph for Graphviz: a node for each function, an edge for each arc. Functions and arcs
-- with a small share are left out, and the title says how many. The attributes self, total and
-- calls (if it is known) have the exact numbers, for other programs; Graphviz ignores them.

local compared = require "profio.exports.compared"
local conditions = require "profio.internal.conditions"
local lanes = require "profio.exports.lanes"
local markup = require "profio.internal.markup"
local numbers = require "profio.internal.numbers"
local profile_parts = require "profio.internal.bodies.profile_parts"
local sums_body = require "profio.internal.bodies.sums_body"
local texts = require "profio.internal.texts"
local views = require "profio.internal.views"

local NODES, NODE_SHARE, ARC_SHARE = 80, 0.005, 0.001

local dot = {
   name = "dot",
   help = "a call graph for Graphviz (dot)",
   endings = { ".dot", ".gv" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "title", type = "text", help = "title of the graph" },
      { name = "nodes", type = "int", default = NODES,
        help = "most functions, those with the largest totals" },
      { name = "node_share", type = "num", default = NODE_SHARE,
        help = "least part of the whole for the total of a function" },
      { name = "arc_share", type = "num", default = ARC_SHARE,
        help = "least part of the whole for the total of an arc" },
   },
}

local MOST_LETTERS = 60 -- of a name in a node; the tooltip has all

-- {====== Texts ======

-- Returns a text for a quoted string. Graphviz reads entities in it, and escapes such as \N.
local function escaped(text)
   return (markup.clean(text):gsub('["\\]', "\\%0"):gsub("&", "&amp;"))
end

-- Returns a name without its middle, if it is long.
local function shortened(name)
   name = markup.clean(name)
   local letters, half = utf8.len(name), MOST_LETTERS // 2 - 1
   if letters <= MOST_LETTERS then
      return name
   end
   return name:sub(1, utf8.offset(name, half + 1) - 1) .. ".." .. name:sub(utf8.offset(name, -half))
end

-- Returns a weight for people, with its share of the whole.
local function weight(value, graph)
   local text = numbers.weight(value, graph.unit)
   return graph.whole == 0 and text
      or ("%s (%s)"):format(text, numbers.percent(value, graph.whole))
end

-- Returns a colour that is stronger for larger shares: red, or blue for what has shrunk.
local function color(value, share, least, brightness)
   return ('"%s %s %s"'):format(value < 0 and "0.600" or "0.050",
      texts.float("%.3f", least + (1 - least) * share ^ 0.5), texts.float("%.3f", brightness))
end

-- Returns the part of the whole that an absolute weight is, at most 1.
local function share_of(size, graph)
   return graph.whole == 0 and 0 or math.min(size / graph.whole, 1)
end

-- }======

-- {====== Selection ======

-- A function is known by name and file.
local function key_of(name, file)
   return name .. "\0" .. (file or "")
end

-- Returns rows with `size`, the absolute value of `total`, and those of them that have at least a
-- share of the whole.
local function rows_of(graph, open, share)
   local rows = views.over(open):derive { "size = abs(total)", "own = abs(self)" }
   return rows, rows:where { size = conditions.between(math.ceil(share * graph.whole)) }
end

-- Returns what is drawn of the metric, without nodes: whole is the sum of all self weights, count
-- the number of functions.
local function graph_of(profile, functions, wanted)
   local name = wanted or profile:usual_metric()
   if wanted then
      sums_body.check_metric(profile, wanted)
   end
   local graph = { metric = name, unit = "", whole = 0, ids = {},
      how = { metric = name } }
   for _, metric in ipairs(profile:metrics()) do
      if metric.name == name then
         graph.unit, graph.how.total_metric = metric.unit, sums_body.total_of(name)
      end
   end
   graph.open = function() return functions:flat(graph.how) end
   local all = rows_of(graph, graph.open, 0):aggregate { "whole = sum(own)", "count = count" }
   graph.whole = all:rows()[1].whole or 0
   graph.how.zeros = graph.whole == 0 -- then only calls are known, and their outermost callers not
   graph.count = all:rows()[1].count
   return graph
end

-- Returns the functions that are shown, and the self weight that they have together.
local function nodes_of(graph, given)
   local _, rows = rows_of(graph, graph.open, given.node_share or NODE_SHARE)
   local list, own = {}, 0
   local most = math.max(given.nodes or NODES, 0)
   for row in rows:sort("-size", "-own", "-calls", "function", "file"):limit(most):records() do
      list[#list + 1] = row
      own = own + row.own
      graph.ids[key_of(row["function"], row.file)] = #list
   end
   return list, own
end

-- Returns the arcs between functions that are shown, and the number of all.
local function arcs_of(graph, arcs, given)
   local list, is_arc = {}, { caller = conditions.no(conditions.missing) }
   local all, rows = rows_of(graph, function() return arcs:graph(graph.how) end,
      given.arc_share or ARC_SHARE)
   for row in rows:where(is_arc):sort("-size", "caller", "callee", "caller_file", "callee_file")
      :records() do
      row.from = graph.ids[key_of(row.caller, row.caller_file)]
      row.to = graph.ids[key_of(row.callee, row.callee_file)]
      list[#list + 1] = row.from and row.to and row or nil
   end
   return list, all:where(is_arc):count()
end

-- }======

-- {====== Lines ======

-- Returns the lines of the title: what the weights are, what is left out, and losses.
local function title_of(profile, given, graph, counts)
   local lines = { given.title or profile_parts.title(profile), ("%s: %s in all%s"):format(
      graph.metric or "calls", weight(graph.whole, graph), profile_parts.compared(profile)
      and "; a difference: red has grown, blue has shrunk" or "") }
   if counts.nodes < graph.count or counts.arcs < counts.all_arcs then
      lines[3] = ("shown: %d of %d functions, which have %s of self weight, and %d of %d arcs")
         :format(counts.nodes, graph.count, weight(counts.own, graph), counts.arcs,
         counts.all_arcs)
      table.insert(given.notes, ("%s; nodes = N, node_share = 0 and arc_share = 0 show more")
         :format(lines[3]))
   end
   lines[#lines + 1] = compared.unstacked_note(profile, given)
   for _, note in ipairs(profile:notes()) do
      lines[#lines + 1] = "damaged: " .. note
   end
   for i, line in ipairs(lines) do
      lines[i] = escaped(line) .. "\\l"
   end
   return table.concat(lines)
end

-- Returns the exact numbers as attributes.
local function numbers_of(row)
   local calls = (row.calls or 0) ~= 0 and (" calls=%d"):format(row.calls) or ""
   return ("self=%d total=%d%s"):format(row.self, row.total, calls)
end

local function node_line(number, row, graph)
   local share = share_of(row.own, graph)
   local name = escaped(row["function"])
   local text = ("self %s\\ntotal %s"):format(weight(row.self, graph), weight(row.total, graph))
   return ('n%d [label="%s\\n%s" tooltip="%s%s\\n%s" fontsize=%s fillcolor=%s %s]\n'):format(
      number, escaped(shortened(row["function"])), text, name,
      row.file and "\\n" .. escaped(row.file) or "", text,
      texts.float("%.1f", 8 + 16 * share ^ 0.5),
      color(row.total, share_of(row.size, graph), 0.03, 1), numbers_of(row))
end

local arc_form = 'n%d -> n%d [label="%s%s" tooltip="%s" labeltooltip="%s" weight=%d ' ..
   "penwidth=%s color=%s %s]\n"

local function arc_line(row, graph)
   local share = share_of(row.size, graph)
   local calls = (row.calls or 0) ~= 0
      and texts.counted(row.calls, "call") .. "\\n" or ""
   local tip = escaped(row.caller .. " -> " .. row.callee)
   return arc_form:format(row.from, row.to, calls, weight(row.total, graph), tip, tip,
      1 + math.floor(share * 100), texts.float("%.2f", 1 + 4 * share),
      color(row.total, share, 0.3, 0.7), numbers_of(row))
end

-- }======

local head = [[
digraph calls {
graph [label="%s" labelloc=t labeljust=l fontname="Helvetica"]
node [shape=box style=filled fontname="Helvetica"]
edge [fontname="Helvetica" fontsize=9]
]]

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function dot.write(profile, given, file)
   local functions, arcs = profile_parts.sums(profile)
   local graph, out = graph_of(profile, functions, given.metric), lanes.out(file)
   local nodes, own = nodes_of(graph, given)
   local shown, all_arcs = arcs_of(graph, arcs, given)
   out:write(head:format(title_of(profile, given, graph, { nodes = #nodes, own = own,
      arcs = #shown, all_arcs = all_arcs })))
   for number, row in ipairs(nodes) do
      out:write(node_line(number, row, graph))
   end
   for _, row in ipairs(shown) do
      out:write(arc_line(row, graph))
   end
   out:write "}\n"
   return out:result()
end

return dot
