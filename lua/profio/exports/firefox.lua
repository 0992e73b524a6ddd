-- Processed profile of the Firefox profiler, version 60, which newer viewers upgrade. In a timeline
-- each lane is a thread, and so are the states and the values of each variable: their calls are
-- markers, and samples tell which stack ran when. For any other trace, one thread has the samples
-- of its profile. Times are milliseconds from the first event.

local context_tree = require "profio.exports.context_tree"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local profile_parts = require "profio.internal.bodies.profile_parts"
local saturated = require "profio.internal.saturated"
local texts = require "profio.internal.texts"

local firefox = {
   name = "firefox",
   help = "a profile, or a timeline with samples and markers, for profiler.firefox.com",
   takes = "trace",
   weighs_profile = true,
   options = lanes.with_chains {
      { name = "metric", type = "text", help = "for a profile: weight of samples: time, ..." },
      { name = "name", type = "text", help = "name of the profile in the viewer" },
      { name = "lines", type = "bool", default = false,
        help = "for a timeline: also source lines inside their functions" },
   },
}

local meta = [[
{"meta":{"version":27,"preprocessedProfileVersion":60,"product":%s,"startTime":0,"interval":%s,
"processType":0,"stackwalk":0,"debug":false,"symbolicationNotSupported":true,
"usesOnlyOneStackType":true,"sourceCodeIsNotOnSearchfox":true,"keepProfileThreadOrder":true,
"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[],
"extra":[{"label":"profio","entries":[{"label":"Written by","format":"string","value":%s}%s]}]},
"libs":[],
"shared":{"stringArray":[
]]

local entry = ',\n{"label":%s,"format":"string","value":%s}'

-- `interval`: between samples, in milliseconds, as text. `left_out`: omissions, as text.
local function head(name, interval, notes, left_out)
   local entries = {}
   for i, note in ipairs(notes) do
      entries[i] = entry:format(lanes.json "Damaged", lanes.json(note))
   end
   if left_out then
      entries[#entries + 1] = entry:format(lanes.json "Left out", lanes.json(left_out))
   end
   return meta:format(lanes.json(name), interval, lanes.json("profio " .. core.version),
      table.concat(entries))
end

-- {====== Tables ======

-- Returns numbers as a list of JSON; false is null.
local function list_of(numbers)
   local list = {}
   for i, number in ipairs(numbers) do
      list[i] = number and tostring(number) or "null"
   end
   return list
end

-- Writes the columns of a table, { name, values or one value for all }, and the number of rows.
local function put_table(out, before, columns, rows)
   out:write(before)
   for _, column in ipairs(columns) do
      out:write(('\n"%s":['):format(column[1]))
      if type(column[2]) == "table" then
         out:write(table.concat(list_of(column[2]), ","))
      elseif rows > 0 then
         out:write(column[2])
         out:repeated("," .. column[2], rows - 1)
      end
      out:write "],"
   end
   out:write(('\n"length":%d}'):format(rows))
end

-- Returns the functions, whose frames differ in their lines only, and their files: of each frame
-- the number of its function, of each function its name and the number of its file, or false.
local function functions_of(tree)
   local of_frame, names, sources, files, numbers = {}, {}, {}, {}, {}
   for i, name in ipairs(tree.names) do
      local file = tree.files[i]
      if i == 1 or name ~= tree.names[i - 1] or file ~= tree.files[i - 1] then
         if file and not numbers[file] then
            files[#files + 1] = file
            numbers[file] = #files - 1
         end
         names[#names + 1], sources[#sources + 1] = name, file and numbers[file]
      end
      of_frame[i] = #names - 1
   end
   return of_frame, names, sources, files
end

-- Returns the columns of the stacks: the contexts in depth-first order, where a prefix precedes the
-- stacks that extend it.
local function stacks_of(tree)
   local frames, prefixes, path = {}, {}, {}
   for i, depth in ipairs(tree.depths) do
      frames[i], prefixes[i], path[depth] = tree.frames[i] - 1, path[depth - 1] or false, i - 1
   end
   return frames, prefixes
end

-- Returns numbers from a first one on.
local function range(first, count)
   local list = {}
   for i = 1, count do
      list[i] = first + i - 1
   end
   return list
end

-- Writes the remaining strings, after `strings` of them, and all tables.
local function put_tables(out, tree, strings)
   local of_frame, names, sources, files = functions_of(tree)
   for _, text in ipairs(context_tree.json(table.move(files, 1, #files, #names + 1,
      table.move(names, 1, #names, 1, {}))))
   do
      out:write(",\n", text)
   end
   local frames, prefixes = stacks_of(tree)
   local lines = {}
   for i, line in ipairs(tree.lines) do
      lines[i] = line > 0 and line
   end
   put_table(out, '],\n"stackTable":{', { { "frame", frames }, { "prefix", prefixes } }, #frames)
   put_table(out, ',\n"frameTable":{', { { "address", "-1" }, { "inlineDepth", "0" },
      { "category", "0" }, { "subcategory", "0" }, { "func", of_frame }, { "nativeSymbol", "null" },
      { "innerWindowID", "0" }, { "line", lines }, { "column", "null" } }, #of_frame)
   put_table(out, ',\n"funcTable":{', { { "isJS", "false" }, { "relevantForJS", "false" },
      { "name", range(strings, #names) }, { "resource", "-1" }, { "source", sources },
      { "lineNumber", "null" }, { "columnNumber", "null" } }, #names)
   put_table(out, ',\n"resourceTable":{"lib":[],"name":[],"host":[],"type":[],"length":0},'
      .. '\n"nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},'
      .. '\n"sources":{', { { "uuid", "null" }, { "filename", range(strings + #names, #files) } },
      #files)
   out:write '},\n"threads":[\n'
end

-- }======

-- {====== Profiles ======

local profile_thread = '{"name":"profile","isMainThread":true,"processType":"default",'
   .. '"processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,'
   .. '"pausedRanges":[],"pid":"1","tid":0,"markers":{"data":[],"name":[],"startTime":[],'
   .. '"endTime":[],"phase":[],"category":[],"length":0},\n"samples":{'

local weight_types = { ns = "tracing-ms", bytes = "bytes" }

-- Returns ns as milliseconds.
local function in_ms(ns)
   local size = ns < 0 and -ns or ns
   return ("%s%d.%06d"):format(ns < 0 and "-" or "", size // 1000000, size % 1000000)
end

-- Writes the samples, one for each context with a weight; the root, that of rows without a stack,
-- has the stack null. For other metrics than times they are 1 ms apart.
local function put_samples(out, tree)
   local stacks, times, weights, time = {}, {}, {}, 0
   local has_times = tree.units[1] == "ns"
   for i = 0, #tree.weights[1] do
      local weight = tree.weights[1][i]
      if weight ~= 0 then
         stacks[#stacks + 1], times[#times + 1] = i > 0 and i - 1, in_ms(time)
         weights[#weights + 1] = has_times and in_ms(weight) or weight
         time = saturated.add(time, has_times and math.max(weight, 0) or 1000000)
      end
   end
   out:write(profile_thread, '"stack":[', table.concat(list_of(stacks), ","), '],\n"time":[',
      table.concat(times, ","), '],\n"weight":[', table.concat(weights, ","),
      ('],\n"weightType":"%s",\n"length":%d}}'):format(weight_types[tree.units[1]] or "samples",
      #stacks))
end

-- }======

-- {====== Timelines ======

local thread = [[%s
{"name":%s,"isMainThread":%s,"processType":"default","processStartupTime":0,
"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[],"pid":"1",
"tid":%d,"showMarkersInTimeline":true,
]]

-- Writes the columns of markers: each call has a start and an end marker.
local columns = {
   { "data", "null", "null" },
   { "category", "0", "0" },
   { "phase", "2", "3" },
   { "name", "{frame}", "{frame}" },
   { "startTime", "{time:ms}", "null" },
   { "endTime", "null", "{time:ms}" },
}

local function put_markers(out, track, spans, origin)
   local rows = track and track.rows or 0
   out:write((',\n"markers":{"length":%d'):format(rows))
   for _, column in ipairs(columns) do
      out:write((',\n"%s":['):format(column[1]))
      if rows > 0 and column[2] == column[3] and column[2] ~= "{frame}" then
         out:write(column[2])
         out:repeated("," .. column[2], rows - 1)
      elseif rows > 0 then
         out:listing(spans:reader(track.number, origin), { kind = "kind", separator = ",",
            templates = { open = column[2], close = column[3] } })
      end
      out:write "]"
   end
   out:write "}}"
end

local suffixes = { lane = "", states = " (states)", values = " (values)" }

-- Viewers show from the first sample to the last one plus one interval.
local function interval_of(length)
   return texts.float("%.6f", math.min(math.max(length / 1e9, 1e-6), 1))
end

local function put_threads(out, contexts, spans, tracks, origin, length)
   for tid, track in ipairs(tracks) do
      out:write(thread:format(tid > 1 and "," or "", lanes.json(track.title ..
         suffixes[track.kind]), tid == 1, tid))
      out:call(core.write_firefox_samples, contexts, { spans = spans, track = track.number,
         origin = origin, length = length })
      put_markers(out, track, spans, origin)
   end
   if #tracks == 0 then
      out:write(thread:format("", lanes.json "main", true, 1),
         '"samples":{"stack":[null],"time":[0],"weight":[0],"weightType":"tracing-ms","length":1}')
      put_markers(out, nil, spans, origin)
   end
end

local function put_timeline(trace, given, file)
   local spans, tracks, origin, length = lanes.spans(trace, given,
      { lines = given.lines, variables = true, idle = true })
   if not spans then
      return nil, tracks, origin
   end
   local contexts, message, code = core.span_contexts(spans)
   if not contexts then
      return nil, message, code
   end
   local out, name = lanes.out(file), given.name or trace.path
   out:write(head(name, interval_of(length), trace:losses()))
   out:listing(spans:frames(), "{name:json},\n")
   out:write(lanes.json(name))
   put_tables(out, context_tree.of(contexts, {}), spans:frame_count() + 1)
   put_threads(out, contexts, spans, tracks, origin, length)
   out:write "\n]}\n"
   return out:result()
end

-- }======

---Writes a profile as samples.
---@param profile profio.Profile
---@param given table
---@param file file*
---@param left_out string|nil what of a trace is left out
function firefox.write_profile(profile, given, file, left_out)
   local out, name = lanes.out(file), given.name or profile_parts.title(profile)
   out:write(head(name, "1", profile:notes(), left_out), lanes.json(name))
   local tree = context_tree.of(profile_parts.contexts(profile), { given.metric })
   put_tables(out, tree, 1)
   put_samples(out, tree)
   out:write "\n]}\n"
   return out:result()
end

---@param trace profio.Trace
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function firefox.write(trace, given, file)
   local fits, reason = lanes.fits(trace)
   if fits and not given.metric then
      return put_timeline(trace, given, file)
   end
   local profile, message, code = lanes.profile(trace, given)
   if not profile then
      return nil, message, code
   end
   return firefox.write_profile(profile, given, file, lanes.left_out(trace, not fits and reason))
end

return firefox
