-- Measures commands through measure.c, and functions by the clock, each in turn
-- with its reference, and prints the medians.

local loops = require "bench.loops"

local timing = {}

local build = os.getenv "PROFIO_BUILD" or "build"
timing.folder = build .. "/bench"

---@class bench.Result
---@field seconds number? the median, nil when the command did not succeed
---@field cpu number? the median of the processor time in seconds, of all threads
---@field megabytes number? the largest resident set
---@field status integer exit status, or 128 + the signal that ended it

local function read_line(command)
   local pipe <close> = assert(io.popen(command))
   return pipe:read "l"
end

local function measured(command)
   local line = read_line(timing.folder .. "/measure " .. command)
   local seconds, kilobytes, status, cpu = line:match "^(%S+) (%d+) (%d+) (%S+)$"
   return tonumber(seconds), tonumber(kilobytes) / 1024, math.tointeger(tonumber(status)),
      tonumber(cpu)
end

--- Returns the median of numbers, which are sorted: the lower of two.
---@param list number[]
---@return number
function timing.median(list)
   table.sort(list)
   return list[(#list + 1) // 2]
end

local function summary(runs)
   local seconds, cpu, megabytes, status = {}, {}, 0, 0
   for _, run in ipairs(runs) do
      seconds[#seconds + 1], cpu[#cpu + 1] = run.seconds, run.cpu
      megabytes = math.max(megabytes, run.megabytes)
      status = math.max(status, run.status)
   end
   if status ~= 0 then
      return { status = status }
   end
   return { seconds = timing.median(seconds), cpu = timing.median(cpu), megabytes = megabytes,
      status = 0 }
end

--- Runs commands in turn: twice if one run takes more than two seconds, else five
--- times.
---@param commands string[]
---@param before fun()|nil called before each run
---@return bench.Result[] one for each command
function timing.commands(commands, before)
   local runs = {}
   for round = 1, 5 do
      for i, command in ipairs(commands) do
         local mine = runs[i] or {}
         runs[i] = mine
         if round <= 2 or mine[1].seconds < 2 then
            if before then
               before()
            end
            local seconds, megabytes, status, cpu = measured(command)
            mine[round] = { seconds = seconds, megabytes = megabytes, status = status, cpu = cpu }
         end
      end
   end
   local results = {}
   for i, mine in ipairs(runs) do
      results[i] = summary(mine)
   end
   return results
end

--- Runs functions in turn and returns the median seconds of each.
---@param functions function[]
---@param rounds integer
---@return number[]
function timing.functions(functions, rounds)
   local times = {}
   for _ = 1, rounds do
      for i, f in ipairs(functions) do
         collectgarbage()
         local began = loops.now()
         f()
         times[i] = times[i] or {}
         table.insert(times[i], loops.now() - began)
      end
   end
   local medians = {}
   for i, list in ipairs(times) do
      medians[i] = timing.median(list)
   end
   return medians
end

--- Write NAME.elf, NAME.nm and NAME.gmon with trace.c.
---@return string path without the ending
function timing.make(name, symbols, text, arcs, shape)
   local path = timing.folder .. "/" .. name
   local command = ("%s/trace %s %d %d %d %s"):format(timing.folder, path, symbols, text,
      arcs, shape)
   assert(os.execute(command), "cannot make " .. path)
   timing.settle()
   return path
end

--- Flushes written data to the disk, which would otherwise be written during a measurement.
function timing.settle()
   os.execute "sync"
end

--- Removes the files of timing.make.
function timing.remove(path)
   for _, ending in ipairs { ".elf", ".nm", ".gmon" } do
      os.remove(path .. ending)
   end
end

function timing.print(...)
   print(string.format(...))
   io.stdout:flush()
end

return timing
