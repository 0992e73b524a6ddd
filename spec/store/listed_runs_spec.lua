-- profio store ls: of many runs those that are wanted are chosen by the store, the same ones that
-- the whole list has.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-listed"

-- Adds runs with these times.
local function add(path, times)
   local store <close> = assert(profio.store(path))
   local list = {}
   for i, time in ipairs(times) do
      list[i] = assert(store:prepare(assert(profio.open { data = stored.pprof({ main = i },
         { time_nanos = time }) }), { labels = { v = "v" .. i % 3 } }))
   end
   assert(store:write(list))
end

-- Returns the lines of a list without its head, and the messages.
local function listed(words)
   local text, status, errors = command.run(("cd '%s' && profio store ls --columns run,time %s")
      :format(folder, words))
   assert.equal(0, status, errors)
   local lines = {}
   for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
   end
   return { table.unpack(lines, 2) }, errors
end

describe("profio store ls", function()
   setup(function()
      disk.fresh(folder)
      math.randomseed(50)
      local times = {}
      for i = 1, 1003 do
         times[i] = math.random(400) * 1000000000 -- many are equal
      end
      add(folder .. "/many.db", times)
      add(folder .. "/few.db", { table.unpack(times, 1, 1000) })
   end)

   it("has the first runs of the list that --sort and --top have of all", function()
      for _, words in ipairs { "--sort time", "--sort -time", "--sort run", "--sort -run",
         "--sort -bytes", "--run v=v1 --sort -time", "", "--run v=v1" } do
         local whole = listed(words .. " --output csv many.db")
         for _, count in ipairs { 0, 1, 7, 300, 2000 } do
            local some, errors = listed(("%s --top %d --output csv many.db"):format(words, count))
            assert.same({ table.unpack(whole, 1, math.min(count, #whole)) }, some, words)
            assert.equal("", errors)
         end
      end
   end)

   it("shows 1,000 of more runs, the latest, and says so", function()
      local shown, errors = listed "--wide many.db"
      assert.equal(1000, #shown)
      assert.matches("note: 1000 of 1003 runs are shown, those with the latest times: .*%-%-top N",
         errors)
      local has = {}
      for _, line in ipairs(shown) do
         has[line:match "^%x+"] = true
      end
      for i, line in ipairs((listed "--sort -time --output csv many.db")) do
         assert.equal(i <= 1000, has[line:match "^%x+"] or false)
      end
      shown, errors = listed "--sort run many.db"
      assert.equal(1000, #shown)
      assert.matches("1000 of 1003 runs are shown, the first of %-%-sort run: ", errors)
      for words, count in pairs { ["few.db"] = 1000, ["--output csv many.db"] = 1003,
         ["--run v=v1 many.db"] = 335, ["--where 'bytes>0' many.db"] = 1003,
         ["--top 2000 many.db"] = 1003 } do
         shown, errors = listed(words)
         assert.equal(count, #shown, words)
         assert.equal("", errors)
      end
   end)

   it("refuses wrong options of the table", function()
      for option, message in pairs { ["most_by=path"] = "most_by is run or an attribute",
         ["most=-1"] = "most must be 0 or more" } do
         local _, status, errors = command.run(("cd '%s' && profio view runs --set %s few.db")
            :format(folder, option))
         assert.matches(message, errors)
         assert.not_equal(0, status)
      end
   end)
end)
