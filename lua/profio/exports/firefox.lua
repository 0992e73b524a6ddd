-- The Firefox profiler's processed profile, version 60: newer viewers upgrade it. The first thread
-- has the samples of the profile; of a timeline each lane follows as a thread whose markers are its
-- calls. Times are milliseconds from the first event.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"

local firefox = {
   name = "firefox",
   help = "a profile, and the calls of a timeline as markers, for profiler.firefox.com",
   takes = "trace",
   options = lanes.with_options {
      { name = "metric", type = "text", help = "what samples weigh: time, samples, ..." },
      { name = "name", type = "text", help = "what the viewer calls it" },
      { name = "lines", type = "bool", default = false,
        help = "of a timeline: source lines inside their functions too" },
   },
}

---@param trace profio.Trace
function firefox.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

local meta = [[
{"meta":{"version":27,"preprocessedProfileVersion":60,"product":%s,"startTime":0,"interval":1,
"processType":0,"stackwalk":0,"debug":false,"symbolicationNotSupported":true,
"usesOnlyOneStackType":true,"sourceCodeIsNotOnSearchfox":true,"keepProfileThreadOrder":true,
"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[],
"extra":[{"label":"profio","entries":[{"label":"Written by","format":"string","value":%s}%s]}]},
"libs":[],
"shared":{"stringArray":[
%s]]

local loss = ',\n{"label":"Damaged","format":"string","value":%s}'

local function head(name, notes)
   local losses = {}
   for i, note in ipairs(notes) do
      losses[i] = loss:format(lanes.json(note))
   end
   name = lanes.json(name)
   return meta:format(name, lanes.json("profio " .. core.version), table.concat(losses), name)
end

-- {====== Markers ======

local thread = [[,
{"name":%s,"isMainThread":false,"processType":"default","processStartupTime":0,
"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[],"pid":"1",
"tid":%d,"showMarkersInTimeline":true,
"samples":{"stack":[null],"time":[0],"weight":null,"weightType":"samples","length":1},
"markers":{"length":%d]]

-- Columns of markers: a pair for each call, one where it opens and one where it closes.
local columns = {
   { "data", "null", "null" },
   { "category", "0", "0" },
   { "phase", "2", "3" },
   { "name", "{frame}", "{frame}" },
   { "startTime", "{time:ms}", "null" },
   { "endTime", "null", "{time:ms}" },
}

-- An instant marker stands first, the trace itself, so that each other one may begin with a comma.
local first = { data = "null", category = "0", phase = "0", name = "0", startTime = "0.000000",
   endTime = "null" }

local function put_lane(out, number, lane, spans, origin)
   out:write(thread:format(lanes.json(lane.title), number, lane.rows + 1))
   for _, column in ipairs(columns) do
      out:write((',\n"%s":[%s'):format(column[1], first[column[1]]))
      if column[2] == column[3] and not column[2]:find "{" then
         out:repeated("," .. column[2], lane.rows)
      else
         out:listing(spans:reader(lane.number, origin), { kind = "kind",
            templates = { open = "," .. column[2], close = "," .. column[3] } })
      end
      out:write "]"
   end
   out:write "}}"
end

-- }======

local function put_samples(out, profile, given, strings)
   out:call(core.write_firefox, profile:contexts(), { metric = given.metric, strings = strings,
      thread = "profile" })
end

---Write a profile, sampled.
---@param profile profio.Profile
---@param given table
---@param file file*
function firefox.write_profile(profile, given, file)
   local out = lanes.out(file)
   out:write(head(given.name or profile:title(), profile:notes()))
   put_samples(out, profile, given, 1)
   out:write "\n]}\n"
   return out:result()
end

-- The samples of a profile, and the calls of its lanes.
local function put_timeline(trace, profile, given, file)
   local spans, list, origin = lanes.spans(trace, given)
   if not spans then
      return nil, list, origin
   end
   local out = lanes.out(file)
   out:write(head(given.name or trace.path, profile:notes()))
   local names = out:listing(spans:frames(), ",\n{area:json}")
   put_samples(out, profile, given, names + 1)
   for number, lane in ipairs(list) do
      put_lane(out, number, lane, spans, origin)
   end
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
   local profile, message, code = lanes.profile(trace, given)
   if not profile then
      return nil, message, code
   elseif not lanes.fits(trace) then
      return firefox.write_profile(profile, given, file)
   end
   return put_timeline(trace, profile, given, file)
end

return firefox
