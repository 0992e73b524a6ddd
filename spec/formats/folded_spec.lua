-- Format folded: stacks as lines of text, from all that writes them.

local command = require "spec.support.command"
local lfs = require "lfs"
local profiles = require "spec.support.profiles"
local profio = require "profio"

local function open(text, given)
   return assert(profio.open({ data = text }, given or { format = "folded" }))
end

-- The rows { stack, weight, before } and the codes of the warnings.
local function read(text, given)
   local trace <close> = open(text, given)
   local rows, codes = {}, {}
   for stack, weight, before in trace.samples:each("stack", "weight", "before") do
      rows[#rows + 1] = { stack, weight, before }
   end
   for i, warning in ipairs(trace.warnings) do
      codes[i] = warning.code
   end
   return rows, codes
end

local seeds = "spec/fuzz/corpus/folded/"

describe("folded stacks", function()
   it("are found by content and by the ending of the path", function()
      local text = "main;f 3\nmain 1\nmain;f;g 2\n"
      for _, trace in ipairs { open(text, {}), assert(profio.open(
         command.file("one.folded", "main 3\n"))) } do
         assert.equal("folded", trace.format)
         trace:close()
      end
      assert.is_nil(profio.open { data = "main 3\nf 4\n" })
      assert.is_nil(profio.open { data = "a;b\nc;d e\nmain;f 3\n" })
   end)

   it("have a profile of samples", function()
      local trace <close> = open "main;f;g 4\nmain;f 2\nmain 1\nmain;f;g 1\n"
      local profile = trace:profile()
      assert.same({ main = "1/8", f = "2/7", g = "5/5" }, profiles.totals(profile))
      assert.same({ "samples", "count" },
         { profile:metrics()[1].name, profile:metrics()[1].unit })
   end)

   it("may have blanks in names, comments, empty lines, CR LF and a mark of UTF-8", function()
      local rows, codes = read("\xEF\xBB\xBF# made by hand\r\n\r\nmain;operator new(int) 3\r\n"
         .. "  \nmain; a b  4 \nmain;f\t5\njava;run_[j];sys_[k];in_[i] 6\nfoo:12;foo:13 7\n")
      assert.same({ { "main;operator new(int)", 3 }, { "main; a b ", 4 }, { "main;f", 5 },
         { "java;run_[j];sys_[k];in_[i]", 6 }, { "foo:12;foo:13", 7 } }, rows)
      assert.same({}, codes)
   end)

   it("have the first frame as a lane, on request", function()
      local text = "MainThread;a;b 3\nWorker;a;c 4\nMainThread;a 2\nIdle 1\n"
      local trace <close> = open(text)
      assert.same({ { lane = "MainThread", stack = "a;b", weight = 3 },
         { lane = "Worker", stack = "a;c", weight = 4 }, { lane = "MainThread", stack = "a",
         weight = 2 }, { lane = "Idle", stack = "Idle", weight = 1 } }, trace.lanes:rows())
      assert.equal("0/5", profiles.totals(trace:profile()).MainThread)
      local lanes <close> = open(text, { format = "folded", lanes = true })
      assert.same({ a = "2/9", b = "3/3", c = "4/4", Idle = "1/1" },
         profiles.totals(lanes:profile()))
   end)

   it("have decimal weights rounded, with one note", function()
      local rows, codes = read "main;f 1.5\nmain;g 2.25\nmain 3.\nmain;h 0.4\n"
      assert.same({ { "main;f", 2 }, { "main;g", 2 }, { "main", 3 }, { "main;h", 0 } }, rows)
      assert.same({ "folded-rounded" }, codes)
   end)

   it("of a difference have the metrics samples and before", function()
      local text = "main;f 3 5\nmain;g 2 0\nmain 0 1\n"
      local trace <close> = open(text, {})
      assert.equal("folded-two-weights", trace.warnings[1].code)
      assert.same({ main = "1/6", f = "5/5" }, profiles.totals(trace:profile()))
      assert.same({ { name = "samples", unit = "count", total = 6 },
         { name = "before", unit = "count", total = 5 } }, (function()
         local list = {}
         for i, metric in ipairs(trace:profile():metrics()) do
            list[i] = { name = metric.name, unit = metric.unit, total = metric.total }
         end
         return list
      end)())
      assert.same({ { "main;f 3", 5 }, { "main;g 2", 0 }, { "main 0", 1 } },
         (read(text, { weights = "1" })))
   end)

   it("keep a number at the end of some names", function()
      assert.same({ { "main;f 3", 5 }, { "main;g", 2 } }, (read "main;f 3 5\nmain;g 2\n"))
   end)

   it("have a warning with line and byte for each bad line", function()
      local trace <close> = open("main;f 3\nmain;g\nmain;h -4\nmain;i 99999999999999999999\n 7\n7\n"
         .. "main;j 1e3\nmain;k 1.2.3\nmain 1\n")
      assert.equal(2, trace.samples:count())
      local places = {}
      for i, warning in ipairs(trace.warnings) do
         assert.same({ "damage", "folded-line" }, { warning.kind, warning.code })
         places[i] = { tonumber(warning.message:match "^line (%d+) is not"), warning.offset }
      end
      assert.same({ { 2, 9 }, { 3, 16 }, { 4, 26 }, { 5, 54 }, { 6, 57 }, { 7, 59 }, { 8, 70 } },
         places)
   end)

   it("have notes of comments that look like stacks, and of a last line that may be cut", function()
      local rows, codes = read "#main;f 3\nmain;f 2\nmain 1"
      assert.same({ { "main;f", 2 }, { "main", 1 } }, rows)
      assert.same({ "folded-comment", "folded-last-line" }, codes)
   end)

   it("limit sums above 64 bits, with a note", function()
      local trace <close> = open("a;b 6000000000000000000\na;b 6000000000000000000\n")
      assert.equal(math.maxinteger .. "/" .. math.maxinteger, profiles.totals(trace:profile()).b)
      assert.equal("profile-overflow", trace.warnings[1].code)
   end)

   it("are the same lines by themselves and among others", function()
      local parts, wanted = {}, {}
      for i = 1, 10000 do
         parts[i] = ("f%d;g;h%d %d"):format(i % 7, i % 11, i)
         wanted[i] = { ("f%d;g;h%d"):format(i % 7, i % 11), i }
      end
      local text = table.concat(parts, "\n") .. "\n"
      assert.same(wanted, (read(text)))
      -- a line that is no stack after each one
      assert.same(wanted, (read((text:gsub("\n", "\n# no stack\n")))))
   end)

   it("are read across chunks", function()
      local deep = ("f;"):rep(1500000) .. "g"
      local rows = read("main;a 1\n" .. deep .. " 2\nmain;b 3\nmain;c " .. ("4"):rep(18) .. "\n")
      assert.same({ { "main;a", 1 }, { deep, 2 }, { "main;b", 3 },
         { "main;c", 444444444444444444 } }, rows)
      local many = {}
      for i = 1, 200000 do
         many[i] = "main;f" .. i .. " " .. i
      end
      local trace <close> = open(table.concat(many, "\n") .. "\n")
      assert.equal(200000, trace.samples:count())
      assert.equal(200000 * 200001 // 2, trace:profile():metrics()[1].total)
   end)

   it("of 65,536 digits, blanks or semicolons are read in linear time", function()
      for _, text in ipairs { "1", " ", ";", "1 ", "1.", " ;", ";1 " } do
         local line = text:rep(65536 // #text) .. "x"
         assert.same({}, (read(line .. "\n" .. line)))
         assert.is_nil(profio.open { data = line })
      end
   end)

   it("raise nothing wherever they are cut", function()
      for name in lfs.dir(seeds) do
         local text = not name:find "^%." and command.read(seeds .. name) or ""
         for size = 0, #text do
            local cut = text:sub(1, size)
            read(cut)
            local trace <close> = profio.open { data = cut } or nil
            if trace then
               trace:profile():flat():rows()
            end
         end
      end
   end)
end)

describe("folded stacks of LuaJIT", function()
   it("count each sample once if states are shown", function()
      for _, text in ipairs { "C code 16\nm;a 16\nCompiled 5\nm;a 4\nm;b 1\n",
         "m;a 16\nC code 16\nm;b 5\nCompiled 4\nInterpreted 1\n" } do
         local trace <close> = open(text, { format = "folded" })
         assert.equal(21, trace:profile():metrics()[1].total)
         assert.equal("folded-states", trace.warnings[1].code)
      end
      assert.same({ { "m;a", 16 }, { "Compiled", 5 } }, (read "m;a 16\nCompiled 5\n"))
      assert.same({ { "C code", 16 } }, (read "C code 16\n"))
   end)
end)

describe("folded stacks of Luau", function()
   it("have the weight first, the innermost function first, and microseconds", function()
      local trace <close> = assert(profio.open(seeds .. "luau"))
      assert.same({ { stack = "main.luau;work (main.luau:4);fib (main.luau:1)", weight = 1250000 },
         { stack = "main.luau;work (main.luau:4);GC", weight = 500000 },
         { stack = "main.luau;sort", weight = 90000 } }, trace.samples:rows("stack", "weight"))
      local metric = trace:profile():metrics()[1]
      assert.same({ "time", "ns", 1840000 }, { metric.name, metric.unit, metric.total })
      assert.same({}, trace:check())
   end)
end)

describe("export folded", function()
   it("writes what is read again as the same profile", function()
      local names = { "main", "f", "a b", "operator new(unsigned long)", "f 3", "x:12", "y_[k]",
         "Zoë", " ", "-1" }
      math.randomseed(7)
      for _ = 1, 20 do
         local lines = {}
         for i = 1, 200 do
            local stack = { "main" }
            for depth = 2, math.random(2, 7) do
               stack[depth] = names[math.random(#names)]
            end
            lines[i] = table.concat(stack, ";") .. " " .. math.random(0, 1000)
         end
         local first <close> = open(table.concat(lines, "\n") .. "\n")
         local written = assert(first:profile():export "folded")
         local second <close> = open(written, {})
         assert.equal("folded", second.format)
         assert.same({}, second:check())
         assert.equal(written, assert(second:profile():export "folded"))
         assert.same(profiles.totals(first:profile()), profiles.totals(second:profile()))
         assert.equal(first:profile():metrics()[1].total, second:profile():metrics()[1].total)
      end
   end)

   it("writes a difference that is read as both of its sides", function()
      local new <close> = open "main;f 5\nmain 1\n"
      local old <close> = open "main;f 3\nmain;g 2\n"
      local written = assert((new:profile() - old:profile()):export "folded")
      local trace <close> = open(written, {})
      local totals_of = {}
      for _, metric in ipairs(trace:profile():metrics()) do
         totals_of[metric.name] = metric.total
      end
      assert.same({ samples = 6, before = 5 }, totals_of)
   end)
end)

describe("files of other formats", function()
   local function below(folder, list)
      for name in lfs.dir(folder) do
         local path = folder .. "/" .. name
         local mode = lfs.attributes(path, "mode")
         if mode == "directory" and name:sub(1, 1) ~= "." then
            below(path, list)
         elseif mode == "file" then
            list[#list + 1] = path
         end
      end
      return list
   end

   it("are not taken for folded stacks, nor these for others", function()
      for _, folder in ipairs { "spec/fuzz/corpus", "lua", "csrc" } do
         for _, path in ipairs(below(folder, {})) do
            local trace <close> = profio.open(path) or nil
            local is_folded = trace ~= nil and trace.format == "folded"
            assert.equal(path:find(seeds, 1, true) ~= nil, is_folded, path)
         end
      end
   end)

   for _, folder in ipairs { "../shared/cases", "../shared/corpus" } do
      it("are not taken for folded stacks: " .. folder, function()
         if lfs.attributes(folder, "mode") ~= "directory" then
            pending("no " .. folder .. " here")
            return
         end
         for _, path in ipairs(below(folder, {})) do
            local trace <close> = profio.open(path) or nil
            assert.is_true(path:find "%.fold$" ~= nil or trace == nil
               or trace.format ~= "folded", path)
         end
      end)
   end
end)

describe("the command", function()
   it("shows, compares and converts folded stacks", function()
      command.file("a.folded", "main;f 30\nmain;g 10\n")
      command.file("b.folded", "main;f 60\nmain;g 10\n")
      local out, status, errors = command.run "profio --report tree a.folded"
      assert.same({ 0, "" }, { status, errors })
      assert.matches("30 +30 +75%.00%% +f", (out:gsub("\n", " ")))
      out, status = command.run "profio compare a.folded --new b.folded --single"
      assert.equal(0, status, out)
      assert.matches("slower   f\n", out)
      for _, kind in ipairs { "pprof", "svg", "html", "speedscope", "folded" } do
         _, status, errors = command.run("profio --export " .. kind .. " a.folded -o made." .. kind)
         assert.same({ 0, "" }, { status, errors })
      end
      out = command.run "profio made.pprof"
      assert.matches("\nf +30 +30 ", out)
      out = command.run "cat a.folded | gzip > c.folded.gz && profio c.folded.gz"
      assert.matches("\nf +30 +30 ", out)
   end)
end)
