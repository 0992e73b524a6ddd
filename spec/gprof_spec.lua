-- Compares the whole text of --compat gprof with that of gprof for the same files.
--
-- Long: compiles programs, and compares reports of many files with gprof.
-- Unsanitized: callbacks_spec and oom write all exports.

local profio = require "profio"
local programs = require "spec.support.programs"

-- gprof's text; names as the linker has them, or readable.
local function gprof(options, exe, files)
   return programs.output("gprof %s %s %s", options, exe, table.concat(files, " "))
end

local function ours(...)
   local text, status, errors = programs.analyze("--compat", "gprof", ...)
   assert.equal(0, status, errors)
   return text
end

-- Lines compared one by one, so that a failure shows the first that differs.
local function same_text(expected, text)
   local theirs = {}
   for line in (expected .. "\n"):gmatch "(.-)\n" do
      theirs[#theirs + 1] = line
   end
   local n = 0
   for line in (text .. "\n"):gmatch "(.-)\n" do
      n = n + 1
      assert.equal(theirs[n], line, "line " .. n)
   end
   assert.equal(#theirs, n)
   assert.is_true(n > 10)
end

local builds = {
   { "cycle", "spec/data/gmon/cycle.c", "-no-pie" },
   { "templates", "spec/data/gmon/templates.cpp", "-no-pie" },
   { "pie", "spec/data/gmon/cycle.c", "-pie -fPIE" },
   { "static", "spec/data/gmon/cycle.c", "-static" },
}

describe("--compat gprof", function()
   if not programs.has "gprof" then
      pending "gprof is not installed"
      return
   end

   for _, build in ipairs(builds) do
      it("prints the same as gprof: " .. build[1], function()
         local exe, files = programs.profiled(table.unpack(build))
         same_text(gprof("-b", exe, files), ours(files[1], exe))
      end)
   end

   it("prints the same as gprof -l", function()
      for _, build in ipairs { builds[1], builds[3], builds[4] } do
         local exe, files = programs.profiled(table.unpack(build))
         same_text(gprof("-b -l -p", exe, files), ours("--report", "lines", files[1], exe))
      end
   end)

   -- Inlined functions, parts that the compiler splits off, line 0 of clang, files of LTO.
   for _, build in ipairs {
      { "inlined", "spec/data/gmon/cycle.c", "-O2 -no-pie" },
      { "inlined-more", "spec/data/gmon/cycle.c", "-O3 -fno-semantic-interposition -pie -fPIE" },
      { "lto", "spec/data/gmon/cycle.c", "-O2 -flto -no-pie" },
      { "templates-inlined", "spec/data/gmon/templates.cpp", "-O2 -no-pie" },
      { "templates-lto", "spec/data/gmon/templates.cpp", "-O2 -flto -no-pie" },
   } do
      it("prints the same as gprof -l, and the same graph: " .. build[1], function()
         if build[1]:find "lto" and not programs.output("gprof --version"):find " 2%.40" then
            pending "newer binutils name the files of LTO rightly"
            return
         end
         local exe, files = programs.profiled(table.unpack(build))
         same_text(gprof("-b -l -p", exe, files), ours("--report", "lines", files[1], exe))
         same_text(gprof("-b -q", exe, files), ours("--report", "graph", files[1], exe))
      end)
   end

   it("prints the same as gprof -l for a program of clang", function()
      if not programs.has "clang" then
         pending "needs clang"
         return
      end
      for _, source in ipairs { "cycle.c", "templates.cpp" } do
         for _, level in ipairs { "-O0", "-O1", "-O2" } do
            local exe, files = programs.profiled("clang" .. level, "spec/data/gmon/" .. source,
               level .. " -no-pie", 1, source:find "cpp" and "clang++" or "clang")
            same_text(gprof("-b -l -p", exe, files), ours("--report", "lines", files[1], exe))
         end
      end
   end)

   it("narrows reports as gprof's options do", function()
      local exe, files = programs.profiled("narrowed", "spec/data/gmon/cycle.c", "-no-pie")
      local families = {
         { "-pF", "--report", "flat", "--focus", "flat=F" },
         { "-p -PF", "--report", "flat", "--ignore", "flat=F" },
         { "-qF", "--report", "graph", "--focus", "graph=F" },
         { "-q -QF", "--report", "graph", "--ignore", "graph=F" },
         { "-q -nF", "--report", "graph", "--focus", "time=F" },
         { "-q -NF", "--report", "graph", "--ignore", "time=F" },
         { "-q -F F", "--report", "graph", "--focus", "graph=F", "--focus", "time=F" },
         { "-q -E F", "--report", "graph", "--ignore", "graph=F", "--ignore", "time=F" },
      }
      for _, name in ipairs { "leaf", "ping", "work" } do -- ping is in a cycle
         for _, family in ipairs(families) do
            local words = {}
            for i, word in ipairs(family) do
               words[i] = word:gsub("%f[=]=F", "=" .. name):gsub("F$", name)
            end
            local expected = gprof("-b " .. words[1], exe, files)
            local text = ours(files[1], exe, table.unpack(words, 2))
            assert.equal(expected, text, words[1])
         end
      end
      assert.equal(gprof("-b -q -k work/ping", exe, files),
         ours("--report", "graph", "--ignore", "work/ping", files[1], exe))
   end)

   it("prints the same as gprof for three runs, also when they are merged", function()
      local exe, files = programs.profiled("three", "spec/data/gmon/cycle.c", "-no-pie", 3)
      local expected = gprof("-b", exe, files)
      same_text(expected, ours(files[1], files[2], files[3], exe))
      local sum = exe .. ".sum"
      local _, status, errors = programs.analyze("--merge", "-o", sum, files[1], files[2],
         files[3])
      assert.equal(0, status, errors)
      same_text(expected, gprof("-b", exe, { sum }))
      same_text(expected, ours(sum, exe))
   end)
end)

describe("--compat gprof on files of other machines", function()
   local names, folder = programs.corpus("gmon/made", ".gprof.txt")
   if #names == 0 then
      pending "the corpus is not there"
      return
   end
   for _, name in ipairs(names) do
      it("prints the same as gprof did: " .. name, function()
         local file <close> = assert(io.open(folder .. "/" .. name .. ".gprof.txt"))
         local base = folder .. "/" .. name
         local text = ours(base .. ".gmon", base .. ".elf")
         -- C sources: names need no demangling, so both print them alike.
         assert.equal(file:read "a", text)
      end)
   end
end)

describe("the exact mode", function()
   -- A hot loop, which runs for a fifth of a second, behind `count` functions, of 51 bytes each
   -- that are never run. Compiled from C these would take a hundred times as long to build.
   local function far_loop(count)
      local lines = { "#include <time.h>", "static volatile double sink;" }
      for i = 1, count do
         lines[#lines + 1] = ('__asm__(".globl cold%d\\n.type cold%d, @function\\n'
            .. 'cold%d: .skip 51\\n.size cold%d, 51");'):format(i, i, i, i)
      end
      lines[#lines + 1] = "__attribute__((noinline)) void hot (int n) {"
      lines[#lines + 1] = "  for (int i = 0; i < n; i++) sink += i * 0.5; }"
      lines[#lines + 1] = "int after (int x) { sink += x; return x + 1; }"
      lines[#lines + 1] = "int main (void) { while (clock() < CLOCKS_PER_SEC / 5) hot(10000000); "
         .. "return 0; }"
      return table.concat(lines, "\n") .. "\n"
   end

   for _, count in ipairs { 3000, 7001 } do
      it("finds a hot loop far into a large program: " .. count, function()
         local source = programs.source("far" .. count .. ".c", far_loop(count))
         local exe, files = programs.profiled("far" .. count, source, "-no-pie")
         local trace <close> = assert(profio.open(files[1], { exe = exe }))
         local rows = trace:profile():flat():rows("function", "self", "self_share")
         assert.equal("hot", rows[1]["function"])
         assert.is_true(rows[1].self_share > 0.98)
         local total, share = 0, 0
         for _, row in ipairs(rows) do
            total, share = total + row.self, share + row.self_share
         end
         local expected = trace.histogram:aggregate { "spent = sum(spent)" }:rows()[1].spent
         assert.equal(expected, total)
         assert.is_true(math.abs(share - 1) < 1e-9)
      end)
   end

   it("attributes time to suffixed functions and late code: the corpus", function()
      local _, folder = programs.corpus("gmon/made", ".gmon")
      local trace = profio.open(folder .. "/drift-x86_64.gmon",
         { exe = folder .. "/drift-x86_64.elf" })
      if not trace then
         pending "the corpus is not there"
         return
      end
      assert.same({ "hot", 900000000 },
         { trace:profile():flat():each("function", "self")() })
      local isra <close> = assert(profio.open(folder .. "/isra-x86_64.gmon",
         { exe = folder .. "/isra-x86_64.elf" }))
      local found = {}
      for name, calls, self in isra:profile():flat():each("function", "calls", "self") do
         found[name] = { calls, self }
      end
      assert.same({ 1, 80000000 }, found["hot2.constprop.0"])
      assert.same({ 1, 80000000 }, found["hot3.part.0"])
      assert.same({ 1, 80000000 }, found["hot4.cold"])
      assert.same({ 1, 70000000 }, found["hot1.isra.0"])
      assert.same({ 1, 0 }, found.mid)
      trace:close()
   end)
end)

describe("a profile that outlives its trace", function()
   it("knows where functions begin, also after it was narrowed", function()
      local source = programs.source("places.c", "int one (int n) {\n  return n + 1;\n}\n"
         .. "int two (int n) {\n  return one(n) + 1;\n}\n"
         .. "int main (void) {\n  return two(-2);\n}\n")
      local exe, files = programs.profiled("places", source, "-fno-inline")
      local trace <close> = assert(profio.open(files[1], { exe = exe }))
      local profile, lines = trace:profile(), {}
      local without_two = profile:hide "two"
      trace:close()
      for _, one in ipairs { profile, without_two } do
         for row in one:flat { zeros = true }:records() do
            lines[row["function"]] = row.file and row.file:match "[^/]*$" .. ":" .. row.line
         end
         assert.equal("places.c:1", lines.one)
      end
      assert.equal("places.c:4", lines.two)
      assert.equal("places.c:7", lines.main)
   end)
end)
