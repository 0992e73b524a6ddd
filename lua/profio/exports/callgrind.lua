-- Functions, their source lines and the calls between them for callgrind_annotate and KCachegrind.

local compared = require "profio.exports.compared"
local context_tree = require "profio.exports.context_tree"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local profile_parts = require "profio.internal.bodies.profile_parts"
local sums_body = require "profio.internal.bodies.sums_body"

local callgrind = {
   name = "callgrind",
   help = "a profile for callgrind_annotate and KCachegrind",
   endings = { ".callgrind" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "only this metric: time, samples, ...; else all" },
   },
}

-- Returns the names of the metrics, the usual one first. Calls are no costs in this format: arcs
-- state them.
local function metrics_of(profile, wanted)
   local first = wanted or profile:usual_metric()
   local names = { first }
   for _, metric in ipairs(wanted and {} or profile:metrics()) do
      local is_other = metric.name ~= first and metric.name ~= "calls"
      names[#names + 1] = is_other and metric.name or nil
   end
   return names
end

-- {====== Names ======

-- Readers drop blank names.
local function shown(text)
   text = context_tree.plain(text)
   return text:find "^ *$" and "(blank)" or text
end

-- Returns a function that writes the lines of a function: "fl=" and "fn=", or "cfi=" and "cfn=".
-- The first use of a name writes it after its number, later ones only the number. Files and
-- functions are numbered separately. A name that looks like a number is still a name.
local function name_writer()
   local files, functions = { count = 0, of = {} }, { count = 0, of = {} }
   local function named(key, known, text)
      local number = known.of[text]
      if not number then
         known.count = known.count + 1
         known.of[text] = known.count
      end
      return number and ("%s(%d)\n"):format(key, number)
         or ("%s(%d) %s\n"):format(key, known.count, shown(text))
   end
   return function(tree, frame, file_key, function_key)
      local file = tree.files[frame]
      return (file and named(file_key, files, file) or file_key .. "???\n")
         .. named(function_key, functions, tree.names[frame])
   end
end

-- }======

-- {====== Costs ======

-- Returns a line number and the costs of a context, and whether there are any.
local function line_of(line, tree, i)
   local costs, has_any = { tostring(math.max(line, 0)) }, false
   for m, weights in ipairs(tree.weights) do
      costs[m + 1], has_any = tostring(weights[i]), has_any or weights[i] ~= 0
   end
   return table.concat(costs, " ") .. "\n", has_any
end

local function put_functions(out, tree, names)
   for i, frame in ipairs(tree.frames) do
      local costs, has_any = line_of(tree.lines[frame], tree, i)
      if has_any then
         out:write(names(tree, frame, "fl=", "fn="), costs, "\n")
      end
   end
end

-- Returns the arcs in the order in which they were added: { number =, caller =, callee = frames }.
local function arcs_of(tree)
   local list, caller = {}, nil
   for i, depth in ipairs(tree.depths) do
      caller = depth == 1 and i or caller
      list[#list + 1] = depth == 2 and { number = i, caller = tree.frames[caller],
         callee = tree.frames[i] } or nil
   end
   table.sort(list, function(a, b)
      return tree.nodes[a.number] < tree.nodes[b.number]
   end)
   return list
end

-- Writes each arc with its number of calls and its inclusive cost.
local function put_arcs(out, tree, calls, names)
   for _, arc in ipairs(arcs_of(tree)) do
      local costs, has_any = line_of(0, tree, arc.number)
      local count = calls and calls[arc.number] or 0
      if count ~= 0 or has_any then
         out:write(names(tree, arc.caller, "fl=", "fn="), names(tree, arc.callee, "cfi=", "cfn="),
            ("calls=%d 0\n"):format(math.max(count, 1)), costs, "\n")
      end
   end
end

-- }======

-- Writes names and units as they are shown, "event: time : time, ns", then "events: time samples",
-- where blanks in names are replaced.
local function put_header(out, given, tree)
   local function line(key, text)
      out:write(key, context_tree.plain(text), "\n")
   end
   line("# callgrind format\nversion: 1\ncreator: ", "profio " .. core.version)
   line("cmd: ", given.command)
   for _, note in ipairs(given.notes) do
      line("desc: Damaged: ", note)
   end
   if given.remark then
      line("desc: Note: ", given.remark)
   end
   local events = {}
   for i, name in ipairs(given.metrics) do
      local unit = tree.units[i]
      events[i] = context_tree.plain(name, { [" "] = "_" })
      line(("event: %s : "):format(events[i]), name .. (unit ~= "" and unit ~= "count"
         and ", " .. unit or ""))
   end
   out:write("events: ", table.concat(events, " "), "\nsummary: ", table.concat(tree.totals, " "),
      "\n\n")
end

-- Returns the tree of arcs with the inclusive metrics, and the numbers of calls.
local function arc_tree(arcs, metrics)
   local totals, has_calls = {}, false
   for i, name in ipairs(metrics) do
      totals[i] = sums_body.total_of(name)
   end
   for _, metric in ipairs(arcs:metrics()) do
      has_calls = has_calls or metric.name == "calls"
   end
   totals[#totals + 1] = has_calls and "calls" or nil
   local tree = context_tree.of(arcs, totals)
   return tree, has_calls and table.remove(tree.weights)
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function callgrind.write(profile, given, file)
   if given.metric then
      sums_body.check_metric(profile, given.metric)
   end
   local functions, arcs = profile_parts.sums(profile)
   local remark = profile_parts.compared(profile) and "a difference: costs below 0 have shrunk; " ..
      "callgrind_annotate shows them, KCachegrind does not" or nil
   local note = compared.unstacked_note(profile, given)
   remark = remark and note and remark .. "; " .. note or remark or note
   local metrics, out, names = metrics_of(profile, given.metric), lanes.out(file), name_writer()
   local tree = context_tree.of(functions, metrics)
   put_header(out, { remark = remark, metrics = metrics, notes = profile:notes(),
      command = profile_parts.title(profile) }, tree)
   put_functions(out, tree, names)
   local of_arcs, calls = arc_tree(arcs, metrics)
   put_arcs(out, of_arcs, calls, names)
   out:write("totals: ", table.concat(tree.totals, " "), "\n")
   return out:result()
end

return callgrind
