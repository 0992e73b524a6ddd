-- Files of profilers that take samples in time, with stacks that change at random.

local br = require "spec.support.br_builder"

local sampled = {}

-- Returns a stack that differs from another one as the next sample of a thread does.
local function changed(stack)
   local list = table.move(stack, 1, #stack, 1, {})
   if #list > 1 and math.random(3) == 1 then
      list[#list] = nil
   elseif #list < 8 and math.random(2) == 1 then
      list[#list + 1] = "f" .. math.random(6)
   end
   return list
end

---Returns the text of `perf script` with two events of two threads.
---@param count integer
---@param step number|nil ms from one sample to the next; default: 1
---@return string
function sampled.perf(count, step)
   local texts, stacks = {}, { { "main" }, { "main" } }
   for i = 1, count do
      local thread = math.random(2)
      stacks[thread] = changed(stacks[thread])
      local event, period = "cpu-clock", 1000000
      if i > 1 and (i == 2 or math.random(3) == 1) then -- of all files in one order
         event, period = "page-faults", math.random(50)
      end
      texts[#texts + 1] = ("work%d 7/%d [000] %.6f: %d %s:"):format(thread, 10 + thread,
         5 + i * (step or 1) / 1000 + math.random(0, 900) / 1000000, period, event)
      for at = #stacks[thread], 1, -1 do
         texts[#texts + 1] = ("\t    %x %s+0x10 (/bin/work)"):format(16 * at, stacks[thread][at])
      end
      texts[#texts + 1] = ""
   end
   return table.concat(texts, "\n") .. "\n"
end

---Returns a profile of V8.
---@param count integer
---@return string
function sampled.v8(count)
   local nodes, samples, deltas = {}, {}, {}
   for id = 1, 30 do
      nodes[id] = ('{"id":%d,"callFrame":{"functionName":"f%d","url":"a.js","lineNumber":%d,'
         .. '"columnNumber":0}%s}'):format(id, id % 9, id % 9, id > 1 and (',"parent":%d')
         :format(id // 3 + (id == 2 and 1 or 0)) or "")
   end
   for i = 1, count do
      samples[i], deltas[i] = math.random(30), math.random(0, 2000)
   end
   return ('{"nodes":[%s],"startTime":1000,"endTime":%d,"samples":[%s],"timeDeltas":[%s]}'):format(
      table.concat(nodes, ","), 1000 + count * 1100, table.concat(samples, ","),
      table.concat(deltas, ","))
end

---Returns a TIMED profile of Business Rules!: the time of each line.
---@param count integer
---@param longest integer|nil ns of a line, at most; default: 3000
---@return string
function sampled.br(count, longest)
   local out, stack = br():module(1, "A.BR"), { "main" }
   for _ = 1, count do
      stack = changed(stack)
      for at = #stack, 1, -1 do
         if at == #stack then
            out:line(1, at, 1)
         else
            out:back(1, at, 1)
         end
         if at == 1 then
            out:main()
         else
            out:fn(stack[at])
         end
         if at == #stack then
            out:time(math.random(0, longest or 3000))
         end
      end
      out:stop()
   end
   return out:bytes()
end

return sampled
