-- The worst inputs of each parser, of 400 KB: each takes at most so many steps for a byte to be
-- opened, refused or read. A parser that reads on from each byte takes some 400,000.
--
-- Tags: counted.
-- Extra: needs the build of `make counted`.
-- Unsanitized: they run in the build of `make counted`.

local command = require "spec.support.command"
local counted = require "spec.support.counted"
local gmon = require "spec.support.gmon_builder"
local growth_inputs = require "spec.bench.growth_inputs"
local limits = require "profio.limits"
local profio = require "profio"

if not counted.counter() then
   pending "inputs of 400 KB (their steps are counted by make test-all)"
   return
end

local SIZE <const> = 400000

-- Steps of the core and of Lua for each byte; the slowest input takes 600.
local MOST <const> = 1000

---Calls f, whose steps are bounded.
local function bounded(label, f, ...)
   local steps = counted.steps_of(f, ...)
   assert.is_true(steps <= MOST * SIZE, ("%s: %.1f steps for a byte"):format(label, steps / SIZE))
end

local function fill(piece, head)
   head = head or ""
   return head .. piece:rep((SIZE - #head) // #piece)
end

-- Open and read each table.
local function read(what, options)
   local trace <close> = profio.open(what, options)
   if trace then
      for _, name in ipairs(trace.tables) do
         trace:table(name):count()
      end
   end
end

-- One line, all blanks, separators, brackets, quotes, digits, bytes that are no text, ...
local fills = { "a", " ", "\t", "\n", "\r\n", "\r", "\"", "'", "(", "[", "<", "{", "%", "*", "=",
   ",", ";", "0", "9", "i", "\0", "\1", "\3", "\9", "\13", "\26", "\255", "* ", "<!--", "<![CDATA[",
   "<a>", "<AREA>", "<MAPPING><AREA>", "&lt;", "\",\"", "\"\",", "1,2,I,A,5,\"\n", " = ", "0x0 1\n",
   "x y\n", "samples\n", "\10\0", "\18\0", "A\0\0\0\0\0\0\0\0\0\0C\0\0\0\0\1",
   "* HANDLE(x) %HANDLE%\n1\n", "* TIMELINE %HANDLE%%EVENT%%TIME%\n", "OPERATIONMODE=1\n" }

local heads = {
   gmon = { "gmon\1\0\0\0" .. ("\0"):rep(12) },
   br = { "\1\0\1\0\1A" },
   dcpi = { "version pdb-0.07\n", "name x\nimage 1\nepoch 9805191724\nplatform a\n" ..
      "event 1 cycles:5:10000\n0x10 1\n" },
   winidea = { "* INFO %TOTAL_TIME%\n1\n* HANDLE(Functions) %NAME%,%HANDLE%\n",
      "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n", "<x><MAPPING>",
      "* STATISTICS(Functions) CONTEXT(a) %NAME% %HANDLE% %COUNT%\n" },
   xpp = { "TID,TIME,OP,MSG,LINE,PARAMS\n1,2,I,\"A\",5,\"b\"\n", "[TRACE]\nOPERATIONMODE=1\n" },
   dbf = { ("<BBBBI4I2I2"):pack(0x30, 24, 1, 1, 100000, 65535, 11) .. ("\0"):rep(20) },
   pprof = { "\10\4\8\1\16\2" },
}

describe("an input of 400 KB", function()
   it("of any bytes costs little while its format is detected", function()
      for _, piece in ipairs(fills) do
         bounded(("%q"):format(piece), read, { data = fill(piece) })
      end
   end)

   for format, list in pairs(heads) do
      it("costs little when it is read as " .. format, function()
         for _, piece in ipairs(fills) do
            for i, head in ipairs(list) do
               bounded(("%s, head %d, %q"):format(format, i, piece), read,
                  { data = fill(piece, head) }, { format = format })
            end
         end
      end)
   end

   it("of thousands of histograms, arcs or profiles costs little", function()
      local sets, arcs = gmon("<", 8):header(), gmon("<", 8):header()
      for i = 1, 9000 do
         sets:histogram { low = 0x1000 + i * 4, high = 0x9000 + i * 64, bins = { 1, 2, 3, 4 } }
      end
      for i = 1, 45000 do
         arcs:arc(i * 4096, i * 7919 % 45000 * 4096, 1)
      end
      bounded("histograms", read, { data = sets:bytes() })
      bounded("arcs", read, { data = arcs:bytes() })
      local list, events = {}, { "name x\nimage 12\nepoch 199805191724\nplatform walnut\n" }
      for i = 1, 3000 do
         list[i] = ("name x\nimage %x\nepoch 199805191724\nplatform walnut\ntext_start 0x1000\n" ..
            "event 29 cycles:1:10000\n0x1004 29\n"):format(i)
         events[i + 1] = "event 1 e" .. i .. ":1:10000\n"
      end
      bounded("profiles", read, { data = table.concat(list) })
      bounded("events", read, { data = table.concat(events) .. "0x10" .. (" 1"):rep(3000) .. "\n" },
         { format = "dcpi" })
   end)

   it("of stacks that grow from few bytes costs little", function()
      local function varint(n)
         return n < 128 and string.char(n) or string.char(n & 127 | 128) .. varint(n >> 7)
      end
      local function message(number, body)
         return varint(number << 3 | 2) .. varint(#body) .. body
      end
      local lines = {}
      for i = 1, 60000 do
         lines[i] = message(4, "\8\1\16" .. varint(i))
      end
      local data = message(1, "\8\1\16\2") ..
         message(2, message(1, ("\1"):rep(20)) .. message(2, "\1")):rep(15000) ..
         message(4, "\8\1" .. table.concat(lines)) .. message(5, "\8\1\16\1") ..
         message(6, "") .. message(6, "cpu") .. message(6, "ns")
      bounded("inlined lines", function()
         local trace <close> = assert(profio.open { data = data })
         assert.equal("pprof-many-lines", trace.warnings[1].code)
         assert.equal(256 * 20, #trace:stack(trace.samples:rows("stack")[1].stack))
         assert(trace:profile()):flat():count()
      end)
   end)

   it("of names that are chosen to have one hash", function()
      for _, name in ipairs { "names", "ids" } do
         for _, axis in ipairs(growth_inputs) do
            if axis.name == name then
               local files = axis.make(name == "names" and 16384 or 64000,
                  command.folder .. "/hash")
               bounded(name, function()
                  local trace <close> = assert(profio.open(files[1]))
                  assert(trace:profile()):flat():count()
               end)
            end
         end
      end
   end)

   it("of packed zeros costs what max_size allows", function()
      local path = command.folder .. "/bomb"
      -- 1 GB in 50 members, of which the first is already too large
      assert(os.execute(("head -c 20000000 /dev/zero | gzip -1 > %s.gz; "
         .. "for i in $(seq 50); do cat %s.gz; done > %s; mv %s %s.gz"):format(path, path, path,
         path, path)))
      bounded("bomb", function()
         local trace, _, code = profio.open(path .. ".gz", { max_size = 1 << 24 })
         assert.is_nil(trace)
         assert.equal("limit", code)
      end)
      os.remove(path .. ".gz")
   end)
end)

describe("a header without a line end", function()
   local header = "version pdb-0.07\nimage 1\nepoch 9805191724\nplatform a\nevent cycles\n" ..
      "period 1\n"
   local worst = { "", "x" .. (" "):rep(70000), ("path a"):rep(11000),
      "event 1" .. (" "):rep(70000),
      "path " .. ("a"):rep(70000) .. "/b", ("\t \r"):rep(24000) .. "x", ("a/"):rep(35000) }

   it("does not block the other files of a database", function()
      local folder = command.folder .. "/slow-db"
      command.run("rm -rf slow-db && mkdir -p slow-db/e")
      local good = header .. "tstart 0\ntsize 64\ncpuspeed 333\nsamples\n" ..
         ("<I4I4"):pack(0, 0)
      for i, tail in ipairs(worst) do
         command.file("slow-db/e/bad" .. i, header .. tail)
         command.file("slow-db/e/long" .. i, header .. tail .. "\nsamples\n")
      end
      command.file("slow-db/e/good", good)
      bounded("database", function()
         local trace <close> = assert(profio.open(folder))
         assert.equal("dcpi", trace.format)
      end)
   end)
end)

describe("other texts of 400 KB", function()
   it("are settings", function()
      local pri = require "profio.formats.xpp.pri"
      for _, piece in ipairs { " ", "=", " = ", "\n", "a ", "[", ";", "\r", "\t", "A=1\n" } do
         for _, head in ipairs { "", "A", "A =", "A = b" } do
            bounded(("%s%q"):format(head, piece), function()
               local text = fill(piece, head)
               local settings = pri.parse(text .. "x")
               settings:get "OPERATIONMODE"
               settings:set("B", 1)
               assert.equal(text .. "x", settings:text():sub(1, #text + 1))
            end)
         end
      end
   end)

   it("are limits", function()
      for _, piece in ipairs { " ", "a", "\"", "#", "<", "a ", "\n", "\r", "~", "\\", "0",
         "a total <= " } do
         for _, head in ipairs { "", "main total", "main total <= 1" } do
            bounded(("%s%q"):format(head, piece), limits.parse, fill(piece, head) .. "x")
         end
      end
   end)

   it("are symbols as nm prints them", function()
      local path = command.folder .. "/slow.nm"
      for _, piece in ipairs { " ", "0", "a", "\n", "0 T a\n", "0 T _ZN1aIN1aI", "|", "\0", "\255",
         "00000000 T _Z1f" .. ("IiE"):rep(100) .. "\n" } do
         command.file("slow.nm", "0000000000001000 T main\n" .. fill(piece))
         bounded(("%q"):format(piece:sub(1, 20)), read, { data = command.trace() },
            { symbols = path })
      end
      os.remove(path)
   end)
end)

describe("the settings of a key without a value", function()
   it("keep the end of the line", function()
      local pri = require "profio.formats.xpp.pri"
      local settings = pri.parse "A=\r\nB = \nC=\r\n"
      assert.equal("", settings:get "B")
      assert.equal("A=1\r\nB =2 \nC=\r\n", settings:set("A", 1):set("B", 2):text())
   end)
end)
