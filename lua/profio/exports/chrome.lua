-- Chrome trace events for chrome://tracing, Perfetto and many others. Each lane is a thread, and so
-- are the states of each variable; writes of a variable are a counter. Times are in microseconds,
-- exact to the nanosecond.
--
-- Calls are pairs of events (B, E) in the order in which they happened. Complete events (X) that
-- begin at the same time or have no duration would not tell a viewer which one contains the other.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"

local chrome = {
   name = "chrome",
   help = "a timeline as Chrome trace events, for Perfetto and chrome://tracing",
   takes = "trace",
   options = lanes.with_chains {},
}

chrome.fits = lanes.fits

local LARGEST = 1 << 53 -- JSON readers represent integers exactly below it

local head = [[
{"displayTimeUnit":"ns","otherData":{"creator":%s,"trace":%s%s%s},"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":%s}}]]

local thread = ',\n{"ph":"M","name":"thread_name","pid":1,"tid":%d,"args":{"name":%s}}' ..
   ',\n{"ph":"M","name":"thread_sort_index","pid":1,"tid":%d,"args":{"sort_index":%d}}'

local open = ',\n{{"ph":"B","pid":1,"tid":%d,"name":{name:json},"ts":{time:us}}'
local close = ',\n{{"ph":"E","pid":1,"tid":%d,"name":{name:json},"ts":{time:us},' ..
   '"args":{{"net":{net:json},"flags":{flags:json}}}'

local counter = ',\n{{"ph":"C","pid":1,"name":%s,"ts":{time:us},"args":{{"value":{%s:json}}}'
local instant = ',\n{{"ph":"i","s":"p","pid":1,"tid":0,"name":%s,"ts":{time:us}}'

-- Viewers count from 0 in doubles: if the first time is negative or too large for them, the origin
-- is written to `otherData`.
local function origin_of(first, length)
   if first >= 0 and first + length < LARGEST then
      return 0, ""
   end
   return first, (',"origin_ns":"%d"'):format(first)
end

-- Writes the calls of a track as threads from `tid` on: deep calls are in threads of their own.
-- Returns the next tid.
local function put_threads(out, tid, track, spans, origin)
   local readers, titles = lanes.layers(spans, track)
   for layer, rows in ipairs(readers) do
      out:write(thread:format(tid, lanes.json(titles[layer]), tid, tid))
      out:listing(rows, { kind = "kind", origin = origin,
         templates = { open = open:format(tid), close = close:format(tid) } })
      tid = tid + 1
   end
   return tid
end

-- Writes the counters of variables: one scan over writes with a value, and one over the others.
local function put_counters(out, trace, given, variables, origin)
   if #variables == 0 then
      return
   end
   local values, instants = {}, {}
   local writes, others, column = lanes.writes(trace, given)
   for _, track in ipairs(variables) do
      local literal = lanes.json(track.title):gsub("{", "{{")
      values[track.area] = values[track.area] or column and counter:format(literal, column)
      instants[track.area] = instants[track.area] or instant:format(literal)
   end
   if column then
      out:listing(writes, { kind = "area", templates = values, origin = origin })
   end
   out:listing(others, { kind = "area", templates = instants, origin = origin })
end

---@param trace profio.Trace
---@param given table
---@param file file*
---@return integer|true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function chrome.write(trace, given, file)
   local spans, tracks, first, length = lanes.spans(trace, given,
      { lines = true, variables = true })
   if not spans then
      return nil, tracks, first
   end
   local origin, words = origin_of(first, length)
   local path, out, variables = lanes.json(trace.path), lanes.out(file), {}
   out:write(head:format(lanes.json("profio " .. core.version), path, words,
      lanes.losses(trace:losses()), path))
   local tid = 1
   for _, track in ipairs(tracks) do
      if track.kind == "values" then
         variables[#variables + 1] = track
      else
         tid = put_threads(out, tid, track, spans, origin)
      end
   end
   put_counters(out, trace, given, variables, origin)
   out:write "\n]}\n"
   return out:result()
end

return chrome
