-- Compare two runs: the functions that became slower, and by how much.
-- Works with all formats except dbf: lua5.4 07-compare.lua NEW OLD [PROGRAM [OLD_PROGRAM]]

local profio = require "profio"

if not arg[2] then
   error("usage: lua5.4 07-compare.lua NEW OLD [PROGRAM [OLD_PROGRAM]]", 0)
end

local function profile_of(path, program)
   local trace <close> = assert(profio.open(path, { exe = program }))
   return assert(trace:profile())
end

local new, old = profile_of(arg[1], arg[3]), profile_of(arg[2], arg[4] or arg[3])

print "all changes, the largest first:"
new:diff(old):limit(10):print()

-- The significance is the change divided by its standard error: below 2 it may be chance.
print "\nslower, and not by chance:"
local slower = new:diff(old):where { significance = profio.between(2, math.huge) }
slower:print("function", "self", "self_before", "relative")

-- Runs of different length are compared by their shares.
print "\nshares, if both had taken equally long:"
new:diff(old:normalise(new)):limit(5):print("function", "change", "relative")

os.exit(slower:count() == 0 and 0 or 4, true)
