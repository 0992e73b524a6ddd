-- gprof's numbers, order and text, compared with what gprof 2.40 prints.
--
-- Extra: programs of many shapes beside gprof; gprof_spec has some of them.

local disk = require "spec.support.disk"
local gprof = require "spec.support.gprof"

local corpus = "../shared/corpus/gmon/"

local function contents(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:read "a"
end

-- Fail with the first line that differs.
local function assert_same_text(want, got, what)
   if want == got then
      return
   end
   local lines, number = want:gmatch "[^\n]*", 0
   for line in got:gmatch "[^\n]*" do
      local other = lines()
      number = number + 1
      if line ~= other then
         error(("%s: line %d: expected %q, got %q"):format(what, number, other, line), 2)
      end
   end
   error(what .. ": expected more lines", 2)
end

local function temporary()
   local path = disk.temporary()
   os.remove(path)
   disk.folder(path)
   return path .. "/"
end

-- {====== The corpus ======

local manifest = io.open(corpus .. "MANIFEST.md")

local function pairs_made()
   local list, seen = {}, {}
   for target in manifest:read "a":gmatch "| ([%w_-]+)%.gmon |" do
      local base = corpus .. "made/" .. target
      local file = io.open(base .. ".gprof.txt")
      if file and not seen[base] then
         seen[base] = true
         list[#list + 1] = base
      end
      if file then
         file:close()
      end
   end
   return list
end

describe("the files of the corpus", function()
   if not manifest then
      pending "the corpus is not there"
      return
   end

   it("give gprof's text, of all 16 targets", function()
      local bases = pairs_made()
      assert.is_true(#bases >= 32)
      for _, base in ipairs(bases) do
         local profile = assert(gprof.profile(base .. ".elf", { base .. ".gmon" }))
         assert_same_text(contents(base .. ".gprof.txt"), gprof.text(profile), base)
      end
   end)

   it("give gprof's text of edge cases", function()
      if not gprof.is_known() then
         pending "gprof 2.40 is not there"
         return
      end
      local exe = corpus .. "made/x86_64-native-no-pie.elf"
      for name in ("adj base big bsd44-w8-le dim15 disj hz0 last oldbsd-w8-le out_of_range rev"
         .. " same2 straddle v0 zerobins rate1000"):gmatch "%S+" do
         local path = corpus .. "synthetic/" .. name .. ".gmon"
         local text = gprof.run("--no-demangle " .. exe .. " " .. path)
         assert.is_true(#text > 0, name)
         assert_same_text(text, gprof.text(assert(gprof.profile(exe, { path }))), name)
      end
   end)

   it("are refused where gprof refuses them", function()
      local exe = corpus .. "made/x86_64-native-no-pie.elf"
      for name, words in pairs { overlap = "overlapping histogram records",
         scale = "different scales in histogram records",
         dim = "dimension unit changed between histogram records",
         abbr = "dimension abbreviation changed between histogram records" } do
         local path = corpus .. "synthetic/" .. name .. ".gmon"
         local profile, message, code = gprof.profile(exe, { path })
         assert.is_nil(profile)
         assert.matches(words, message, 1, true)
         assert.same("unsupported", code)
         assert.is_truthy(gprof.profile(exe, { path }, { compat = false }))
      end
   end)
end)

-- }======

-- {====== Generated programs ======

-- A program of `count` functions, and its symbols from nm.
local function build(folder, count)
   local lines = { "volatile int v;" }
   for i = 1, count do
      local form = ({ "f%d", "_g%d", "__h%d", "Zed%d" })[math.random(4)]
      lines[i + 1] = ("%s__attribute__((noinline,used)) int %s(int a) { %s return a + v; }"):format(
         math.random(3) == 1 and "static " or "", form:format(i), ("v += 3; "):rep(math.random(5)))
   end
   lines[#lines + 1] = "int main(void) { return 0; }"
   local file = assert(io.open(folder .. "p.c", "w"))
   file:write(table.concat(lines, "\n"), "\n")
   file:close()
   assert(os.execute(("gcc -w -O%d %s %s -o %sp %sp.c"):format(math.random(0, 2),
      math.random(2) == 1 and "-g" or "", math.random(2) == 1 and "-pie" or "-no-pie", folder,
      folder)))
   local symbols = {}
   for line in io.popen("nm -n " .. folder .. "p"):lines() do
      local address, class, name = line:match "^(%x+) (%a) (%S+)$"
      if address and class:match "[tT]" and not name:match "etext$" then
         symbols[#symbols + 1] = tonumber(address, 16)
      end
   end
   return symbols
end

-- A trace with bins that do not divide the code evenly, and arcs in cycles.
local function trace(path, symbols, arcs)
   local low, high = symbols[1] & ~15, (symbols[#symbols] + 67) & ~3
   local count = math.random(3) == 1 and (high - low) // 4 or (high - low) // math.random(2, 16)
   local parts = { ("<c4I4c12BI8I8I4I4c15c1"):pack("gmon", 1, "", 0, low, high, count,
      ({ 100, 1000, 7 })[math.random(3)], "seconds", "s") }
   for _ = 1, count do
      parts[#parts + 1] = ("<I2"):pack(math.random(20) == 1 and math.random(0, 3000) or 0)
   end
   for _ = 1, arcs do
      local from, to = math.random(#symbols), math.random(#symbols)
      if from > to and math.random(10) > 1 then
         from, to = to, from
      end
      parts[#parts + 1] = ("<BI8I8I4"):pack(1, symbols[from] + math.random(0, 4),
         symbols[math.random(25) == 1 and from or to], math.random(4) == 1 and math.random(1 << 31)
         or math.random(0, 3))
   end
   local file = assert(io.open(path, "wb"))
   file:write(table.concat(parts))
   file:close()
end

local function random_filter(names)
   local options, flags = {}, ""
   local kinds = { { "exclude_graph", "-e %s" }, { "include_graph", "-f %s" },
      { "exclude_time", "-N%s" }, { "include_time", "-n%s" }, { "exclude_flat", "-P%s -q" } }
   for _ = 1, math.random(2) do
      local kind, name = kinds[math.random(#kinds)], names[math.random(#names)]
      options[kind[1]] = options[kind[1]] or {}
      table.insert(options[kind[1]], name)
      flags = flags .. kind[2]:format(name) .. " "
   end
   if math.random(3) == 1 then
      options.zeros, flags = true, flags .. "-z "
   end
   return options, flags .. "-p -q "
end

describe("random call graphs over generated programs", function()
   if not gprof.is_known() or not gprof.has("gcc", "nm") then
      pending "gprof 2.40 or gcc is not there"
      return
   end

   it("give gprof's text, with and without its filters", function()
      local folder = temporary()
      for case = 1, 12 do
         math.randomseed(case)
         local symbols = build(folder, ({ 5, 30, 200 })[case % 3 + 1])
         trace(folder .. "gmon", symbols, #symbols * math.random(1, 4))
         local files = folder .. "p " .. folder .. "gmon"
         local profile = assert(gprof.profile(folder .. "p", { folder .. "gmon" }))
         local what = "case " .. case
         assert_same_text(gprof.run("--no-demangle " .. files), gprof.text(profile), what)
         local names = { "main", "_start", "frame_dummy", "f1", "Zed2", "_g3", "f4" }
         for _ = 1, 4 do
            local options, flags = random_filter(names)
            assert_same_text(gprof.run("--no-demangle " .. flags .. files),
               gprof.text(profile, options), what .. " with " .. flags)
         end
      end
      disk.remove(folder)
   end)

   it("give gprof's text of several traces of one program", function()
      local folder = temporary()
      math.randomseed(77)
      local symbols = build(folder, 40)
      trace(folder .. "a", symbols, 60)
      assert(os.execute(("cp %sa %sb"):format(folder, folder)))
      local profile = assert(gprof.profile(folder .. "p", { folder .. "a", folder .. "b" }))
      assert_same_text(gprof.run(("--no-demangle %sp %sa %sb"):format(folder, folder, folder)),
         gprof.text(profile), "two traces")
      disk.remove(folder)
   end)
end)

local program = [[
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> struct Walk {
  static long go(int d) {
    return d <= 0 ? N : Walk<(N + 1) % 5>::go(d - 1) + Walk<(N + 3) % 5>::go(d - 2);
  }
};
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int main() {
  long s = even(1000) + Walk<0>::go(18);
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < 20000; i++) m[std::to_string(i % 500)].push_back(i);
  for (auto &p : m) std::sort(p.second.begin(), p.second.end());
  return s == 42;
}
]]

describe("a profiled C++ program", function()
   if not gprof.is_known() or not gprof.has "g++" then
      pending "gprof 2.40 or g++ is not there"
      return
   end

   it("gives gprof's text, demangled or not, for each way of linking", function()
      local folder = temporary()
      local file = assert(io.open(folder .. "p.cc", "w"))
      file:write(program)
      file:close()
      for _, flags in ipairs { "-O0 -g", "-O1 -no-pie", "-O0 -static" } do
         assert(os.execute(("cd %s && g++ %s -pg -o p p.cc && ./p"):format(folder, flags)))
         local exe, traces = folder .. "p", { folder .. "gmon.out" }
         local files = exe .. " " .. traces[1]
         assert_same_text(gprof.run("--no-demangle " .. files),
            gprof.text(assert(gprof.profile(exe, traces))), flags)
         assert_same_text(gprof.run(files),
            gprof.text(assert(gprof.profile(exe, traces, { demangle = true }))), flags)
      end
      disk.remove(folder)
   end)
end)

-- }======
