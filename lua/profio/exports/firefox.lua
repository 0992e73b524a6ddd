-- Processed profile of the Firefox profiler, version 60, which newer viewers upgrade. In a timeline
-- each lane is a thread, and so are the states and the values of each variable: their calls are
-- markers, and samples tell which stack ran when. For any other trace, one thread has the samples
-- of its profile. Times are milliseconds from the first event.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local texts = require "profio.internal.texts"

local firefox = {
   name = "firefox",
   help = "a profile, or a timeline with samples and markers, for profiler.firefox.com",
   takes = "trace",
   weighs_profile = true,
   options = lanes.with_options {
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
   local spans, tracks, origin, length = lanes.spans(trace, { from = given.from, to = given.to,
      lane = given.lane, lines = given.lines, variables = true, idle = true })
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
   out:call(core.write_firefox, contexts, { strings = spans:frame_count() + 1 })
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
   local out, name = lanes.out(file), given.name or profile:title()
   out:write(head(name, "1", profile:notes(), left_out), lanes.json(name))
   out:call(core.write_firefox, profile:contexts(), { metric = given.metric, strings = 1,
      thread = "profile" })
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
