-- Names in recordings of Lua programs: each function is a row of its own, with one name in all runs
-- and all modes.
--
-- Costly: records programs many times.

local command = require "spec.support.command"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local modes <const> = { "mode=timed", "mode=calls", "mode=calls,format=xpp", "mode=aggregate",
   "mode=sampled,interval=20us" }

-- Two classes with a method of one name, handlers in tables and parameters, functions without a
-- name on one line, and a function that is called in tail position in every other round.
local program <const> = [[
local Player, Enemy, list = {}, {}, {}
function Player:update(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
Enemy.update = function(self, n) local x = 0 for i = 1, n do x = x + i % 5 end return x end
local function hot(n) local x = 0 for i = 1, n do x = x + i % 3 end return x end
list["on-hot"], list[2] = hot, function(n) for i = 1, n do n = n + i % 9 end return n end
local pair = { function(n) return hot(n) end, function(n) return hot(n * 2) end }
local function through(f, n) return f(n) end
for round = 1, 20 do
   for _, f in pairs(list) do f(2000) end
   for _, f in ipairs(pair) do through(f, 1000) end
   Player.update(Player, 2000)
   if round % 2 == 0 then Enemy.update(Enemy, 2000) else through(hot, 2000) end
end
]]

-- Returns the sorted names of the functions of a recording, and the file of each.
local function names_of(path)
   local trace <close> = assert(profio.open(path))
   local names, file_of = {}, {}
   for name, file in assert(trace:profile()):flat { zeros = true }:each("function", "file") do
      names[#names + 1], file_of[name] = name, file
   end
   table.sort(names)
   return names, file_of
end

-- Records a program with a file name as PROFIO_RECORD has it; returns the path.
local function record(source, settings, name, environment)
   local path = recorded.path(name .. (settings:find "aggregate" and ".pb.gz" or ""))
   command.file("prog.lua", source)
   local _, status, errors = command.run(("%s %s PROFIO_RECORD='%s,path=%s' ${LUA:-lua5.4} "
      .. "-l profio.recorder prog.lua"):format(command.in_tree, environment or "", settings, path))
   assert.same({ 0, "" }, { status, errors })
   return path
end

local wanted <const> = { "Enemy.update", "Player.update", "function at prog.lua:5",
   "function at prog.lua:6#1", "function at prog.lua:6#2", "hot", "ipairs", "ipairs iterator",
   "next", "pairs", "prog.lua", "through" }

describe("functions of a recorded Lua program", function()
   for _, settings in ipairs(modes) do
      it("are rows of their own with the names of their definitions: " .. settings, function()
         local names, file_of = names_of(record(program, settings, "names.out"))
         if settings:find "sampled" then
            local is_wanted = {}
            for _, name in ipairs(wanted) do
               is_wanted[name] = true
            end
            for _, name in ipairs(names) do
               assert.is_true(is_wanted[name] or file_of[name] ~= "prog.lua", name)
            end
         else
            assert.same(wanted, names)
         end
         if not settings:find "xpp" then
            assert.equal("prog.lua", file_of["Enemy.update"])
         end
      end)
   end

   it("have their line in a timeline", function()
      local trace <close> = recorded.trace(program, "mode=calls")
      local lines = {}
      for name, file, line in trace.areas:each("name", "file", "line") do
         lines[name] = file == "prog.lua" and line or nil
      end
      assert.same({ 2, 3, 4, 5, 6, 7 }, { lines["Player.update"], lines["Enemy.update"], lines.hot,
         lines["function at prog.lua:5"], lines["function at prog.lua:6#2"], lines.through })
      for _, record_of in ipairs(trace:call_statistics():rows()) do
         assert.is_nil(record_of.value)
      end
   end)

   it("have other names in each file if the format knows them by their names only", function()
      command.file("one.lua", "return { run = function() end }")
      command.file("two.lua", "local x = 1 return { run = function() end }")
      local trace <close> = recorded.trace(
         "local a, b = require 'one', require 'two' a.run() b.run() b.run()",
         "mode=calls,format=xpp")
      local counts = recorded.calls(trace)
      assert.same({ 1, 2 }, { counts.run, counts["run at two.lua:1"] })
   end)

   it("are the same program with a line more, in another folder", function()
      for _, settings in ipairs { "mode=calls", "mode=timed", "mode=aggregate" } do
         local base, new = {}, {}
         for i = 1, 3 do
            base[i] = record(program, settings, "base-" .. i)
            new[i] = record("-- more\n" .. program, settings, "new-" .. i)
         end
         for _, by in ipairs { "function", settings == "mode=calls" and "area" or "stack" } do
            local text, status, errors = command.run(("profio compare --by %s %s --new %s "
               .. "--output csv --columns %s,verdict"):format(by, table.concat(base, " "),
               table.concat(new, " "), by))
            assert.same({ 0, "" }, { status, errors })
            for name, verdict in text:gmatch "([^\n]*),(%a+)\n" do
               assert.is_true(verdict ~= "gone" and verdict ~= "new" and verdict ~= "moved",
                  ("%s %s: %s is %s"):format(settings, by, name, verdict))
            end
         end
         local text = command.run(("profio --diff %s %s --report diff --output csv "
            .. "--columns function,relative"):format(base[1], new[1]))
         assert.is_nil(text:find("prog.lua:6#", 1, true))
         assert.is_truthy(text:find("prog.lua:7#2", 1, true), text)
      end
   end)

   it("keep their names when the order of tables changes", function()
      local text = "package.loaded['my.compat'] = { load = load, pack = table.pack }\n"
         .. "package.loaded['my.utils'] = { load = load, remove = table.remove }\n"
         .. "for i = 1, 10 do load('return 1') table.remove {} end\n"
      for i = 1, 6 do
         assert.same({ "load", "prog.lua", "table.remove" },
            names_of(record(text, "mode=calls", "seeds-" .. i)))
      end
   end)
end)
