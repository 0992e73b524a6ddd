-- Traces of many files: the memory of a reader does not grow with their number, and a failure names
-- the file in which it is.

local command = require "spec.support.command"
local profio = require "profio"
local records = require "spec.support.winidea"
local xpp = require "spec.support.xpp_builder"

local kinds = {
   winidea = records.bytes({ { handle = 1, event = "enter", core = 0, time = 1 },
      { handle = 2, event = "enter", core = 0, time = 2 },
      { handle = 2, event = "leave", core = 0, time = 5 },
      { handle = 1, event = "leave", core = 0, time = 9 } }, records.new),
   xpp = (xpp.table { { 1, 4, "i", "MAIN", 10 }, { 1, 5, "I", "MAIN", 10 },
      { 1, 8, "O", "MAIN", 11 }, { 1, 10, "o", "MAIN", 12 } }),
}

-- Writes `count` equal files and returns a pattern of the shell for them.
local function files(kind, count)
   local folder = ("%s/many_%s_%d"):format(command.folder, kind, count)
   os.execute("rm -rf " .. folder .. " && mkdir -p " .. folder)
   for i = 1, count do
      local file <close> = assert(io.open(("%s/f%04d"):format(folder, i), "wb"))
      file:write(kinds[kind])
   end
   return folder .. "/f*"
end

-- Runs the command and prints the most memory of its process, in KB, as the last line.
local child = [[
   local status = require("profio.cli").main(arg, io.stderr)
   for line in io.lines "/proc/self/status" do
      local most = line:match "^VmHWM:%s*(%d+)"
      if most then io.stderr:write(most, "\n") end
   end
   os.exit(status)
]]

local function peak(kind, count, report)
   local program = command.file("many_files.lua", child)
   local _, status, errors = command.run(("LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;;' "
      .. "LUA_CPATH='%s/?.so;;' lua5.4 %s --report %s --format %s --output csv %s >/dev/null")
      :format(command.root, command.root, command.build, program, report, kind,
         files(kind, count)))
   assert.equal(0, status, errors)
   return tonumber(errors:match "(%d+)%s*$")
end

for kind in pairs(kinds) do
   for _, report in ipairs { "calls", "statistics" } do
      it(("--report %s opens the files of %s one after the other"):format(report, kind), function()
         local each = (peak(kind, 400, report) - peak(kind, 50, report)) / 350
         assert.is_true(each < 50, ("%.0f KB for each further file"):format(each))
      end)
   end
end

it("files that were not read yet are not read after close", function()
   local list = {}
   for i = 1, 3 do
      list[i] = { data = kinds.winidea }
   end
   local trace = assert(profio.open(list, { format = "winidea" }))
   local rows = 0
   local ok, message = pcall(function()
      for _ in trace.events:each "time" do
         rows = rows + 1
         trace:close()
      end
   end)
   assert.is_false(ok)
   assert.matches("trace is closed", message)
   assert.equal(4, rows)
end)

it("a failure names the file in which it is", function()
   files("winidea", 3)
   local list = {}
   for i = 1, 3 do
      list[i] = ("%s/many_winidea_3/f%04d"):format(command.folder, i)
   end
   local trace <close> = assert(profio.open(list, { format = "winidea" }))
   assert(io.open(list[2], "wb")):close()
   local ok, message = pcall(trace.events.count, trace.events)
   assert.is_false(ok)
   assert.matches("f0002: winidea: the file shrank", message)
end)
