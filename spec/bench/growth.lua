-- Growth: `make torture-growth`, or `... growth.lua [--short] [AXIS[=ARGUMENTS]...]`. Counts the
-- cost of each report, export and mode on inputs that double along one axis, and its exponent. The
-- costs are steps of the core and of Lua (spec/c/counter.c), the largest resident set, and bytes of
-- output: all are the same at each run. Exponents above MOST are marked, and the exit status is 1,
-- unless `expected` has a reason.

local axes = require "spec.bench.growth_inputs"
local counted = require "spec.support.counted"
local exports = require "profio.internal.exporting.export_list"
local disk = require "spec.support.disk"

local MOST = 1.2

-- Allowed exponents with the reason, by axis, or by axis and command. spec/README.md has the same
-- table.
local expected = {
   packets = { 1.4, "look-ups of the file system" },
   ids = { 1.45, "ids in no order leave the cache" },
   ["variables --report histogram"] = { 1.45, "the collector of Lua" },
   ["cycle --export callgrind"] = { 1.3, "sorts" },
   ["cycle --export firefox"] = { 1.3, "sorts" },
   ["random --export callgrind"] = { 1.3, "sorts" },
   ["random --export dot"] = { 1.3, "sorts" },
   ["cycle --export dot"] = { 1.3, "sorts" },
   ["depth --export folded"] = { 2.1, "n^2 to a depth of 5,792" },
   ["frames --export folded"] = { 2.1, "n^2 to a depth of 5,792" },
   ["pprof-depth --export folded"] = { 2.1, "n^2 to a depth of 5,792" },
}

local growth = {}

-- {====== One run ======

-- Each process has its own.
local stat <close> = assert(io.open "/proc/self/stat")
local folder = ("%s/growth/%d"):format(os.getenv "PROFIO_BUILD" or "build", stat:read "n")
local child = counted.words() .. " timeout 300 lua5.4 spec/bench/growth_child.lua '" .. folder
   .. "/result' "

local function quoted(words)
   local list = {}
   for i, word in ipairs(words) do
      list[i] = "'" .. word .. "'"
   end
   return table.concat(list, " ")
end

-- Returns the cost of a command line: millions of steps, megabytes, megabytes of output; nil if it
-- fails.
local function cost(options, files)
   os.remove(folder .. "/result")
   do -- in a file, because one word of a command has at most 128 KiB
      local script <close> = assert(io.open(folder .. "/run.sh", "w"))
      script:write(("%s%s %s 2>/dev/null | wc -c > '%s/bytes'\n"):format(child, options,
         quoted(files), folder))
   end
   os.execute(("sh '%s/run.sh'"):format(folder))
   local file <close> = io.open(folder .. "/result")
   local steps, kilobytes, status = (file and file:read "a" or ""):match "(%d+) (%d+) (%d+)"
   if not steps or status ~= "0" and status ~= "3" then
      return nil
   end
   local bytes <close> = assert(io.open(folder .. "/bytes"))
   return { tonumber(steps) / 1e6, tonumber(kilobytes) / 1024, bytes:read "n" / 1e6 }
end

-- }======

-- {====== Fitting ======

local least = { 1, 8, 1 } -- what a point must cost above the smallest input to be fitted

-- Returns the exponent of a cost over sizes, without the cost of the smallest input; nil if the
-- cost is too small to be fitted.
local function exponent(points, which, base)
   local xs, ys = {}, {}
   for i = math.max(1, #points - 4), #points do
      local value = points[i].cost[which] - base[which]
      if value >= least[which] then
         xs[#xs + 1], ys[#ys + 1] = math.log(points[i].size), math.log(value)
      end
   end
   if #xs < 3 then
      return nil
   end
   local n, sx, sy, sxx, sxy = #xs, 0, 0, 0, 0
   for i = 1, n do
      sx, sy, sxx, sxy = sx + xs[i], sy + ys[i], sxx + xs[i] ^ 2, sxy + xs[i] * ys[i]
   end
   return (n * sxy - sx * sy) / (n * sxx - sx ^ 2)
end

-- }======

-- {====== One axis ======

local function made(axis, size, known)
   known[size] = known[size] or axis.make(size, ("%s/%s-%d"):format(folder, axis.name, size))
   return known[size]
end

local function words_of(command)
   local list = {}
   local pipe <close> = assert(io.popen(command))
   for line in pipe:lines() do
      list[#list + 1] = line:match "^%s*([%w%-]+)"
   end
   return list
end

-- Returns the options of all modes, reports and exports that may fit a trace.
local function all_options(files)
   local list = { "--info", "--check", "--merge -o -" }
   for _, name in ipairs(words_of("lua5.4 examples/analyze.lua --list-reports " .. quoted(files)
      .. " 2>/dev/null")) do
      list[#list + 1] = "--report " .. name
   end
   for _, export in ipairs(exports.all()) do
      list[#list + 1] = "--export " .. export.name
   end
   return list
end

---Measures one command line on inputs that double.
---@param axis table
---@param options string
---@param known table<integer, string[]> the existing files, by size
---@param longest number millions of steps after which a command is not run on a larger input; it is
---run on five at least
---@return { size: integer, cost: number[] }[] points empty: the command does not fit the trace
---@return (number|nil)[] exponents of steps, memory and output
function growth.measure(axis, options, known, longest)
   local base = cost(options, made(axis, 8, known))
   local points, size = {}, axis.first
   while base and size <= axis.most do
      local found = cost(options, made(axis, size, known))
      if not found then
         break
      end
      if #points == 0 and found[1] - base[1] < least[1] / 2 and size * 64 <= axis.most then
         size = size * 4 -- too little to be measured
      else
         points[#points + 1] = { size = size, cost = found }
         if #points >= 5 and found[1] >= longest then
            break
         end
         size = size * 2
      end
   end
   local exponents = {}
   for which = 1, 3 do
      exponents[which] = #points >= 5 and exponent(points, which, base) or nil
   end
   return points, exponents
end

local function shown(value)
   return value and ("%5.2f"):format(value) or "    -"
end

local function largest(exponents)
   return math.max(exponents[1] or 0, exponents[2] or 0, exponents[3] or 0)
end

-- }======

---Runs axes and prints a line for each command line.
---@param wanted table<string, string|true> axes by name, with the options of one command line
---@param longest number millions of steps
---@param say fun(line: string)
---@return string[] the command lines whose cost grows too fast
function growth.run(wanted, longest, say)
   local bad = {}
   os.execute("mkdir -p '" .. folder .. "'")
   say(("%-12s %-26s %8s %8s %7s %8s  %s"):format("axis", "command", "size", "M steps",
      "MB", "MB out", "exponents of steps, MB, MB out"))
   for _, axis in ipairs(axes) do
      local known = {}
      local one = wanted[axis.name]
      local options_of = one == true and (axis.options or all_options(made(axis, 8, known)))
         or { one }
      for _, options in ipairs(options_of) do
         local points, exponents = growth.measure(axis, options, known, longest)
         local last = points[#points]
         if not last and (one ~= true or axis.options) then -- it was meant to fit
            say(("%-12s %-26s fails  !"):format(axis.name, options))
            bad[#bad + 1] = ("%s %s: fails"):format(axis.name, options)
         elseif last then
            local allowed = expected[axis.name .. " " .. options] or expected[axis.name]
            local is_bad = largest(exponents) > (allowed and allowed[1] or MOST) or #points < 5
            local why = allowed and largest(exponents) > MOST and allowed[2]
            say(("%-12s %-26s %8d %8.2f %7.0f %8.1f  %s %s %s%s"):format(axis.name, options,
               last.size, last.cost[1], last.cost[2], last.cost[3], shown(exponents[1]),
               shown(exponents[2]), shown(exponents[3]),
               is_bad and "  !" or why and "  " .. why or ""))
            bad[#bad + 1] = is_bad and ("%s %s: %s"):format(axis.name, options,
               table.concat({ shown(exponents[1]), shown(exponents[2]), shown(exponents[3]) }, " "))
               or nil
         end
      end
      os.execute(("rm -rf '%s'/%s-*"):format(folder, axis.name))
   end
   disk.remove(folder)
   return bad
end

local function main()
   local wanted, longest = {}, 100
   for _, word in ipairs(arg) do
      local axis, options = word:match "^([^=]+)=(.*)$"
      if word == "--short" then
         longest = 0
      else
         wanted[axis or word] = options or true
      end
   end
   if next(wanted) == nil then
      for _, axis in ipairs(axes) do
         wanted[axis.name] = true
      end
   end
   local bad = growth.run(wanted, longest, function(line)
      print(line)
      io.stdout:flush()
   end)
   print(#bad == 0 and "every exponent is at most " .. MOST or #bad .. " above " .. MOST)
   os.exit(#bad == 0)
end

if arg and arg[0] and arg[0]:find "growth%.lua$" then
   main()
end

return growth
