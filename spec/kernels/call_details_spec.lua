-- Line and parameters of calls are taken from their enters.
--
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local command = require "spec.support.command"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local xpp = require "spec.support.xpp_builder"

-- Entries of two threads whose calls nest, some of them left by a BREAK or without an enter, each
-- with a line and mostly with parameters of its own.
local function random_rows(count, longest)
   local rows, stacks, time = {}, { {}, {} }, 0
   for i = 1, count do
      local thread = math.random(2)
      local stack = stacks[thread]
      time = time + math.random(0, 2)
      local op, name
      if #stack == 0 or #stack < 6 and math.random(2) == 1 then
         op, name = "I", ("ABCDE"):sub(math.random(5)):sub(1, 1)
         stack[#stack + 1] = name
      else
         local at = math.random(8) == 1 and math.random(#stack) or #stack
         op, name = "O", math.random(30) == 1 and "ZZ" or stack[at]
         for k = #stack, name == "ZZ" and #stack + 1 or at, -1 do
            stack[k] = nil
         end
      end
      rows[i] = { thread, time, op, name, i, math.random(5) > 1
         and ("p%d "):format(i) .. ("x"):rep(math.random(0, longest)) or nil }
   end
   return rows
end

-- By the definition: each enter is looked for by thread, function and time among those that are
-- open; calls of one function at one time end in the order of a stack.
local function expected(rows)
   local open, list = {}, {}
   for _, row in ipairs(rows) do
      local thread = row[1]
      open[thread] = open[thread] or {}
      local stack = open[thread]
      if row[3] == "I" then
         stack[#stack + 1] = row
      else
         local at
         for k = #stack, 1, -1 do
            at = at or (stack[k][4] == row[4] and k or nil)
         end
         for k = #stack, at or #stack + 1, -1 do
            list[#list + 1] = { row[4] and stack[k][4], stack[k][5], stack[k][6] or false }
            stack[k] = nil
         end
         if not at then
            list[#list + 1] = { row[4], false, false }
         end
      end
   end
   for _, thread in ipairs { rows[1][1], 3 - rows[1][1] } do
      for k = #(open[thread] or {}), 1, -1 do
         list[#list + 1] = { open[thread][k][4], open[thread][k][5], open[thread][k][6] or false }
      end
   end
   return list
end

local function found(calls)
   local list = {}
   for area, line, params in calls:each("area", "line", "params") do
      list[#list + 1] = { area, line or false, params or false }
   end
   return list
end

describe("line and parameters of calls", function()
   it("are taken from the enters of calls", function()
      for seed = 1, rounds(30) do
         math.randomseed(seed)
         local rows = random_rows(math.random(1, 300), seed % 3 == 0 and 3000 or 5)
         local prf, prv = xpp.table(rows)
         local trace <close> = assert(profio.open { data = prf, memo = prv })
         assert.same(expected(rows), found(trace:calls()), "round " .. seed)
      end
   end)

   it("change no other column of calls, and exist with each option", function()
      math.randomseed(5)
      local prf, prv = xpp.table(random_rows(5000, 9))
      local trace <close> = assert(profio.open { data = prf, memo = prv })
      for _, options in ipairs { {}, { partial = "exclude" }, { recursion = "outermost" },
         { from = 100000000, to = 900000000 }, { max_depth = 3 } } do
         local plain = trace:calls(options):rows("area", "start", "stop", "net", "flags", "depth")
         local rows = trace:calls(options):rows("area", "start", "stop", "net", "flags", "depth",
            "line", "params")
         local lines = 0
         for _, row in ipairs(rows) do
            lines = lines + (row.line and 1 or 0)
            row.line, row.params = nil, nil
         end
         assert.same(plain, rows)
         assert.is_true(lines > 0)
      end
   end)

   it("show the slowest calls of a function with their keys in one view", function()
      local rows, time = {}, 0
      for i = 1, 5000 do
         local name = i % 4 == 0 and "DBSEEK" or "F"
         rows[#rows + 1] = { 1, time, "I", name, i, ("key %d"):format(i) }
         time = time + i * 7919 % 1009
         rows[#rows + 1] = { 1, time, "O", name, 0 }
      end
      local expected_rows = {}
      for i = 4, 5000, 4 do
         expected_rows[#expected_rows + 1] = { gross = i * 7919 % 1009 * 1000000, line = i,
            params = ("key %d"):format(i) }
      end
      table.sort(expected_rows, function(a, b)
         if a.gross ~= b.gross then
            return a.gross > b.gross
         end
         return a.line < b.line
      end)
      local prf, prv = xpp.table(rows)
      local trace <close> = assert(profio.open { data = prf, memo = prv })
      assert.same(table.move(expected_rows, 1, 20, 1, {}), trace:calls():where { area = "DBSEEK" }
         :sort("-gross"):limit(20):rows("gross", "line", "params"))
      local path = command.file("seek.prf", prf)
      command.file("seek.prv", prv)
      local text = command.run("profio --report calls --where area=DBSEEK --sort -gross --top 1 "
         .. "--columns line,params --output csv " .. path)
      assert.equal(("line,params\n%d,%s\n"):format(expected_rows[1].line, expected_rows[1].params),
         text)
   end)

   it("are not columns if events do not have them", function()
      local trace <close> = assert(profio.open { data =
         "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,1\n1,X,2\n" })
      local columns = table.concat(trace:calls().columns, " ")
      assert.is_nil(columns:find "line")
      assert.is_nil(columns:find "params")
   end)

   it("keep the columns that stages add after those of calls", function()
      local trace <close> = assert(profio.open { data = "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%\n"
         .. "20000000,mode,\n30000000,ON,1\n* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n"
         .. "30000000,W,00000001,1\n" })
      assert.same({ { area = "mode", handle = 0x20000000 },
         { area = "mode=ON", handle = 0x30000000, value = 1 } },
         trace:calls():with_area():rows("area", "handle", "value"))
   end)

   it("need memory only for open calls, of any length", function()
      if command.build:find("asan", 1, true) then
         return pending "the sanitizers keep memory that was freed"
      end
      local rows, long = {}, ("y"):rep(60000)
      for i = 1, 1000 do
         rows[#rows + 1] = { 1, i, "I", "F", i, long .. i }
         rows[#rows + 1] = { 1, i, "O", "F", i }
      end
      local prf, prv = xpp.table(rows)
      command.file("long.prf", prf)
      command.file("long.prv", prv)
      local script = command.file("long.lua", [[
local core, profio = require "profio.core", require "profio"
local function resident()
   local status <close> = io.open "/proc/self/status"
   return tonumber(status:read "a":match "RssAnon:%s+(%d+)")
end
local trace <close> = profio.open(arg[1])
local before, most, n = resident(), 0, 0
for _, params in core.each(trace:calls():reader(), { "line", "params" }) do
   n = n + 1
   assert(#params == 60000 + #tostring(n))
   if n % 20 == 0 then
      collectgarbage()
      most = math.max(most, resident())
   end
end
print(n, most - before)
]])
      local said, _, errors = command.run(("%s lua5.4 %s long.prf"):format(command.in_tree,
         script))
      local count, kib = said:match "^(%d+)\t(%d+)\n$"
      assert.equal("1000", count, said .. errors)
      assert.is_true(tonumber(kib) < 32 * 1024, said)
   end)
end)
