-- Measures opening, reading and ranking a large profile of counts. The reference is a C loop that
-- maps the file and adds up its counts: loops.c.

local loops = require "bench.loops"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local MEGABYTES = 256
local SHOWN = 20

-- Returns a function that opens the profile and works on it.
local function opened(path, f)
   return function()
      local trace <close> = assert(profio.open(path))
      f(trace)
   end
end

local function check(sum, expected)
   assert(sum == expected, "the sums differ")
end

--- Sums, sums by image, and the addresses with most samples.
function bench.counts()
   local path = timing.folder .. "/large.dcpi"
   assert(os.execute(("%s/counts %s %d"):format(timing.folder, path, MEGABYTES)))
   local expected = loops.add(path)
   local times = timing.functions({
      function() check(loops.add(path), expected) end,
      opened(path, function(trace)
         check(trace.samples:aggregate { "n = sum(count)" }:rows()[1].n, expected)
      end),
      opened(path, function(trace)
         check(trace.samples:group "image":aggregate { "n = sum(count)" }:sort "-n":rows()[1].n,
            expected)
      end),
      opened(path, function(trace)
         assert(#trace.samples:sort "-count":limit(SHOWN):rows("address", "count") == SHOWN)
      end),
   }, 5)
   timing.print("\na DCPI profile of %d MB, opened and read", MEGABYTES)
   timing.print("%-34s %8.1f ms", "the C loop", times[1] * 1e3)
   for i, label in ipairs { "sum", "images by their sums", "addresses with most samples" } do
      timing.print("%-34s %8.1f ms %8.2f x", label, times[i + 1] * 1e3, times[i + 1] / times[1])
   end
   os.remove(path)
end

return bench
