-- speedscope: a timeline as evented profiles, one for each lane, for the states of each variable
-- and for its values; any other trace as a sampled profile. Losses and omissions are in the name,
-- which the viewer shows, and in full in the member `exporter`.

local context_tree = require "profio.exports.context_tree"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local profile_parts = require "profio.internal.bodies.profile_parts"
local stacks = require "profio.exports.depth_limit"

local speedscope = {
   name = "speedscope",
   help = "a timeline, or a profile, for speedscope",
   endings = { ".speedscope.json", ".json" },
   takes = "trace",
   weighs_profile = true,
   options = lanes.with_chains {
      { name = "metric", type = "text", help = "for a profile: only time, samples, ...; else all" },
      { name = "name", type = "text", help = "name of the profile in the viewer" },
      { name = "lines", type = "bool", default = false,
        help = "for a timeline: also source lines inside their functions" },
      stacks.option,
   },
}

---@param trace profio.Trace
function speedscope.fits(trace)
   return trace:has "events" or trace:profile_kind() ~= nil, "it has neither events nor a profile"
end

local function exporter(notes)
   return table.concat(table.move(notes, 1, #notes, 2, { "profio " .. core.version }), "; ")
end

-- {====== Timelines ======

local head = '{"$schema":"https://www.speedscope.app/file-format-schema.json",\n' ..
   '"exporter":%s,"name":%s,"activeProfileIndex":0,\n"profiles":['

local track_head = '%s\n{"type":"evented","name":%s,"unit":"nanoseconds","startValue":0,' ..
   '"endValue":%d,"events":[\n'

local templates = {
   open = '{{"type":"O","frame":{frame},"at":{time}}',
   close = '{{"type":"C","frame":{frame},"at":{time}}',
}

local suffixes = { lane = "", states = " (states)", values = " (values)" }

---@param trace profio.Trace
---@param given table
---@param file file*
local function write_timeline(trace, given, file)
   local spans, tracks, first, length = lanes.spans(trace, given,
      { lines = given.lines, variables = true })
   if not spans then
      return nil, tracks, first
   end
   local out = lanes.out(file)
   local losses = trace:losses()
   out:write(head:format(lanes.json(exporter(losses)),
      lanes.json((given.name or trace.path) .. lanes.damage(losses))))
   for number, track in ipairs(tracks) do
      out:write(track_head:format(number > 1 and "," or "",
         lanes.json(track.title .. suffixes[track.kind]), length))
      out:listing(spans:reader(track.number, first), { kind = "kind", templates = templates,
         separator = ",\n" })
      out:write "]}"
   end
   if #tracks == 0 then
      out:write(track_head:format("", lanes.json "main", length), "]}")
   end
   out:write '\n],\n"shared":{"frames":[\n'
   out:listing(core.with_area(spans:frames(), "area"), { separator = ",\n",
      template = '{{"name":{name:json},"file":{file:json},"line":{line:json}}' })
   out:write "\n]}}\n"
   return out:result()
end

-- }======

-- {====== Profiles ======

local profile_head = '{"$schema":"https://www.speedscope.app/file-format-schema.json",\n' ..
   '"exporter":%s,"name":%s,"activeProfileIndex":%d,\n"shared":{"frames":[\n'

local unit_words = { ns = "nanoseconds", bytes = "bytes" }

local function put_frames(out, tree)
   local names, files = context_tree.json(tree.names), {}
   for i, file in ipairs(tree.files) do
      files[i] = file or ""
   end
   files = context_tree.json(files)
   for i, name in ipairs(names) do
      out:write(i == 1 and "" or ",\n", '{"name":', name, tree.files[i] and ',"file":' .. files[i]
         or "", tree.lines[i] ~= 0 and (',"line":%d}'):format(tree.lines[i]) or "}")
   end
end

-- Writes the samples of a metric: the contexts with a weight above 0. The root is an empty stack:
-- that of rows without a stack.
local function put_samples(out, tree, weights, total)
   local path, numbers, samples = {}, {}, {}
   for i = 1, #tree.names do
      numbers[i] = tostring(i - 1)
   end
   for i = 0, #weights do
      local depth = tree.depths[i] or 0
      path[depth] = numbers[tree.frames[i]]
      if weights[i] > 0 then
         out:write(samples[1] and "," or "", "[", table.concat(path, ",", 1, depth), "]")
         samples[#samples + 1] = weights[i]
      end
   end
   out:write('],\n"weights":[', table.concat(samples, ","), ('],\n"endValue":%d}'):format(total))
end

-- Writes a sampled profile for each metric; the viewer shows the default metric first.
local function write_samples(contexts, given, name, exporter_name, file)
   local metrics, active = {}, 0
   for i, metric in ipairs(contexts:metrics()) do
      metrics[i] = metric.name
      active = metric.name == contexts:usual() and i - 1 or active
   end
   if given.metric then
      metrics, active = { given.metric }, 0
   end
   local tree = context_tree.of(contexts, metrics)
   local refused = context_tree.refused(tree, "speedscope cannot show weights below 0, and this "
      .. "difference has some: use svg or pprof")
   if refused then
      return nil, refused, "unsupported"
   end
   local out = lanes.out(file)
   out:write(profile_head:format(lanes.json(exporter_name), lanes.json(name), active))
   put_frames(out, tree)
   out:write '\n]},\n"profiles":['
   for i, weights in ipairs(tree.weights) do
      out:write(i == 1 and "" or ",\n",
         ('{"type":"sampled","name":%s,"unit":"%s","startValue":0,\n"samples":['):format(
         lanes.json(metrics[i]), unit_words[tree.units[i]] or "none"))
      put_samples(out, tree, weights, tree.totals[i])
   end
   out:write "]}\n"
   return out:result()
end

---Writes a profile as samples, one profile for each metric.
---@param profile profio.Profile
---@param given table
---@param file file*
---@param left_out string|nil what of a trace is left out
function speedscope.write_profile(profile, given, file, left_out)
   local notes, cuts = profile:notes(), #given.notes
   local contexts = context_tree.by_function(profile_parts.contexts(profile))
   contexts = stacks.shortened(contexts, given)
   left_out = left_out or given.notes[cuts + 1]
   local words = exporter(notes) .. (left_out and "; " .. left_out or "")
   local name = (given.name or profile_parts.title(profile)) .. lanes.damage(notes)
      .. (left_out and (" (%s)"):format(left_out) or "")
   return write_samples(contexts, given, name, words, file)
end

-- }======

---@param trace profio.Trace
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function speedscope.write(trace, given, file)
   local fits, reason = lanes.fits(trace)
   if fits and not given.metric then
      return write_timeline(trace, given, file)
   end
   local made, message, code = lanes.profile(trace, given)
   if not made then
      return nil, message, code
   end
   return speedscope.write_profile(made, given, file, lanes.left_out(trace, not fits and reason))
end

return speedscope
