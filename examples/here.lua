-- Used by all examples: finds profio in a checkout, and makes a small gmon.out if no file is
-- named.

local home = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/.."
local build = os.getenv "PROFIO_BUILD" or "build"
if build:sub(1, 1) ~= "/" then
   build = home .. "/" .. build
end
package.path = home .. "/lua/?.lua;" .. home .. "/lua/?/init.lua;" .. package.path
package.cpath = build .. "/?.so;" .. package.cpath

local profio = require "profio"

-- 64 bins of 16 bytes from 0x1000, a hot spot among them, and some calls.
local function small_trace()
   local w = assert(profio.create(nil, { format = "gmon" }))
   w:write("sets", { set = 0, low = 0x1000, high = 0x1400, bins = 64, rate = 100,
      dimension = "seconds", abbreviation = "s" })
   for bin = 0, 63 do
      local low = 0x1000 + 16 * bin
      w:write("histogram", { set = 0, bin = bin, low = low, high = low + 16,
         count = bin == 20 and 150 or bin % 5 })
   end
   w:write("arcs", { from = 0x1010, to = 0x1140, count = 12 })
   w:write("arcs", { from = 0x1150, to = 0x1200, count = 3000 })
   return { data = assert(w:close()), path = "(a small gmon.out)" }
end

---Open the trace named on the command line (an executable may follow it), or a small one.
---@return profio.Trace
local function open()
   return assert(profio.open(arg[1] or small_trace(), { exe = arg[2] }))
end

return { open = open, small_trace = small_trace }
