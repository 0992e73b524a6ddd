-- Calls that a BREAK left: random programs whose true net times are known.

local profio = require "profio"
local rounds = require "spec.support.rounds"
local xpp = require "spec.support.xpp_builder"

local names = { "TID", "TIME", "OP", "MSG", "LINE" }

-- Functions with lines of their own, in `files` source files whose lines begin at 1 each.
local function functions_of(random, files)
   local list, last = {}, {}
   for i = 1, 14 do
      local file = i % files
      local first = (last[file] or 0) + random(5)
      last[file] = first + random(10, 40)
      list[i] = { name = i == 1 and "MAIN" or ("F%02d"):format(i), first = first,
         last = last[file] }
   end
   return list
end

-- A run of `threads` threads, in whose steps a function calls, returns, or is left by a BREAK
-- (`breaks` of 1000 steps). Returns rows, the true net times by name, and their sum in ms.
local function run(random, files, breaks, threads)
   local functions, rows, net, time, stacks = functions_of(random, files), {}, {}, 0, {}
   local function put(thread, op, f, line)
      rows[#rows + 1] = { thread, time, op, f.name, line }
   end
   local function pass(milliseconds)
      for thread = 1, threads do
         local top = stacks[thread][#stacks[thread]]
         net[top.name] = (net[top.name] or 0) + milliseconds
      end
      time = time + milliseconds
   end
   local function leave(thread)
      local stack = stacks[thread]
      local f = table.remove(stack)
      put(thread, "O", f, f.last)
      if #stack > 0 then
         local caller = stack[#stack]
         put(thread, "o", f, random(caller.first, caller.last))
      end
   end
   for thread = 1, threads do
      stacks[thread] = { functions[1] }
      put(thread, "I", functions[1], functions[1].first)
   end
   for _ = 1, 3000 do
      local thread = random(threads)
      local stack = stacks[thread]
      pass(random(10) == 1 and 50 or random(0, 5))
      if random(100) <= 52 and #stack < 9 then
         local caller, f = stack[#stack], functions[random(2, #functions)]
         put(thread, "i", f, random(caller.first, caller.last))
         put(thread, "I", f, f.first)
         stack[#stack + 1] = f
      elseif #stack > 1 then
         leave(thread)
      end
      if random(1000) <= breaks and #stack > 2 then -- soon after the last row of the thread
         pass(random(0, 5))
         local caught = random(#stack - 1)
         while #stack > caught do
            table.remove(stack)
         end
      end
   end
   for thread = 1, threads do
      while #stacks[thread] > 0 do
         leave(thread)
      end
   end
   return rows, net, time * threads
end

local function open(rows, options)
   return assert(profio.open({ data = xpp.text(rows, { names = names, columns = 5 }) }, options))
end

-- Half of the sum of the differences between computed and true net times, as a share.
local function error_of(trace, net, total)
   local sum = 0
   for row in trace:call_statistics { quantiles = "" }:records() do
      sum = sum + math.abs(row.net / 1000000 - (net[row.area] or 0))
      net[row.area] = nil
   end
   for _, missed in pairs(net) do
      sum = sum + missed
   end
   return sum / 2 / total
end

local function codes(trace)
   local list = {}
   for _, warning in ipairs(trace.warnings) do
      list[#list + 1] = warning.code
   end
   return table.concat(list, " ")
end

describe("the net times of a program with BREAKs", function()
   it("are right to 0.5 % if its functions are of one source file", function()
      for round = 1, rounds(50) do
         math.randomseed(round)
         local rows, net, total = run(math.random, 1, 5, 1 + round % 3)
         local trace <close> = open(rows)
         local deviation = error_of(trace, net, total)
         assert.is_true(deviation <= 0.005, ("round %d: %.2f %%"):format(round, deviation * 100))
         assert.equal("", codes(trace))
      end
   end)

   it("are exact without BREAKs, also if lines overlap", function()
      for round = 1, rounds(20) do
         math.randomseed(round)
         local rows, net, total = run(math.random, 1 + round % 2 * 2, 0, 1 + round % 3)
         local trace <close> = open(rows)
         assert.equal(0.0, error_of(trace, net, total), "round " .. round)
         assert.equal("", codes(trace))
      end
   end)

   it("have a note if functions are of three source files", function()
      local sum = 0
      for round = 1, rounds(50) do
         math.randomseed(round)
         local rows, net, total = run(math.random, 3, 5, 1 + round % 3)
         local trace <close> = open(rows)
         sum = sum + error_of(trace, net, total)
         assert.matches("^xpp%-break", codes(trace), "round " .. round)
         assert.matches("^BREAK left %d+ calls; [%d.]+ %% of the time is after them and may "
            .. "belong to other functions: %d+ of 14 functions have lines that others have",
            trace.warnings[1].message)
      end
      assert.is_true(sum / rounds(50) < 0.1)
   end)
end)

describe("a trace with a BREAK", function()
   local rows = { { 1, 0, "I", "MAIN", 1 }, { 1, 10, "i", "F", 5 }, { 1, 10, "I", "F", 20 },
      { 1, 30, "i", "G", 6 }, { 1, 30, "I", "G", 40 }, { 1, 50, "O", "G", 49 },
      { 1, 50, "o", "G", 6 }, { 1, 90, "O", "MAIN", 9 } }

   local function nets(trace)
      local list = {}
      for area, net, flags in trace:calls():each("area", "net", "flags") do
         list[#list + 1] = ("%s %d %s"):format(area, net // 1000000, flags or "-")
      end
      return table.concat(list, ", ")
   end

   it("shows by the line of the next call who caught it", function()
      local trace <close> = open(rows)
      assert.equal("F 0 unwound, G 20 -, MAIN 70 -", nets(trace))
      assert.equal("", codes(trace))
      local list = {}
      for row in trace.entries:unfilter():records() do
         list[#list + 1] = row.flags and row.call .. " " .. row.time // 1000000 or nil
      end
      assert.same({ "F 10" }, list)
   end)

   it("shows by the line of a return which of the recursive calls it left", function()
      local trace <close> = open { { 1, 0, "I", "MAIN", 1 }, { 1, 10, "i", "F", 5 },
         { 1, 10, "I", "F", 20 }, { 1, 20, "i", "F", 22 }, { 1, 20, "I", "F", 20 },
         { 1, 50, "O", "F", 29 }, { 1, 50, "o", "F", 6 }, { 1, 60, "i", "G", 7 },
         { 1, 60, "I", "G", 40 }, { 1, 70, "O", "G", 49 }, { 1, 70, "o", "G", 7 },
         { 1, 90, "O", "MAIN", 9 } }
      assert.equal("F 30 unwound, F 10 -, G 10 -, MAIN 40 -", nets(trace))
   end)

   it("has a note without lines, without I and O, or while it is followed", function()
      local bare, outer = {}, {}
      for i, row in ipairs(rows) do
         bare[i] = { table.unpack(row, 1, 4) }
         local is_pair = row[4] ~= "MAIN" and row[3]:match "[IO]"
         outer[#outer + 1] = not is_pair and { row[1], row[2], row[3]:lower(), row[4], row[5] }
            or nil
      end
      local trace <close> = assert(profio.open({ data = xpp.text(bare,
         { names = { table.unpack(names, 1, 4) }, columns = 4 }) }, {}))
      assert.equal("G 20 -, F 20 unwound, MAIN 50 -", nets(trace))
      assert.matches("^BREAK left 1 calls; 88.9 %% of .*no lines of functions",
         trace.warnings[1].message)
      local filtered <close> = open(outer)
      assert.equal("G 20 -, F 20 unwound, MAIN 50 -", nets(filtered))
      assert.matches("no lines of functions", filtered.warnings[1].message)
      local live <close> = open(rows, { live = true })
      assert.equal(8, #live.entries:rows())
      assert.equal("F 0 unwound, G 20 -", nets(live):match "^F.-%-")
   end)
end)
