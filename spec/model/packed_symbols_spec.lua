-- Symbols and lines as bytes: the symbols that are read again are the same.
--
-- Tags: stressed.

local command = require "spec.support.command"
local core = require "profio.core"
local programs = require "spec.support.programs"
local symbols_of = require "profio.internal.symbols"

-- Returns all that can be asked about symbols.
local function all_of(symbols)
   local lines = {}
   for i, symbol in ipairs(symbols:all()) do
      lines[i] = { { symbols:line(symbol.start) }, { symbols:line(symbol.stop - 1) } }
   end
   return { symbols:facts(), symbols:all(), lines }
end

-- Returns packed symbols, after a comparison of all that they tell.
local function packed(options)
   options.dictionary = core.dictionary()
   local opened <close> = assert(symbols_of.open(options))
   local bytes = opened.symbols:pack()
   local again = assert(core.symbols_packed(bytes, core.dictionary()))
   assert.same(all_of(opened.symbols), all_of(again))
   assert.equal(bytes, again:pack())
   again:by_line()
   opened.symbols:by_line()
   assert.same(opened.symbols:all(), again:all())
   return bytes
end

describe("packed symbols", function()
   local program = programs.profiled("packed-symbols", "spec/data/gmon/cycle.c", "")

   it("are the symbols and lines of an executable, by either rule", function()
      for _, rule in ipairs { "exact", "gprof" } do
         local bytes = packed { exe = program, rule = rule }
         assert.is_truthy(bytes:find("cycle.c", 1, true))
      end
      packed { exe = command.build .. "/c/disk.so" }
   end)

   it("are those of a text of nm, with the lines of the executable or without", function()
      local pipe <close> = assert(io.popen(("nm '%s'"):format(program)))
      local text = pipe:read "a"
      packed { symbols = { data = text } }
      packed { symbols = { data = text }, exe = program }
      packed { symbols = { data = "0000000000001000 T a\n0000000000001000 T b\n" } }
   end)

   it("are refused if they are damaged, at each length and byte", function()
      local bytes = packed { exe = program }
      local at = bytes:find("main", 1, true) -- the names are long, and not damaged one by one
      for size = 0, #bytes - 1, 31 do
         local ok, _, code = core.symbols_packed(bytes:sub(1, size), core.dictionary())
         assert.is_nil(ok)
         assert.is_true(code == "format" or code == "truncated")
      end
      assert.is_nil((core.symbols_packed(bytes .. "\0", core.dictionary())))
      math.randomseed(5)
      for i = 1, 1000 do
         local where = i <= 150 and i or math.random(at, #bytes)
         local changed = bytes:sub(1, where - 1) .. string.char(math.random(0, 255))
            .. bytes:sub(where + 1)
         local ok, message = core.symbols_packed(changed, core.dictionary())
         if ok then
            assert.equal(#ok:all(), ok:count())
         else
            assert.matches("^packed symbols: ", message)
         end
      end
   end)
end)
