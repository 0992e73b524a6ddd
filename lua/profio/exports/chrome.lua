-- Chrome trace events: what chrome://tracing, Perfetto and many others read. A trace gives its
-- calls as complete events, times in microseconds to the nanosecond, a thread for each lane.

local conditions = require "profio.conditions"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"

local chrome = {
   name = "chrome",
   help = "a timeline as Chrome trace events, for Perfetto and chrome://tracing",
   takes = "trace",
   options = lanes.with_options {},
}

chrome.fits = lanes.fits

local head = [[
{"displayTimeUnit":"ns","otherData":{"creator":%s,"trace":%s%s},"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":%s}}]]

local thread = ',\n{"ph":"M","name":"thread_name","pid":1,"tid":%d,"args":{"name":%s}}'

local event = ',\n{{"ph":"X","pid":1,"tid":%d,"name":{area:json},"ts":{start:us},' ..
   '"dur":{length:us},"args":{{"net":{net},"flags":{flags:json}}}'

-- Lanes that have names are told apart in one pass, others each in its own.
local function put_lanes(out, list, calls)
   local templates = {}
   for number, lane in ipairs(list) do
      out:write(thread:format(number, lanes.json(lane.title)))
      templates[lane.value or ""] = event:format(number)
   end
   if lanes.has_names(list) then
      out:listing(calls, { kind = "lane", templates = templates })
      return
   end
   for number, lane in ipairs(list) do
      local wanted = lane.value == nil and conditions.missing or lane.value
      out:listing(#list > 1 and calls:where { lane = wanted } or calls, event:format(number))
   end
end

---@param trace profio.Trace
---@param given table
---@param file file*
---@return integer|true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function chrome.write(trace, given, file)
   local path = lanes.json(trace.path)
   local out = lanes.out(file)
   out:write(head:format(lanes.json("profio " .. core.version), path, lanes.losses(trace), path))
   local calls = lanes.narrow(trace:calls { from = given.from, to = given.to }, given)
   put_lanes(out, lanes.of(trace, given), calls:derive { "length = stop - start" })
   out:write "\n]}\n"
   return out:result()
end

return chrome
