-- profio compare of two versions of a program that is built with -pg: one function is slower, one
-- is renamed, one is inlined into its caller, one is in another file.
--
-- Long: many commands or rows, or programs that are compiled.
-- Unsanitized: compare_spec and the specs of gmon run the same branches.

local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local programs = require "spec.support.programs"

local RUNS <const> = 5

-- The program runs for its symbols and arcs; its samples are planted.
local main = [[
#define APART __attribute__((noinline, noclone))
volatile unsigned sink;
#ifndef MOVED
APART void moves(void) { sink++; }
#else
void moves(void);
#endif
APART void heavy(void) { sink++; }
APART void light(void) { sink++; }
APART void NAMED(void) { sink++; }
LEAF void leaf(void) { sink++; }
APART void parent(void) { sink++; leaf(); }
int main(void)
{
   for (int i = 0; i < 1000; i++) { heavy(); light(); NAMED(); parent(); moves(); }
   return 0;
}
]]

local other = "extern volatile unsigned sink;\nvoid moves(void) { sink++; }\n"

local flags = {
   old = "-DNAMED=old_name -DLEAF=APART",
   new = "-DNAMED=new_name -DMOVED '-DLEAF=static inline __attribute__((always_inline))'",
}

-- Samples of a run, before the noise: `heavy` takes four times as long in the new version, and
-- `parent` does what `leaf` did.
local samples = {
   old = { heavy = 1500, light = 2000, old_name = 2000, leaf = 2000, parent = 300, moves = 1500 },
   new = { heavy = 6000, light = 2000, new_name = 2000, parent = 2300, moves = 1500 },
}

-- Returns the addresses of the functions of a program.
local function addresses(exe)
   local list = {}
   for address, name in programs.output("nm %s", exe):gmatch "(%x+) [Tt] ([%w_]+)" do
      list[name] = tonumber(address, 16)
   end
   return list
end

-- Writes a run: the arcs of the real one, and samples with a noise of up to 3 %.
local function write_run(path, version, number, addresses_of, arcs)
   local low, bins = addresses_of.main & ~0xfff, {}
   math.randomseed(number)
   for i = 1, 0x1000 // 4 do
      bins[i] = 0
   end
   for _, name in ipairs { "heavy", "light", "old_name", "new_name", "leaf", "parent", "moves" } do
      local count = samples[version][name]
      if count then
         bins[(addresses_of[name] - low) // 4 + 2] = count + math.random(0, count * 3 // 100)
      end
   end
   local file = gmon("<", 8):header():histogram { low = low, high = low + 0x1000, bins = bins }
   for _, arc in ipairs(arcs) do
      file:arc(arc.from, arc.to, arc.count)
   end
   local out <close> = assert(io.open(path, "wb"))
   out:write(file:bytes())
end

local built = {}

-- Returns both versions: { exe =, files = }.
local function versions()
   for name, own in pairs(built.old and {} or flags) do
      local source = programs.source("compare_main.c", main)
      local file = programs.source("compare_other.c", other)
      local exe, real = programs.profiled("compare-" .. name, source, ("-no-pie %s %s"):format(own,
         name == "new" and file or ""))
      local trace <close> = assert(profio.open(real[1]))
      local arcs, files = trace.arcs:rows("from", "to", "count"), {}
      for i = 1, RUNS do
         files[i] = real[1] .. "." .. i
         write_run(files[i], name, name == "old" and i or RUNS + i, addresses(exe), arcs)
      end
      built[name] = { exe = exe, files = files }
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

describe("profio compare of two versions", function()
   if not programs.has "gcc" then
      pending "needs gcc"
      return
   end

   it("finds what was planted", function()
      local rows = compare(versions())
      assert.equal("slower", rows.heavy.verdict)
      assert.near(3, rows.heavy.relative, 0.1)
      assert.same({ verdict = "moved", moved = "to new_name" },
         { verdict = rows.old_name.verdict, moved = rows.old_name.moved })
      assert.same({ verdict = "moved", moved = "to parent" },
         { verdict = rows.leaf.verdict, moved = rows.leaf.moved })
      assert.equal("from leaf", rows.parent.moved)
      assert.equal("unchanged", rows.moves.verdict)
      assert.equal("unchanged", rows.light.verdict)
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
      local old = versions()
      local function half(first)
         return { exe = old.exe, files = { old.files[first], old.files[first + 1] } }
      end
      for name, row in pairs(compare(half(1), half(3), "--alpha", "0.001")) do
         assert.is_true(name == "function" or row.verdict == "unchanged"
            or row.verdict == "unknown", name .. " is " .. row.verdict)
      end
   end)
end)
