-- A file that shrinks while it is read, and one that is not as its format says: whatever reads it
-- ends with an error, and the command with status 1.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands.

local command = require "spec.support.command"
local core = require "profio.core"
local disk = require "spec.support.disk"
local profio = require "profio"
local records = require "spec.support.winidea"
local traces = require "profio.internal.trace"

local folder = command.folder .. "/shrunk"
local path = folder .. "/t.txt"

local EVENTS = 60000 -- 1.4 MB: read in parts, and in two threads

-- A timeline of calls of two functions; from event `odd` on with a type that there is not.
local function write(odd)
   local list, h, events = {}, { 1, 2, 2, 1 }, { "enter", "enter", "leave", "leave" }
   for i = 1, EVENTS do
      local k = (i - 1) % 4 + 1
      list[i] = { handle = h[k], event = events[k], core = 0, time = i * 100 }
   end
   local bytes = records.bytes(list, records.new)
   if odd then
      bytes = bytes:sub(1, odd * 24 + 4) .. "\15" .. bytes:sub(odd * 24 + 6)
   end
   command.file("shrunk/t.txt", "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000001,f,\n"
      .. "00000002,g,\n")
   command.file("shrunk/t.txt.BIN", bytes)
end

local readings = {
   each = function(trace) for _ in trace.timeline:each "time" do end end,
   rows = function(trace) trace.timeline:rows() end,
   sort = function(trace) trace.timeline:sort("-time"):limit(3):rows() end,
   group = function(trace) trace.timeline:group("area"):aggregate { "s = sum(time)" }:rows() end,
   csv = function(trace) return trace.timeline:write { output = "csv" } end,
   calls = function(trace) trace:calls():count() end,
   statistics = function(trace) trace:call_statistics():rows() end,
   profile = function(trace) return trace:profile() end,
   save = function(trace) return trace:save(folder .. "/saved.txt") end,
}

for _, kind in ipairs(require "spec.support.kinds") do
   readings["export " .. kind] = function(trace)
      return trace:export(kind, folder .. "/exported")
   end
end

before_each(function()
   disk.fresh(folder)
   write()
end)

teardown(function()
   disk.remove(folder)
end)

describe("a file that shrinks", function()
   for name, reading in pairs(readings) do
      it("is an error: " .. name, function()
         local trace <close> = assert(profio.open(path))
         assert(os.execute(("truncate -s 30000 %s.BIN"):format(path)))
         local done, result, message = pcall(reading, trace)
         assert.matches("the file shrank or failed while it was read", done and message or result)
         assert.is_nil(io.open(folder .. "/exported"))
         assert.is_nil(io.open(folder .. "/saved.txt"))
      end)
   end

   it("is an error with its name also for a reader that begins in the middle", function()
      local trace <close> = assert(profio.open(path))
      local part = traces.of(trace).parts[1]
      assert(os.execute(("truncate -s 30000 %s.BIN"):format(path)))
      assert.is_false(pcall(readings.rows, trace))
      for _, read in ipairs { function() return part:reader("timeline", 40000, 100) end,
         function() return core.rows(part:reader "timeline") end } do
         local done, message = pcall(read)
         assert.is_false(done)
         assert.equal(path .. ": winidea: the file shrank or failed while it was read", message)
         assert.equal(message, core.unread())
      end
   end)

   it("ends the command with status 1", function()
      local script = command.file("shrunk/shrink.lua", ([[
         local core = require "profio.core"
         local reader = core.open
         core.open = function(...)
            local part, message, code = reader(...)
            os.execute "truncate -s 30000 %s.BIN"
            return part, message, code
         end]]):format(path))
      for _, words in ipairs { "--report statistics", "--report load", "--report flat",
         "--report calls", "--report tree", "--report histogram", "--export btf",
         "--export chrome", "--export html", "--group area", "--table timeline",
         "--merge" } do
         write()
         local _, status, errors = command.run(("cd shrunk && profio --load %s %s t.txt"):format(
            script, words))
         assert.matches("the file shrank or failed while it was read", errors, words)
         assert.equal(1, status, words)
      end
   end)
end)

describe("a file with damage", function()
   it("ends the command with status 1 in strict mode", function()
      write(EVENTS - 1000)
      for _, words in ipairs { "--report statistics", "--report load", "--report flat",
         "--report calls", "--report histogram", "--export btf", "--export html", "--merge",
         "--table timeline --output csv" } do
         local _, status, errors = command.run("cd shrunk && profio --strict " .. words .. " t.txt")
         assert.matches("an event of type 0 to 4 expected", errors, words)
         assert.equal(1, status, words)
      end
   end)
end)
