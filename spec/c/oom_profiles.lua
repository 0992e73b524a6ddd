-- The chunks of oom.lua that compute and export profiles. The texts that they return are
-- compared with those of a run without a failure.

local core = require "profio.core"
local profio = require "profio"
local profiles = require "spec.support.profiles"
local programs = require "spec.support.programs"

local function csv(view)
   return assert(view:write { output = "csv" })
end

-- Lists of a profile, as text.
local function lists(profile, names, of)
   local texts = {}
   for _, name in ipairs(names) do
      texts[#texts + 1] = csv(profile[name](profile))
   end
   for _, name in ipairs { "callers", "callees" } do
      texts[#texts + 1] = csv(profile[name](profile, of))
   end
   return table.concat(texts, "\n")
end

local chunks = {}

local gmon, samples -- a small trace, and one with stacks

-- Symbols for it, none of them mangled.
local nm_path = os.tmpname()
do
   local file <close> = assert(io.open(nm_path, "w"))
   file:write "0000000000001000 T main\n0000000000001020 t leaf\n"
end

local program_text = [[
int leaf (int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
 sum += i % 7;
  return sum;
}
int main (void) {
  volatile int all = 0;
  for (int i = 0; i < 30000; i++)
 all += leaf(1000);
  return 0;
}
]]

-- Chunks run in processes beside each other: only the one that needs the program may
-- build it.
local program, files
for _, name in ipairs(arg and #arg > 0 and arg or { "profile_lines" }) do
   if name == "profile_lines" then
      program, files = programs.profiled("oom", programs.source("oom.c", program_text), "")
   end
end

local function of_samples()
   local trace <close> = assert(profio.open(samples))
   return assert(trace:profile())
end

local function of_graph(options)
   local trace <close> = assert(profio.open({ data = gmon }, { symbols = nm_path }))
   return assert(trace:profile(options))
end

function chunks.profile_stacks()
   local profile <close> = of_samples()
   return lists(profile, { "flat", "graph", "tree", "lines", "bottom_up" }, "g1")
end

function chunks.profile_stacks_changed()
   local profile <close> = of_samples()
   local changed = profile:focus("main"):hide("f2"):ignore("f3"):prune(0.01):scale(2)
   return csv(changed:tree()) .. csv(changed:group("file"):flat())
      .. csv(profile:group(function(frame) return frame["function"]:sub(1, 1) end):tree())
end

function chunks.profile_stacks_compared()
   local new <close> = of_samples()
   local old <close> = of_samples()
   local less <close> = new:ignore("f3")
   return csv(less:diff(old)) .. csv((less + old):normalise(1000):flat())
end

function chunks.profile_graph()
   local profile <close> = of_graph()
   return lists(profile, { "flat", "functions", "graph" }, "main")
end

function chunks.profile_graph_changed()
   local profile <close> = of_graph()
   local changed = profile:hide("leaf"):scale(3)
   return csv(changed:graph()) .. csv(profile:focus("leaf"):graph())
      .. csv(profile:ignore("main"):group("file"):flat()) .. csv(changed:diff(profile))
      .. csv((changed + profile):prune(0.01):graph())
end

function chunks.profile_lines()
   local trace <close> = assert(profio.open(files[1], { exe = program }))
   local profile <close> = assert(trace:profile { lines = true })
   return csv(profile:lines()) .. csv(profile:graph())
end

-- The index names cycles while it is read: so many that the dictionary grows for them.
function chunks.profile_cycles()
   local selves, calls, names = {}, {}, {}
   for i = 1, 200 do
      selves[i] = 1
      calls[i] = { i, i % 2 == 1 and i + 1 or i - 1, 1 }
   end
   local profile = profiles.of_calls(selves, calls)
   for _, row in ipairs(core.rows(profile:index(), { "name" })) do
      names[#names + 1] = row.name or "-"
   end
   profile:close()
   return table.concat(names, "\n")
end

---Add the chunks, which read these traces.
return function(all, ...)
   gmon, samples = ...
   for name, chunk in pairs(chunks) do
      all[name] = chunk
   end
end
