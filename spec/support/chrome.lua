-- A strict reader of Chrome trace events.

local json = require "dkjson"

local chrome = {}

-- Converts a text of microseconds with three decimals to nanoseconds.
local function ns_of(text)
   local us, rest = text:match "^(%-?%d+)%.(%d%d%d)$"
   return math.tointeger(us) * 1000 + math.tointeger(rest)
end

---Returns the calls of a text by thread, in the order of their ends, with times in whole
---nanoseconds; the names of threads; and the counters by name. Raises if an end does not match the
---last begin, or if times decrease.
---@param text string
---@return table seen { threads =, titles =, counters =, decoded = }
function chrome.read(text)
   local seen = { threads = {}, titles = {}, counters = {}, decoded = assert(json.decode(text)) }
   local stacks, times, at, last = {}, {}, 0, {}
   for ts in text:gmatch '"ts":([^,}]*)' do
      times[#times + 1] = ns_of(ts)
   end
   for _, event in ipairs(seen.decoded.traceEvents) do
      local tid, time = event.tid, nil
      if event.ts then
         at = at + 1
         time = times[at]
      end
      if event.ph == "B" or event.ph == "E" then
         assert(time >= (last[tid] or time), "time goes back")
         last[tid], stacks[tid] = time, stacks[tid] or {}
      end
      if event.ph == "B" then
         table.insert(stacks[tid], { name = event.name, start = time, depth = #stacks[tid] + 1 })
      elseif event.ph == "E" then
         local one = assert(table.remove(stacks[tid]), "an end without begin")
         assert(one.name == event.name, "an end of what did not begin last")
         one.stop, one.net, one.flags = time, event.args.net, event.args.flags
         seen.threads[tid] = seen.threads[tid] or {}
         table.insert(seen.threads[tid], one)
      elseif event.ph == "C" or event.ph == "i" then
         seen.counters[event.name] = seen.counters[event.name] or {}
         table.insert(seen.counters[event.name], { time, event.ph == "C" and event.args.value })
      elseif event.name == "thread_name" then
         seen.titles[tid] = event.args.name
      end
   end
   for _, stack in pairs(stacks) do
      assert(#stack == 0, "a begin without end")
   end
   return seen
end

return chrome
