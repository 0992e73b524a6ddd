-- Files that a trace names, or to which links lead, are read only from expected folders.
--
-- Tags: user.
-- Costly: many commands.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local core = require "profio.core"
local dbf = require "spec.support.dbf_builder"
local dcpi = require "spec.support.dcpi_builder"
local profio = require "profio"

local base = command.folder .. "/named"
local SECRET = "a line of a secret file"

-- Runs shell in the folder `near`; beside it is `far`, which no report may read.
local function run(line)
   return command.run(("cd named/near && { %s\n}"):format(line))
end

-- Makes both folders anew, and a format whose file holds the path of a source.
setup(function()
   os.execute(("rm -rf '%s' && mkdir -p '%s/near' '%s/far'"):format(base, base, base))
   command.file("named/far/key.c", SECRET .. "\n")
   os.execute(("chmod 600 '%s/far/key.c'"):format(base))
   command.file("named/near/format.lua", [[
      require("profio").register {
         name = "hot", score = function(bytes) return bytes:match "^hot\n" and 100 or 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function(source)
            local area = { name = "f", file = source:read(4, 4096), line = 1 }
            return { events = function(put)
               put(0, "enter", area)
               put(5, "leave", area)
            end }
         end,
      }
   ]])
end)

-- The page of a trace that names a path as its source.
local function page_of(path, options)
   command.file("named/near/hot.trace", "hot\n" .. path)
   local page, status, errors = run("timeout 60 lua5.4 " .. command.root .. "/examples/analyze.lua "
      .. "--load format.lua --export html " .. (options or "") .. " hot.trace")
   assert.equal(0, status, errors)
   return page
end

describe("a source that a trace names", function()
   it("is not shown from outside the current folder and those of --source", function()
      for _, path in ipairs { base .. "/far/key.c", "../far/key.c",
         base .. "/near/../far/key.c" } do
         local page = page_of(path)
         assert.is_nil(page:find(SECRET, 1, true), path)
         assert.matches("Not shown: [^<]*key%.c: is outside the folders that are read", page)
      end
      run "ln -s ../far/key.c link.c"
      assert.is_nil(page_of("link.c"):find(SECRET, 1, true))
      assert.is_nil(page_of("far/key.c", "--set source=."):find(SECRET, 1, true))
      assert.is_nil(page_of("../far/key.c", "--set source=."):find(SECRET, 1, true))
   end)

   it("is shown from there with --source, or --trust-paths", function()
      assert.matches(SECRET, page_of("elsewhere/key.c", "--set source=../far"))
      local page = page_of("elsewhere/key.c", "--source ../far")
      assert.matches(SECRET, page)
      assert.is_nil(page:find("No source is shown", 1, true))
      assert.matches("No source is shown: the trace names no file that is in %.%.",
         page_of("elsewhere/gone.c", "--source ../far"))
      assert.matches(SECRET, page_of("elsewhere/key.c", "--source . --source ../far"))
      assert.matches(SECRET, page_of(base .. "/far/key.c", "--set source=../far"))
      assert.matches(SECRET, page_of(base .. "/far/key.c", "--trust-paths"))
      command.file("named/near/mine.c", "a line of mine\n")
      assert.matches("a line of mine", page_of "mine.c")
   end)

   it("is a regular file of at most 16 MiB", function()
      run "mkfifo pipe.c; ln -s /dev/zero zero.c; truncate -s 16777217 large.c"
      assert.matches("zero%.c: is not a regular file", page_of("zero.c", "--trust-paths"))
      assert.matches("pipe%.c: is not a regular file", page_of("pipe.c", "--trust-paths"))
      assert.matches("/dev/zero: is not a regular file", page_of("/dev/zero"))
      assert.matches("large%.c: has more than 16777216 bytes", page_of "large.c")
      run "truncate -s 16777216 large.c"
      assert.is_nil(page_of("large.c"):find("Not shown", 1, true))
   end)

   it("is left out of annotate too", function()
      command.file("named/far/main.c", "/* " .. SECRET .. " */\n#include <time.h>\n"
         .. "volatile long n;\nint main(void) {\n"
         .. "while (clock() < CLOCKS_PER_SEC / 5) for (int i = 0; i < 999999; i++) n++; }\n")
      local _, status = run(("cc -g -pg -no-pie '%s/far/main.c' -o main && ./main"):format(base))
      assert.equal(0, status)
      local text = run "profio --report annotate main gmon.out"
      assert.is_nil(text:find(SECRET, 1, true))
      assert.matches("main%.c: is outside the folders that are read: %-%-trust%-paths", text)
      assert.matches(SECRET, (run "profio --report annotate --trust-paths main gmon.out"))
      assert.matches(SECRET, (run "profio --report annotate --source ../far main gmon.out"))
   end)

   it("is left out of the lines of Business Rules! too", function()
      command.file("named/near/s.br", br():module(0, "M.BR"):line(0, 10, 1):time(5):main():stop()
         :bytes())
      command.file("named/far/m.brs", "00010 " .. SECRET .. "\n")
      run "mkdir -p listing; ln -sf ../../far/m.brs listing/m.brs"
      local text, _, errors = run "profio --report hotlines --source listing s.br"
      assert.is_nil(text:find(SECRET, 1, true))
      assert.matches("a source is left out: listing/m%.brs: is outside", errors)
      assert.matches(SECRET, (run "profio --report hotlines --source listing --trust-paths s.br"))
   end)
end)

-- A table with one memo, in the first block.
local function table_of_memos()
   return dbf.new { version = 0xf5, { "NOTE", "M", 10 } }:row { 8 }:bytes()
end

describe("a file beside a trace", function()
   it("is not a link that leads out of the folder of the trace", function()
      command.file("named/near/t.dbf", table_of_memos())
      command.file("named/far/t.fpt", (dbf.fpt { { 1, SECRET } }))
      run "ln -s ../far/t.fpt t.fpt"
      local trace <close> = assert(profio.open(base .. "/near/t.dbf"))
      assert.equal("dbf-side-file", trace.warnings[1].code)
      assert.matches("t%.fpt: is outside the folders", trace.warnings[1].message)
      local trusting <close> = assert(profio.open(base .. "/near/t.dbf", { trust_paths = true }))
      assert.equal(SECRET, trusting.data:rows()[1].NOTE)
      local named <close> = assert(profio.open(base .. "/near/t.dbf",
         { memo = base .. "/far/t.fpt" }))
      assert.equal(SECRET, named.data:rows()[1].NOTE)
   end)

   it("is found beside the file to which the trace is a link", function()
      os.execute(("cd '%s/near' && mkdir -p links && ln -sf ../../far/u.dbf ../../far/u.fpt links")
         :format(base))
      command.file("named/far/u.dbf", table_of_memos())
      command.file("named/far/u.fpt", (dbf.fpt { { 1, "a memo" } }))
      local trace <close> = assert(profio.open(base .. "/near/links/u.dbf"))
      assert.equal("a memo", trace.data:rows()[1].NOTE)
   end)

   it("is not a link in a database of DCPI", function()
      local profile = dcpi.golden()
      run "mkdir -p db/1"
      command.file("named/near/db/1/mine", profile)
      command.file("named/far/theirs", profile)
      run "ln -s ../../../far/theirs db/1/theirs"
      local trace <close> = assert(profio.open(base .. "/near/db"))
      assert.matches("theirs: is outside", trace.warnings[#trace.warnings].message)
      local trusting <close> = assert(profio.open(base .. "/near/db", { trust_paths = true }))
      assert.equal(1, #trace.profiles:rows())
      assert.equal(2, #trusting.profiles:rows())
   end)

   it("is no debug file that a link leads to", function()
      local _, status = run [[
         printf 'int work(int n) { return n + 1; }\nint main(void) { return work(1); }\n' > d.c
         cc -g -no-pie -Wl,--build-id=none d.c -o d && objcopy --only-keep-debug d ../far/d.debug
         objcopy --strip-all --add-gnu-debuglink=../far/d.debug d && ln -s ../far/d.debug d.debug
      ]]
      assert.equal(0, status)
      local symbols = require "profio.internal.symbols"
      local linked <close> = assert(symbols.open { exe = base .. "/near/d",
         dictionary = core.dictionary() })
      assert.is_nil(linked.debug)
      run "rm d.debug && cp ../far/d.debug d.debug"
      local beside <close> = assert(symbols.open { exe = base .. "/near/d",
         dictionary = core.dictionary() })
      assert.equal(base .. "/near/d.debug", beside.debug)
   end)
end)

-- Calls a function while any file that core.named_file has allowed is exchanged for a link to the
-- file of its name in the other folder, before it can be opened.
local function exchanging(name, f)
   local check = core.named_file
   core.named_file = function(path, ...)
      local real, message, code = check(path, ...)
      if real and path:match "[^/]*$" == name then
         os.execute(("ln -sfn '%s/far/%s' '%s'"):format(base, name, path))
      end
      return real, message, code
   end
   local ok, problem = pcall(f)
   core.named_file = check
   assert.is_true(ok, problem)
end

describe("a file that is exchanged after it was checked", function()
   local function put(name, mine, theirs)
      os.execute(("cd '%s' && rm -f near/%s far/%s"):format(base, name, name))
      command.file("named/near/" .. name, mine)
      command.file("named/far/" .. name, theirs)
   end

   it("is not read as a memo", function()
      put("v.dbf", table_of_memos(), "")
      put("v.fpt", dbf.fpt { { 1, "mine" } }, (dbf.fpt { { 1, SECRET } }))
      exchanging("v.fpt", function()
         local trace <close> = assert(profio.open(base .. "/near/v.dbf"))
         assert.equal("mine", trace.data:rows()[1].NOTE)
      end)
   end)

   it("is not read as a further file of a trace", function()
      os.execute(("mkdir -p '%s/near/races/1'"):format(base))
      command.file("named/near/races/1/p", dcpi.golden())
      command.file("named/far/p", dcpi.golden())
      exchanging("p", function()
         local trace, message = profio.open(base .. "/near/races")
         assert.is_nil(trace)
         assert.matches("races/1/p: is outside the folders", message)
      end)
   end)

   it("is not read as a timeline that appears", function()
      local records = require "spec.support.winidea"
      local function timeline(time)
         return records.bytes({ { handle = 1, event = "enter", core = 0, time = time } },
            records.new)
      end
      local mapping = "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000001,f,\n"
      put("w.txt", mapping, mapping)
      local trace <close> = assert(profio.open(base .. "/near/w.txt", { live = true }))
      put("w.txt.BIN", timeline(1), timeline(77))
      exchanging("w.txt.BIN", function()
         trace:refresh()
         local times = {}
         for time in trace.timeline:each "time" do
            times[#times + 1] = time
         end
         assert.same({ 1 }, times)
      end)
   end)

   it("is not read as a ring", function()
      local writers = {}
      for i, folder in ipairs { "near", "far" } do
         local path = ("%s/%s/r.br"):format(base, folder)
         os.remove(path)
         os.remove(path .. ".ring")
         writers[i] = assert(profio.create(path, { format = "br", ring = { size = "64K" } }))
         writers[i]:emitter("module", "line")(folder .. ".BR", i)
      end
      exchanging("r.br.ring", function()
         local trace <close> = assert(profio.open(base .. "/near/r.br", { format = "br" }))
         assert.matches("r%.br%.ring: is outside the folders", trace.warnings[1].message)
         for module in trace:each "module" do
            assert.equal("near.BR", module)
         end
      end)
      for _, writer in ipairs(writers) do
         writer:close()
      end
   end)
end)
