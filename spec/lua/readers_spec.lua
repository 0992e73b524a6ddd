-- A reader stays alive as long as another one reads from it, and both are closed with their trace.
--
-- Tags: stressed.

local command = require "spec.support.command"
local core = require "profio.core"
local profio = require "profio"
local traces = require "profio.internal.trace"

local function open()
   local trace = assert(profio.open { data = command.trace() })
   return trace, traces.of(trace).parts[1]
end

describe("a reader that another one reads", function()
   it("stays open when it is closed, until the other one is closed", function()
      local _ <close>, part = open()
      local input = part:reader "histogram"
      local limit = core.limit(input, 3, 0)
      input:close()
      collectgarbage()
      assert.equal(3, #core.rows(limit, { "count" }))
   end)

   it("ends with its trace, as the other one does", function()
      local trace, part = open()
      local limit = core.limit(part:reader "histogram", 3, 0)
      trace:close()
      assert.has_error(function() core.rows(limit, { "count" }) end, "trace is closed")
   end)

   it("returns the rest of the batch when it is closed in the middle", function()
      for _, iterate in ipairs { core.each, core.records } do
         local rows = { { "a", "f" }, { "b", "g" } }
         local reader = core.rows_reader({ { "x", "name" }, { "y", "area" } }, rows)
         local seen = 0
         assert.has_error(function()
            for _ in iterate(reader, { "x", "y" }) do
               seen = seen + 1
               reader:close()
               collectgarbage()
            end
         end, "reader is closed")
         assert.equal(2, seen)
      end
   end)
end)

describe("arguments of the core", function()
   it("are refused where a table or a dictionary is expected", function()
      local fields, rows = { { "x", "int" } }, { { 1 } }
      local function refuse(words, f, ...)
         local arguments = table.pack(...)
         assert.error_matches(function()
            f(table.unpack(arguments, 1, arguments.n))
         end, words)
         collectgarbage()
      end
      local function reader()
         return core.rows_reader(fields, rows)
      end
      refuse("dictionary expected", core.rows_reader, fields, rows, 1.5)
      refuse("table expected", core.named_file, "x", "folder")
      refuse("table expected", core.group, reader(), { { column = "x" } }, {}, "parts")
      refuse("table expected", core.concat, { reader() }, "constants")
      refuse("table expected", core.statistics, reader(), { parts = "parts" })
   end)
end)
