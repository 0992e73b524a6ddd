-- Emitters of files without a ring; ring_spec.lua has those with a ring.
--
-- Tags: user.

local lfs = require "lfs"
local profio = require "profio"

describe("an emitter without a ring", function()
   it("checks each value, and counts rows", function()
      local w = assert(profio.create(nil, { format = "br" }))
      local emit = w:emitter("module", "line")
      emit("A.BR", 1)
      assert.error_matches(function()
         emit("A.BR", -1)
      end, "a line is %-1")
      assert(w:flush())
      assert(w:dump())
      assert.same({ tried = 1, written = 1, lost = 0, rounded = 0 }, w:facts())
      assert.equal("\1\0\1\0\4A.BR\3\0\1\0\0\0\1\0\6", w:close())
      assert.error_matches(function() w:facts() end, "writer is closed")
   end)

   it("builds no table for a row", function()
      local w <close> = assert(profio.create(nil, { format = "xpp" }))
      local emit = w:emitter("thread", "time", "op", "call")
      emit(1, 0, "i", "F")
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for i = 1, 1000 do
         emit(1, i * 1000000, "i", "F")
      end
      local grown = collectgarbage "count" - before
      collectgarbage "restart"
      assert(grown < 1, grown)
   end)

   it("writes the same as write", function()
      local function written(put)
         local w = assert(profio.create(nil, { format = "xpp", changed = "2026-01-01",
            layout = "text-fields" }))
         put(w)
         return { w:close() }
      end
      assert.same(written(function(w)
         w:write { thread = 1, time = 0, op = "i", call = "F", params = "p" }
         w:write { op = "i", call = "G", line = 7 }
         w:write { time = 1000000, op = "o", call = "G" }
         w:write { thread = 3, op = "o", params = "q" }
      end), written(function(w)
         local emit = w:emitter("params", "call", "op", "time", "thread")
         emit("p", "F", "i", 0, 1)
         w:emitter("op", "line", "call")("i", 7, "G", "more")
         w:write { time = 1000000, op = "o", call = "G" }
         assert.is_false(pcall(emit, "r", "H", "i", {}, 1))
         assert.is_false(pcall(emit, "r", "H", "i", 2500000, 1))
         emit("q", nil, "o", nil, 3)
      end))
   end)

   it("returns the failure of a file", function()
      if package.config:sub(1, 1) == "\\" or not lfs.attributes "/dev/full" then
         return pending "no /dev/full"
      end
      local w = assert(profio.create("/dev/full", { format = "xpp", layout = "text-fields",
         params = false }))
      local emit, results = w:emitter("op", "call"), {}
      while not results[2] do -- until the buffer is full
         results = { emit("i", "F") }
      end
      assert.matches("^/dev/full: ", results[2])
      assert.same({ nil, results[2], "io" }, results)
      assert.is_nil((w:close()))
   end)

   it("raises with the line of its call, also in a protected one", function()
      local w = assert(profio.create(nil, { format = "xpp" }))
      local emit = w:emitter("time", "op", "call")
      local function message_of(...)
         return (select(2, pcall(emit, ...)):match "emitter_spec.lua:%d+: (.*)")
      end
      assert.equal("column 'time' is of type int, got string", message_of("x", "i", "F"))
      assert.matches("^entry 1: .* whole milliseconds", message_of(1, "i", "F"))
      assert(w:close())
      assert.equal("writer is closed", message_of(0, "i", "F"))
   end)
end)
