-- Why the slow calls of a function are slow; for a profile, where the cost of a function comes from
-- and goes.

local call_groups = require "profio.internal.explain.call_groups"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local function_cost = require "profio.internal.explain.function_cost"
local os_states = require "profio.internal.calls.os_states"
local part_sentences = require "profio.internal.explain.part_sentences"
local plain = require "profio.internal.plain"
local prg_sources = require "profio.formats.xpp.prg_sources"
local span = require "profio.internal.command.selection"
local texts = require "profio.internal.texts"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"

local explain = {
   name = "explain",
   help = "why the slow calls of a function are slow; of a profile: callers and callees",
   unit = "us",
   columns = {
      { name = "kind", help = "gap, the parts of it (own before longer more suspended first rest), "
         .. "those of first (first own ...), tree, path, line, params; of a profile: cost, self, "
         .. "callee, elsewhere, caller, uncalled" },
      { name = "area", help = "the function of the part" },
      { name = "path", help = "where it is called, from the explained function on" },
      { name = "time", help = "the part: of the sum over all slow calls, ns (or the unit of "
         .. "--metric)" },
      { name = "share", help = "time as a share of the gap or of the cost" },
      { name = "count", help = "calls of the area within the slow calls; tree: in the slowest" },
      { name = "elapsed", help = "sum of stop - start of these calls, ns" },
      { name = "net", help = "sum of their net times, ns" },
      { name = "typical_count", help = "the same within as many typical calls; tree: within the "
         .. "median call" },
      { name = "typical_elapsed", help = "sum of stop - start of these, ns" },
      { name = "typical_net", help = "sum of their net times, ns" },
      { name = "start", help = "start of a slow call that shows it; path: of the step" },
      { name = "lane", help = "its lane; path: the lane that ran" },
      { name = "runner", help = "the lane that ran on the core while the calls were suspended" },
      { name = "depth", help = "tree: 1 for the explained function" },
      { name = "line", help = "line: all calls that have it; missing: those without one" },
      { name = "caller", help = "line: the function that called, whose line it usually is" },
      { name = "source", help = "line: its text (Xbase++, --source DIR)" },
      { name = "params", help = "params: all calls that have these parameters" },
      { name = "slow", help = "line, params: how many of these calls are slow" },
      { name = "longest", help = "line, params: stop - start of the longest of them, ns" },
      { name = "sentence", help = "the part in plain words" },
   },
   options = {
      { name = "area", type = "text", help = "the function; default: the one with the longest call "
         .. "and others, or with the largest self cost" },
      call_groups.options[1],
   },
}

---@param trace profio.Trace
---@return string[]
function explain.uses(trace)
   if trace.format == "xpp" then
      return { "span", "source" }
   elseif trace:has "events" then
      return { "span" }
   elseif trace:profile_kind() == "graph" then -- of which reports leave out whole functions
      return { "metric", "diff", "compat" }
   end
   return { "functions", "metric", "diff" }
end

---@param trace profio.Trace
function explain.fits(trace)
   if trace:has "events" then
      return trace.events:limit(1):count() > 0, "it has no events"
   end
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

-- {====== Explanations ======

local ATTEMPTS = 5

-- Returns the functions with several calls, the one with the longest call first.
local function candidates(context, from, to)
   local lane = span.lanes(context.trace, context.given)
   local rows = context.trace:call_statistics { quantiles = "", partial = "exclude", from = from,
      to = to, by = lane and "context" or nil }
   rows = lane and rows:where { context = lane } or rows
   local list, known = {}, {}
   for name, class, count in rows:with_area():sort("-call_max"):each("area", "class", "count") do
      local is_function = not (class and (class:find "line$" or class:find "state$"))
      if name and is_function and count > 1 and not known[name] then
         known[name] = true
         list[#list + 1] = name
      end
   end
   return list
end

-- Returns an explanation without rows.
local function nothing(sentence)
   return { sentence = sentence, parts = {} }
end

-- Returns why no function is explained, if so many have several calls.
local function none_found(count)
   if count <= ATTEMPTS then
      return "No function has two calls that were recorded from enter to leave."
   end
   return ("None of the %d functions with the longest calls has two calls outside of each other "
      .. "that were recorded from enter to leave: name another function."):format(ATTEMPTS)
end

-- Returns the explanation of the calls of a trace, or nil, message, code. Without a given function,
-- of the first of a few that has two calls outside of each other.
local function explained_calls(context, options)
   local from, to = span.of(context.trace, context.given)
   local given = { quantile = options.quantile, from = from, to = to,
      lane = span.lanes(context.trace, context.given) }
   if options.area then
      return context.trace:explain(options.area, given)
   end
   local areas = candidates(context, from, to)
   for i = 1, math.min(#areas, ATTEMPTS) do
      local made = context.trace:explain(areas[i], given)
      if made then
         return made
      end
   end
   return nothing(none_found(#areas))
end

-- Returns the function with the largest self cost, in a difference without increases that with the
-- largest decrease; nil if none has a cost.
local function costliest(flat)
   for _, order in ipairs { "-self", "self" } do
      local top = flat:sort(order):limit(1):rows()[1]
      if top and top.self ~= 0 then
         return top["function"]
      end
   end
end

-- Returns the explanation of the cost of a function, or nil, message, code.
local function explained_cost(context, options)
   local profile = context:profile()
   local given = context:profile_options()
   local area = options.area
   if options.quantile then
      failure.use "--set quantile is for calls, of which this profile has no times"
   end
   area = area or costliest(profile:flat(given))
   if not area then
      return nothing(context.given.diff and "No cost has changed." or "No function has a cost.")
   end
   return function_cost.of(profile, area, given, context.given.diff ~= nil)
end

-- Notes that it is not known what ran while calls were suspended, as the cores are not.
local function note_cores(context, made)
   for _, part in ipairs(made.parts) do
      if part.kind == "suspended" then
         local note = not part.runner and os_states.no_core(traces.of(context.trace))
         return note and context:note(note .. "; then the text says what ran meanwhile")
      end
   end
end

-- Returns the explanation, built once, or nil, message, code.
local function explanation(context)
   if not context.explanation then
      local options = context:report_options(explain)
      local made, message, code =
         (context.trace:has "events" and explained_calls or explained_cost)(context, options)
      if not made then
         return nil, message, code
      end
      context.explanation = made
      note_cores(context, made)
   end
   return context.explanation
end

-- }======

-- {====== Rows ======

local types = { kind = "name", area = "name", path = "name", share = "num", lane = "name",
   runner = "name", sentence = "name", params = "name", caller = "name", source = "name" }

local fields = {}
for i, column in ipairs(explain.columns) do
   fields[i] = { name = column.name, type = types[column.name] or "int", help = column.help }
end

-- Returns a row of the columns.
local function row_of(values)
   local row = {}
   for i, field in ipairs(fields) do
      local value = values[field.name]
      row[i] = value ~= nil and field.type == "name" and tostring(value) or value
   end
   return row
end

-- Returns the row of the gap, or of the cost of a function.
local function head_of(made)
   local slow, typical = made.slow or {}, made.typical or {}
   return { kind = made.gap and "gap" or "cost", area = made.area, path = made.area,
      time = made.gap or made.total, share = 1.0, count = slow.calls, elapsed = slow.elapsed,
      typical_count = typical.calls, typical_elapsed = typical.elapsed,
      start = made.worst and made.worst.start, lane = made.worst and made.worst.lane,
      sentence = made.sentence }
end

-- Adds the rows of the calls by line or by parameters.
local function add_groups(context, rows, kind, made)
   local index = kind == "line" and prg_sources.open(context) or nil
   for _, group in ipairs(made["by_" .. kind] or {}) do
      local file = index and index:place(made.area, group.caller, group.value)
      rows[#rows + 1] = row_of { kind = kind, [kind] = group.value, count = group.calls,
         elapsed = group.elapsed, slow = group.slow, longest = group.longest,
         caller = group.caller, source = file and texts.trim(index:text(file, group.value)) }
   end
end

---@param context profio.Context
---@return userdata|nil
---@return string|nil message
---@return string|nil code
function explain.reader(context)
   local made, message, code = explanation(context)
   if not made then
      return nil, message, code
   end
   local rows = { made.area and row_of(head_of(made)) }
   for _, part in ipairs(made.parts) do
      rows[#rows + 1] = row_of(part)
      for _, inner in ipairs(part.of or {}) do
         rows[#rows + 1] = row_of(setmetatable({ kind = "first " .. inner.kind },
            { __index = inner }))
      end
   end
   for _, node in ipairs(made.tree or {}) do
      rows[#rows + 1] = row_of { kind = "tree", area = node.area, runner = node.runner,
         depth = node.depth,
         count = node.worst_count, elapsed = node.worst_elapsed, net = node.worst_net,
         typical_count = node.median_count, typical_elapsed = node.median_elapsed,
         typical_net = node.median_net }
   end
   for i, step in ipairs(made.path or {}) do
      rows[#rows + 1] = row_of { kind = "path", area = step.area, elapsed = step.elapsed,
         start = step.start, lane = step.lane, sentence = i == 1 and made.path_sentence or nil }
   end
   add_groups(context, rows, "line", made)
   add_groups(context, rows, "params", made)
   return core.rows_reader(fields, rows)
end

-- }======

-- {====== Text ======

local PARTS, NODES, STEPS, GROUPS, SOURCE, LEAST_SHARE = 12, 40, 20, 10, 40, 100

-- Writes the parts; the smallest of many are only counted.
local function write_parts(out, made)
   for i, part in ipairs(made.parts) do
      if i > PARTS then
         out:write(("  %d more parts; --output csv lists all of them\n"):format(
            #made.parts - PARTS))
         break
      end
      out:write("- ", plain(part.sentence), "\n")
      for _, inner in ipairs(part.of or {}) do
         out:write("  - ", plain(inner.sentence), "\n")
      end
   end
end

-- Returns what a line of the tree shows: a function, or the lane that ran meanwhile.
local function name_of(node)
   return node.runner and ("(suspended: %s ran)"):format(node.runner) or node.area or "?"
end

-- Writes the slowest call beside the median one.
local function write_tree(out, made)
   local unit, shown = times.unit(made.worst.elapsed), 0
   out:write(("\nThe slowest call, %s, beside the median call, %s:\n\n"):format(
      plain(part_sentences.place(made.worst)), plain(part_sentences.place(made.median))))
   out:write(("%14s  %14s  %s\n"):format("SLOWEST", "MEDIAN", "CALLS"))
   for _, node in ipairs(made.tree) do
      local most = math.max(node.worst_elapsed, node.median_elapsed)
      if shown < NODES and (node.depth == 1 or most >= made.worst.elapsed // LEAST_SHARE) then
         shown = shown + 1
         local count = math.max(node.worst_count, node.median_count)
         out:write(("%14s  %14s  %s%s%s\n"):format(
            node.worst_count > 0 and times.show(node.worst_elapsed, unit) or "-",
            node.median_count > 0 and times.show(node.median_elapsed, unit) or "-",
            ("  "):rep(math.min(node.depth - 1, 20)), plain(name_of(node)),
            count > 1 and ("  (%d, %d calls)"):format(node.worst_count, node.median_count) or ""))
      end
   end
   if shown < #made.tree then
      out:write(("%d smaller or further calls; --output csv lists all of them\n"):format(
         #made.tree - shown))
   end
end

-- Returns the least time of the longest `count` steps.
local function least_of(path, count)
   local list = {}
   for i, step in ipairs(path) do
      list[i] = step.elapsed
   end
   table.sort(list, function(a, b)
      return a > b
   end)
   return list[math.min(count, #list)]
end

-- Writes the critical path of the slowest call; times are since its start.
local function write_path(out, made)
   local unit, shown = times.unit(made.worst.elapsed), 0
   local least = least_of(made.path, STEPS)
   out:write("\n", plain(made.path_sentence), "\n\n")
   out:write(("%14s  %14s  %s\n"):format("AFTER", "TIME", "LANE AND FUNCTION"))
   for _, step in ipairs(made.path) do
      if step.elapsed >= least and shown < STEPS then
         shown = shown + 1
         out:write(("%14s  %14s  %s\n"):format(times.show(step.start - made.worst.start, unit),
            times.show(step.elapsed, unit), plain(step.area and ("%s  %s"):format(step.lane or "?",
               step.area) or "-")))
      end
   end
   if shown < #made.path then
      out:write(("%d shorter steps; --output csv lists all of them\n"):format(#made.path - shown))
   end
end

-- Returns what is shown of a group: the line with the caller and its text, or the parameters.
local function shown_value(index, made, group)
   local value = group.value == nil and "-" or plain(tostring(group.value))
   if group.caller then
      value = ("%s in %s"):format(value, plain(group.caller))
   end
   local file = index and index:place(made.area, group.caller, group.value)
   return file and ("%-24s  %s"):format(value, plain(texts.trim(index:text(file, group.value))))
      or value
end

-- Writes the calls by line or by parameters, in the unit of the trace.
local function write_groups(out, made, groups, heading, index)
   out:write(("\n%10s  %10s  %14s  %14s  %s\n"):format("CALLS", "SLOW", "MEAN", "LONGEST", heading))
   for i = 1, math.min(#groups, GROUPS) do
      local group = groups[i]
      local unit = made.time_unit or times.unit(group.longest)
      out:write(("%10d  %10d  %14s  %14s  %s\n"):format(group.calls, group.slow,
         times.show(group.elapsed // group.calls, unit), times.show(group.longest, unit),
         shown_value(index, made, group)))
   end
   if #groups > GROUPS then
      out:write(("%d more; --output csv lists all of them\n"):format(#groups - GROUPS))
   end
end

-- Writes the source of the explained function.
local function write_source(out, index, area)
   local found = index:find(area)
   if not found then
      return index:check(area)
   end
   local last = math.min(found.last, found.line + SOURCE - 1)
   out:write(("\n%s, %s:%d:\n\n"):format(plain(found.name), plain(found.file), found.line))
   for line = found.line, last do
      out:write(texts.trim_end(("%8d  %s"):format(line, (plain(index:text(found.file, line))
         :gsub("\\x09", "\t")))), "\n")
   end
   if last < found.last then
      out:write(("%d more lines\n"):format(found.last - last))
   end
end

---@param context profio.Context
---@param out profio.Output
function explain.text(context, out)
   local made = failure.check(explanation(context))
   out:write(plain(made.sentence), #made.parts > 0 and "\n\n" or "\n")
   write_parts(out, made)
   if made.tree then
      write_tree(out, made)
   end
   if made.path_sentence then
      write_path(out, made)
   end
   local index = prg_sources.open(context)
   if made.by_line then
      write_groups(out, made, made.by_line, "LINE OF THE CALL", index)
   end
   if made.by_params then
      write_groups(out, made, made.by_params, "PARAMETERS")
   end
   if index and made.area then
      write_source(out, index, made.area)
   end
   out.shown = #made.parts
end

-- }======

return explain
