-- profio compare of two versions of a program that is built with -pg: one function is slower, one
-- is renamed, one is inlined into its caller, one is in another file.

local measured = require "spec.support.measured"
local programs = require "spec.support.programs"

local RUNS = 5

-- The program does the same work in each run: LOOPS, or as much as fits into a fifth of a second.
local main = [[
#include <stdio.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
volatile unsigned sink;
/* A chain of multiplications, whose time depends neither on memory nor on the place of the code. */
#define WORK(n) do { unsigned x = sink; \
   for (long i = 0; i < (n); i++) x = x * 1664525u + 1013904223u; sink = x; } while (0)
#ifndef MOVED
APART void moves(void) { WORK(1500000); }
#else
void moves(void);
#endif
APART void heavy(void) { WORK(HEAVY); }
APART void light(void) { WORK(2000000); }
APART void NAMED(void) { WORK(2000000); }
LEAF void leaf(void) { WORK(2000000); }
APART void parent(void) { WORK(300000); leaf(); }
int main(void)
{
   long n = 0;
#ifdef LOOPS
   while (n < LOOPS) {
#else
   while (clock() < CLOCKS_PER_SEC / 5) {
#endif
      heavy(); light(); NAMED(); parent(); moves(); n++;
   }
   printf("%ld\n", n);
   return 0;
}
]]

local other = [[
extern volatile unsigned sink;
void moves(void)
{
   unsigned x = sink;
   for (long i = 0; i < 1500000; i++) x = x * 1664525u + 1013904223u;
   sink = x;
}
]]

local flags = {
   old = "-DHEAVY=1500000 -DNAMED=old_name -DLEAF=APART",
   new = "-DHEAVY=6000000 -DNAMED=new_name -DMOVED "
      .. "'-DLEAF=static inline __attribute__((always_inline))'",
}

local built

-- Returns both versions: { exe =, files = } by name; built and run once, or again.
local function versions(is_again)
   if not built or is_again then
      built = {}
      local source = programs.source("compare_main.c", main)
      local file = programs.source("compare_other.c", other)
      local exe = programs.profiled("compare-timed", source, flags.old)
      local loops = tonumber(programs.output("cd %s && ./%s", exe:match "^(.*)/([^/]*)$"))
      for name, own in pairs(flags) do
         local program, files = programs.profiled("compare-" .. name, source, ("%s -DLOOPS=%d %s")
            :format(own, 3 * math.max(loops, 10), name == "new" and file or ""))
         built[name] = { exe = program, files = files }
      end
      for i = 2, RUNS do -- in turns, so that other work on the machine slows both alike
         for _, version in pairs(built) do
            version.files[i] = programs.run_profiled(version.exe, i)
         end
      end
   end
   return built.old, built.new
end

-- Returns the rows of profio compare by function.
local function compare(base, new, ...)
   local words = { "compare", base.exe }
   table.move(base.files, 1, #base.files, #words + 1, words)
   words[#words + 1] = "--new"
   words[#words + 1] = new.exe
   table.move(new.files, 1, #new.files, #words + 1, words)
   for _, word in ipairs { "--output", "csv", "--columns", "function,verdict,moved,relative",
      ... } do
      words[#words + 1] = word
   end
   local text, status, errors = programs.analyze(table.unpack(words))
   assert.equal(0, status, errors)
   local rows = {}
   for name, verdict, moved, relative in text:gmatch "([^,\n]*),([^,\n]*),([^,\n]*),([^,\n]*)\n" do
      rows[name] = { verdict = verdict, moved = moved, relative = tonumber(relative) }
   end
   return rows
end

local function check_planted(is_again)
   local rows = compare(versions(is_again))
   assert.equal("slower", rows.heavy.verdict)
   assert.equal("moved", rows.old_name.verdict)
   assert.equal("to new_name", rows.old_name.moved)
   assert.equal("moved", rows.leaf.verdict)
   assert.equal("to parent", rows.leaf.moved)
   assert.equal("from leaf", rows.parent.moved)
   assert.is_true(rows.moves.verdict ~= "gone" and rows.moves.verdict ~= "new")
end

local function check_equal(is_again)
   local old = versions(is_again)
   local function half(first)
      return { exe = old.exe, files = { old.files[first], old.files[first + 1] } }
   end
   for name, row in pairs(compare(half(1), half(3), "--alpha", "0.001")) do
      assert.is_true(name == "function" or row.verdict == "unchanged"
         or row.verdict == "unknown", name .. " is " .. row.verdict)
   end
end

describe("profio compare of two versions", function()
   if not programs.has "gcc" then
      pending "needs gcc"
      return
   end

   it("finds what was planted", function()
      measured.again(check_planted)
   end)

   it("counts calls exactly", function()
      local old, new = versions()
      local rows = compare(old, new, "--metric", "calls")
      assert.equal("gone", rows.leaf.verdict)
      assert.equal("moved", rows.new_name.verdict)
      for _, name in ipairs { "heavy", "light", "parent", "moves" } do
         assert.equal("unchanged", rows[name].verdict, name)
      end
   end)

   it("finds no difference between runs of one version", function()
      measured.again(check_equal)
   end)
end)
