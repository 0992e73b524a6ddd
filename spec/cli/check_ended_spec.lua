-- Ctrl-C during --check.
--
-- Tags: user.

local command = require "spec.support.command"

describe("a check that is ended by Ctrl-C", function()
   before_each(function()
      command.file("long.lua", [[
         require("profio").register {
            name = "long", score = function(bytes) return bytes == "long" and 100 or 0 end,
            tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
            open = function()
               return { events = function(put)
                  for i = 1, 100000 do
                     put(i, i % 2 == 1 and "enter" or "leave", "f")
                     if i == 10000 then
                        io.popen("kill -INT $PPID"):close()
                     elseif i > 50000 then
                        error "it was read on"
                     end
                  end
               end }
            end,
         }
      ]])
      command.file("long.trace", "long")
   end)

   it("ends soon, and says that only a part was checked", function()
      local text, status, errors = command.run "profio --load long.lua --check long.trace"
      assert.equal("", text)
      assert.equal("profio: interrupted: only a part of the file was checked\n", errors)
      assert.equal(3, status)
   end)

   it("writes no file", function()
      command.file("out", "as it was")
      local _, status, errors = command.run "profio --load long.lua --check -o out long.trace"
      assert.equal("profio: interrupted: out is as it was\n", errors)
      assert.equal(1, status)
      assert.equal("as it was", command.read(command.folder .. "/out"))
   end)
end)
