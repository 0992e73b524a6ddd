-- Costs that once grew with the square of an input, or with what records share. Steps are counted
-- (spec/c/counter.c), not seconds.
--
-- Tags: counted.
-- Extra: needs the build of `make counted`.
-- Unsanitized: they run in the build of `make counted`.

local command = require "spec.support.command"
local counted = require "spec.support.counted"
local dbf = require "spec.support.dbf_builder"
local profio = require "profio"
local programs = require "spec.support.programs"
local protobuf = require "spec.support.protobuf"

local number, message, packed = protobuf.number, protobuf.message, protobuf.packed

if not counted.counter() then
   pending "costs (their steps are counted by make test-all)"
   return
end

describe("a merge of pprof files", function()
   -- Returns a profile with so many entries of each kind.
   local function many(count)
      local text = protobuf.texts()
      local parts = { message(1, number(1, text "a"), number(2, text "count")) }
      local labels = {}
      for i = 1, count do
         labels[i] = message(3, number(1, text("k" .. count - i)), number(3, 1))
      end
      parts[2] = message(2, packed(1, { 1 }), packed(2, { 1 }), table.concat(labels))
      parts[3] = message(4, number(1, 1), message(4, number(1, 1)))
      parts[4] = message(5, number(1, 1), number(2, text "main"))
      parts[5] = number(13, text "a comment"):rep(count * 2)
      parts[6] = message(1):rep(100) .. message(3):rep(count) -- at most 4,096 types are read
      return table.concat(parts) .. text.fields()
   end

   it("takes steps as its entries, of each kind", function()
      local function steps_of(count)
         local bytes = many(count)
         return counted.steps_of(function()
            local trace <close> = assert(profio.open({ { data = bytes }, { data = bytes } },
               { format = "pprof" }))
            assert(trace:save())
         end)
      end
      local ratio = steps_of(32000) / steps_of(2000)
      assert.is_true(ratio < 20, ratio) -- 16 if linear, 256 if quadratic
   end)
end)

describe("records that share a large memo", function()
   local memo = ("a line of t\xe4xt, forty byt\xebs or thereabout\r\n"):rep(24000)

   -- Writes a table of so many records with the same memo; returns its path.
   local function table_of(name, records)
      local bytes, blocks = dbf.fpt { { 1, memo } }
      local rows = dbf.new { version = 0xf5, { "NOTE", "M", 10 } }
      for _ = 1, records do
         rows:row { blocks[1] }
      end
      command.file(name .. ".fpt", bytes)
      return command.file(name .. ".dbf", rows:bytes())
   end

   it("are converted once, and copied", function()
      local function steps_of(path, output)
         local trace <close> = assert(profio.open(path, { code_page = "CP1252" }))
         local null <close> = assert(io.open("/dev/null", "wb"))
         return counted.steps_of(function() trace.data:write({ output = output }, null) end)
      end
      local one, many = table_of("one", 1), table_of("many", 60)
      for _, output in ipairs { "json", "csv", "tsv" } do
         local ratio = steps_of(many, output) / steps_of(one, output)
         assert.is_true(ratio < 50, ("%s: %.1f"):format(output, ratio)) -- else 60
      end
   end)
end)

describe("a profile of a program with source lines", function()
   local text = { "int main (void) {" }
   for i = 1, 400 do
      table.insert(text, 1, ("static int f%d (int n) {\n  n += %d;\n  return n * 3;\n}")
         :format(i, i))
      text[#text + 1] = ("  if (f%d(%d) == 0) return 1;"):format(i, i)
   end
   text[#text + 1] = "  return 0;\n}\n"

   it("reads them only for columns that show them", function()
      local source = programs.source("lines_late.c", table.concat(text, "\n"))
      local exe, files = programs.profiled("lines_late", source, "-fno-inline")
      local function steps_of(...)
         local trace <close> = assert(profio.open(files[1], { exe = exe }))
         local columns = { ... }
         return counted.steps_of(function()
            assert.is_true(#trace:profile():flat():rows(table.unpack(columns)) > 300)
         end)
      end
      local without = steps_of("function", "calls", "self", "total")
      local ratio = steps_of("function", "calls", "self", "total", "file", "line") / without
      assert.is_true(ratio > 1.5, ratio) -- 1 if they are read always
   end)
end)
