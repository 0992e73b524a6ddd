-- Track events of Perfetto in its protobuf format. Each lane is a thread, the states of each
-- variable are a track and its writes a counter, and each core is a track with the lanes that ran
-- on it; arrows lead from a lane that was preempted to where it runs on. The rows are written by
-- csrc/text/track_packets.c, the tracks and the clock of each sequence of packets here.

local conditions = require "profio.internal.conditions"
local context_tree = require "profio.exports.context_tree"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local markup = require "profio.internal.markup"
local profile_parts = require "profio.internal.bodies.profile_parts"

local perfetto = {
   name = "perfetto",
   help = "a timeline as track events for Perfetto, smaller than chrome",
   endings = { ".pftrace", ".perfetto-trace" },
   takes = "trace",
   is_binary = true,
   options = lanes.with_chains {
      { name = "metric", type = "text", help = "of a profile: what the slices show; else time" } },
}

-- {====== Messages ======

local function varint(value)
   local bytes = {}
   while math.ult(127, value) do
      bytes[#bytes + 1] = string.char(value & 127 | 128)
      value = value >> 7
   end
   return table.concat(bytes) .. string.char(value)
end

local function int(field, value)
   return varint(field << 3) .. varint(value)
end

local function message(field, ...)
   local bytes = table.concat { ... }
   return varint(field << 3 | 2) .. varint(#bytes) .. bytes
end

local function text(field, words)
   return message(field, markup.clean(words))
end

-- }======

-- {====== Tracks ======

local PROCESS, NAMES = 1, { "net", "flags" } -- the uuid of the process; names of arguments
local BEGIN, END, BOOTTIME, DELTA = 1, 2, 6, 64

-- Returns the packet that describes a track.
local function track_packet(time, ...)
   return message(1, int(8, time), int(10, 1), message(60, ...))
end

-- Writes a track, and returns its uuid.
local function put_track(state, ...)
   state.uuid = state.uuid + 1
   state.out:write(track_packet(state.first, int(1, state.uuid), ...))
   return state.uuid
end

-- Returns the fields of a track that has a name and is below another one.
local function named(title, parent)
   return text(2, title) .. int(5, parent)
end

-- Returns the first packet of a sequence: its clock counts from packet to packet, from `time` on,
-- and events without a track are of the track `uuid`.
local function first_packet(sequence, time, uuid)
   local names = {}
   for i, name in ipairs(NAMES) do
      names[i] = message(3, int(1, i), text(2, name))
   end
   return message(1, int(8, time), int(58, BOOTTIME), int(10, sequence), int(13, 1),
      message(6, message(1, int(1, BOOTTIME), int(2, time)),
         message(1, int(1, DELTA), int(2, time), int(3, 1)), int(2, BOOTTIME)),
      message(59, int(58, DELTA), message(11, int(11, uuid))),
      message(12, table.concat(names)))
end

-- Writes a sequence of packets from rows. Each has numbers of its own for names.
local function put_rows(state, uuid, rows, options)
   state.sequence = state.sequence + 1
   state.out:write(first_packet(state.sequence, state.first, uuid))
   options.sequence, options.last, options.stop = state.sequence, state.first, state.last
   options.time = "time"
   options.origin = (options.origin or 0) + state.origin
   state.out:call(core.write_packets, type(rows) == "userdata" and rows or rows:reader(), options)
end

-- }======

-- Writes the facts about the file as metadata: who wrote it, what was lost, and the time that is 0.
local function put_facts(state, path, losses)
   local facts = { { "creator", "profio " .. core.version }, { "trace", path } }
   for i, words in ipairs(losses) do
      facts[#facts + 1] = { "damaged " .. i, words }
   end
   if state.origin ~= 0 then
      facts[#facts + 1] = { "origin_ns", ("%d"):format(state.origin) }
   end
   for i, fact in ipairs(facts) do
      facts[i] = message(2, text(1, fact[1]), text(2, fact[2]))
   end
   state.out:write(message(1, int(10, 1), message(5, table.concat(facts))))
end

-- {====== Lanes, states, values ======

-- Writes the calls of a lane or the states of a variable. Deep calls are on tracks below the first.
local function put_layers(state, number, track, spans)
   local readers, titles = lanes.layers(spans, track)
   local outer = put_track(state, track.kind == "lane"
      and message(4, int(1, 1), int(2, number), text(5, track.title))
      or named(track.title, PROCESS))
   for layer, rows in ipairs(readers) do
      local uuid = layer == 1 and outer or put_track(state, named(titles[layer], outer))
      put_rows(state, uuid, rows, { kind = "kind", name = "name", net = "net", flags = "flags",
         kinds = { open = BEGIN, close = END } })
   end
end

local function put_calls(state, tracks, spans)
   for number, track in ipairs(tracks) do
      if track.kind ~= "values" then
         put_layers(state, number, track, spans)
      end
   end
end

-- Writes the counters of variables, and instants for writes without a value.
local function put_values(state, tracks, trace, given)
   local counters = {}
   for _, track in ipairs(tracks) do
      if track.kind == "values" and not counters[track.area] then
         counters[track.area] = put_track(state, named(track.title, PROCESS), message(8))
      end
   end
   if next(counters) then
      local values, others, column = lanes.writes(trace, given)
      if column then
         put_rows(state, PROCESS, values, { by = "area", tracks = counters, value = column })
      end
      put_rows(state, PROCESS, others, { name = "area" })
   end
end

-- }======

-- {====== Cores ======

-- Writes which lane runs on each core. The rows of BTF tell that: tasks are lanes.
local function put_cores(state, trace, given)
   local events = lanes.narrow(trace.events:range(nil, given.to), given)
   local cores = {}
   local base = math.min(state.first + state.origin, given.from or math.maxinteger)
   for row in events:where { core = conditions.between(0) }:group("core"):aggregate { "count" }
      :records()
   do
      local name = "Core_" .. row.core
      cores[name] = put_track(state, named(name, PROCESS))
   end
   if not next(cores) then
      return
   end
   local rows = core.btf(events:reader(), { base = base, from = given.from, stimuli = false })
   put_rows(state, PROCESS, core.where(rows, conditions.tests { type = { "T", "I" } }), {
      by = "source", tracks = cores, name = "target", escaped = true, flows = true, origin = -base,
      kind = "event", kinds = { start = BEGIN, resume = BEGIN, preempt = END, terminate = END } })
end

-- }======

-- {====== Profiles ======

local slice_columns <const> = { { "time", "int" }, { "kind", "name" }, { "name", "name" } }

-- Returns rows that begin and end a slice for each context of a tree, and the last time. A context
-- lasts as long as its total, and what it is itself comes before what it calls.
local function slices_of(tree)
   local rows, open, time = {}, {}, 0
   local weights, names, files = tree.weights[1], tree.names, tree.files
   local function close(depth)
      for i = #open, depth, -1 do
         rows[#rows + 1] = { time, "close", open[i] }
         open[i] = nil
      end
   end
   for i, depth in ipairs(tree.depths) do
      close(depth)
      local frame = tree.frames[i]
      local name = files[frame] and ("%s (%s)"):format(names[frame], files[frame]) or names[frame]
      rows[#rows + 1] = { time, "open", name }
      open[depth] = name
      time = time + weights[i]
   end
   close(1)
   return rows, time
end

---Writes a profile as slices in the order of its tree, not of time.
---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function perfetto.write_profile(profile, given, file)
   local contexts = context_tree.by_function(profile_parts.contexts(profile))
   local tree = context_tree.of(contexts, { given.metric })
   local refused = context_tree.refused(tree, "perfetto cannot show weights below 0, and this "
      .. "difference has some: use svg or pprof")
   if refused then
      return nil, refused, "unsupported"
   end
   local rows, last = slices_of(tree)
   local state = { out = lanes.out(file), origin = 0, first = 0, last = last, sequence = 1,
      uuid = PROCESS }
   local title = profile_parts.title(profile)
   local notes = profile:notes()
   state.out:write(track_packet(0, int(1, PROCESS), message(3, int(1, 1),
      text(6, title .. lanes.damage(notes)))))
   put_facts(state, title, notes)
   local track = put_track(state, named(("%s by %s, in the order of the tree, not of time"):format(
      "calling contexts", given.metric or contexts:usual()), PROCESS))
   put_rows(state, track, core.rows_reader(slice_columns, rows), { kind = "kind", name = "name",
      kinds = { open = BEGIN, close = END } })
   return state.out:result()
end

-- }======

---@param trace profio.Trace
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function perfetto.write(trace, given, file)
   if not lanes.fits(trace) or given.metric then
      local made, words, code = lanes.profile(trace, given)
      if not made then
         return nil, words, code
      end
      return perfetto.write_profile(made, given, file)
   end
   local spans, tracks, first, length = lanes.spans(trace, given,
      { lines = true, variables = true })
   if not spans then
      return nil, tracks, first
   end
   local origin = first < 0 and first or 0
   local state = { out = lanes.out(file), origin = origin, first = first - origin,
      last = first - origin + length, sequence = 1, uuid = PROCESS }
   state.out:write(track_packet(state.first, int(1, PROCESS), message(3, int(1, 1),
      text(6, trace.path .. lanes.damage(trace:losses())))))
   put_facts(state, trace.path, trace:losses())
   put_calls(state, tracks, spans)
   put_values(state, tracks, trace, given)
   if lanes.has_column(trace, "core") then
      put_cores(state, trace, given)
   end
   return state.out:result()
end

return perfetto
