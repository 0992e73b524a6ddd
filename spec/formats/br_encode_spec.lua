-- Tags: user.

local br = require "spec.support.br_builder"
local profio = require "profio"
local refused = require "spec.support.refused"
local rounds = require "spec.support.rounds"

local function open(bytes)
   return assert(profio.open({ data = bytes }, { format = "br", backtrace_order = "inner_first" }))
end

local function rows_of(bytes)
   local trace <close> = open(bytes)
   local rows = trace.samples:rows()
   for _, row in ipairs(rows) do
      row.stack, row.offset = trace:stack(row.stack), nil
   end
   return rows
end

local names = { "A.BR", "B.BR", "", "sub\\C.BR", ("x"):rep(65535), "\255\0" }
local tags = {
   function() end,
   function(b) b:main() end,
   function(b) b:gosub() end,
   function(b) b:fn(({ "FNA", "", ("f"):rep(255), "FNB$" })[math.random(4)]) end,
}

-- Returns a file of random groups, and the file that the encoder is expected to write, in which
-- modules are mapped before their first use.
local function random(seed)
   math.randomseed(seed)
   local b = br()
   for i, name in ipairs(names) do
      b:module(i, name)
   end
   local is_timed = math.random(2) == 1
   for _ = 1, math.random(0, 50) do
      b:line(math.random(#names), math.random(0, 0xffffffff), math.random(0, 255))
      tags[math.random(#tags)](b)
      if is_timed then
         b:time(math.random(0, 9) == 0 and math.maxinteger or math.random(0, 100000))
      end
      for _ = 1, math.random(0, 4) do
         b:back(math.random(#names), math.random(1, 3), 0)
         tags[math.random(#tags)](b)
      end
      b:stop()
   end
   return b:bytes()
end

local function write(rows)
   local writer = assert(profio.create(nil, { format = "br" }))
   for _, row in ipairs(rows) do
      local ok, message, code = refused(writer, row)
      if not ok then
         writer:close()
         return nil, message, code
      end
   end
   return writer:close()
end

describe("br, writing", function()
   it("writes rows that are read back unchanged", function()
      for seed = 1, rounds(200) do
         local bytes = random(seed)
         local trace <close> = open(bytes)
         local written = assert(trace:save())
         assert.same(rows_of(bytes), rows_of(written))
         local again <close> = open(written)
         assert.equal(written, again:save())
      end
   end)

   it("writes the same bytes for files that map modules before their first use", function()
      local bytes = br():module(1, "A.BR"):line(1, 10):main():time(5):stop()
         :module(2, "B.BR"):line(2, 20, 3):fn "FNA":time(6):back(1, 10):main():stop()
         :line(1, 30):stop():bytes()
      local trace <close> = open(bytes)
      assert.equal(bytes, trace:save())
   end)

   it("writes files that are detected as br, whatever the names of modules", function()
      for _, name in ipairs { "", "a\nb", "a\0b", "\1\2", "\27[31m", "tab\t", ("x"):rep(4000) } do
         local trace <close> = assert(profio.open { data = assert(write {
            { module = "A.BR", line = 1, spent = 1, kind = "main" },
            { module = name, line = 2, spent = 3, kind = "main" } }) })
         assert.equal("br", trace.format)
         assert.equal(name, trace.samples:rows()[2].module)
      end
   end)

   it("writes single rows", function()
      assert.equal(br():module(1, "A.BR"):line(1, 10, 2):main():time(5):stop()
         :line(1, 20):fn "FNA":stop():line(1, 0):stop():bytes(),
         write { { module = "A.BR", line = 10, clause = 2, kind = "main", spent = 5 },
            { module = "A.BR", line = 20, ["function"] = "FNA" }, { module = "A.BR" } })
   end)

   it("refuses values that the file cannot hold", function()
      local cases = {
         { { line = 10 }, "no module and no stack" },
         { { module = "A", line = -1 }, "a line is %-1" },
         { { module = "A", line = 1 << 32 }, "a line is 4294967296" },
         { { module = "A", clause = 256 }, "a clause is 256" },
         { { module = "A", clause = -1 }, "a clause is %-1" },
         { { module = "A", spent = -1 }, "a time is %-1" },
         { { module = "A", kind = "thing" }, "a kind of function, gosub, main or unknown" },
         { { module = "A", kind = "gosub", ["function"] = "f" }, "is of kind gosub" },
         { { module = "A", kind = "main", ["function"] = "f" }, "is of kind main" },
         { { module = "A", kind = "unknown", ["function"] = "f" }, "is of kind unknown" },
         { { module = "A", kind = "function" }, "a function that has no name" },
         { { module = "A", ["function"] = ("f"):rep(256) }, "function's name is 256" },
         { { module = ("m"):rep(65536) }, "module's name is 65536" },
      }
      for _, case in ipairs(cases) do
         local bytes, message, code = write { case[1] }
         assert.same({ nil, "unsupported" }, { bytes, code })
         assert.matches(case[2], message)
      end
   end)

   it("leaves nothing of a refused row in the file", function()
      local writer = assert(profio.create(nil, { format = "br" }))
      local good = { area = "FNA", class = "function", file = "B.BR", line = 20 }
      local stack = writer:stack { good, { area = "FNB", class = "function", line = 1 } }
      assert.is_nil((refused(writer, { module = "A.BR", line = 1, stack = writer:stack { good, {
         area = "FNC", class = "function", file = "C.BR", line = -1 } } })))
      assert.is_nil((refused(writer, { stack = stack })))
      assert(writer:write { module = "D.BR", line = 4, stack = writer:stack { good, good } })
      assert.is_nil((refused(writer, { module = "E.BR", stack = stack })))
      assert(writer:write { module = "E.BR", line = 5 })
      assert.equal(br():module(1, "D.BR"):module(2, "B.BR"):line(1, 4):back(2, 20):fn "FNA":stop()
         :module(3, "E.BR"):line(3, 5):stop():bytes(), writer:close())
   end)

   it("refuses a stack that does not exist", function()
      assert.matches("stack that does not exist", select(2, write { { stack = 99 } }))
   end)

   it("refuses traces without any table that the format can hold", function()
      local trace <close> = assert(profio.open {
         data = "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,5\n" })
      local bytes, message, code = trace:save(nil, { format = "br" })
      assert.same({ nil, "unsupported" }, { bytes, code })
      assert.matches("no table of a trace of winidea has a place in a file of br", message)
   end)

   it("writes at most 65535 modules", function()
      local writer = assert(profio.create(nil, { format = "br" }))
      for i = 1, 65535 do
         assert(writer:write { module = "M" .. i })
      end
      assert(writer:write { module = "M1" })
      local ok, _, code = refused(writer, { module = "one more" })
      assert.same({ nil, "unsupported" }, { ok, code })
      local trace <close> = open(writer:close())
      assert.equal(65536, trace:count())
      assert.equal("M65535", trace:limit(1, 65534):rows()[1].module)
   end)
end)
