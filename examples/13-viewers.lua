-- A profile for every viewer: two runs of a program compared, and what changed as a flame graph.
-- Works with all formats except dbf: lua5.4 13-viewers.lua [FOLDER [NEW OLD]]

local profio = require "profio"

-- Two runs of a small program, recorded as folded stacks: "main;parse 1200" is ns.
local runs = {
   "main;parse;read 5000\nmain;parse 21000\nmain;print 9000\nmain 1000\n",
   "main;parse;read 5200\nmain;parse 14000\nmain;print;flush 3000\nmain;print 9000\nmain 1000\n",
}

profio.register {
   name = "stacks", help = "folded stacks, ns",
   score = function(bytes)
      return bytes:find "^main;" and 50 or 0
   end,
   tables = { samples = { { "stack", "name" }, { "spent", "int" } } },
   profile = { table = "samples", folded = "stack",
      metrics = { { name = "time", unit = "ns", column = "spent" } } },
   open = function(source)
      return { samples = function(put)
         for line in source:lines() do
            local stack, spent = line:match "^(.*) (%d+)$"
            put(stack, math.tointeger(spent))
         end
      end }
   end,
}

local function profile_of(path, run)
   local trace <close> = assert(profio.open(path or { data = run, path = "(a small run)" }))
   return assert(trace:profile())
end

local new, old = profile_of(arg[2], runs[1]), profile_of(arg[3], runs[2])

-- What changed, the largest change first; runs of different length are compared by their shares.
new:diff(old:normalise(new)):limit(10):print()

local folder = arg[1]
if folder then
   for kind, name in pairs { pprof = "new.pb.gz", speedscope = "new.speedscope.json",
      callgrind = "callgrind.out.new", folded = "new.folded", firefox = "new.firefox.json",
      html = "new.html", dot = "new.dot", cpuprofile = "new.cpuprofile" } do
      assert(new:export(kind, folder .. "/" .. name))
   end
   assert((new - old):export("svg", folder .. "/change.svg"))
end
