-- Notes about what the profile of a gmon.out lacks: samples, calls, names, callers. Each is there
-- for a file that shows the case, and for no other.
--
-- Tags: user.
-- Long: compiles programs.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local profio = require "profio"
local programs = require "spec.support.programs"

-- {====== Files ======

local nm = "0000000000001000 T alpha\n0000000000001100 T beta\n0000000000001200 T end_of_beta\n"
command.file("notes.nm", nm)

-- Returns a file with bins of 256 bytes from 0x1000 on, and arcs from alpha to beta.
local function file_of(name, bins, calls)
   local built = builder.new("<", 8):header():histogram { low = 0x1000,
      high = 0x1000 + 0x100 * #bins, bins = bins }
   return command.file(name, (calls and built:arc(0x1010, 0x1100, calls) or built):bytes())
end

-- Returns the notes of a trace after its profile was built, by code.
local function notes_of(path, options)
   local trace <close> = assert(profio.open(path, options
      or { symbols = command.folder .. "/notes.nm" }))
   trace:profile()
   local notes = {}
   for _, warning in ipairs(trace.warnings) do
      assert.equal("note", warning.kind)
      notes[warning.code] = warning.message
   end
   return notes
end

-- }======

describe("a profile of a gmon.out", function()
   it("has no notes if it has samples, calls and names", function()
      assert.same({}, notes_of(file_of("fine.out", { 3, 4 }, 5)))
   end)

   it("without samples has a note", function()
      local notes = notes_of(file_of("unsampled.out", { 0, 0 }, 5))
      assert.matches("^no sample, although calls are counted: .*child of fork",
         notes["gmon-no-samples"])
      notes["gmon-no-samples"] = nil
      assert.same({}, notes)
      assert.matches("^neither samples nor calls",
         notes_of(file_of("nothing.out", { 0, 0 }))["gmon-no-samples"])
   end)

   it("without calls has a note", function()
      local notes = notes_of(file_of("uncounted.out", { 3, 4 }))
      assert.matches("^no call is counted: the program was linked with %-pg",
         notes["gmon-no-calls"])
      notes["gmon-no-calls"] = nil
      assert.same({}, notes)
   end)

   it("with samples outside of the symbols has a note with their number", function()
      command.file("gap.nm", "0000000000001100 T beta\n0000000000001200 T end_of_beta\n")
      local notes = notes_of(file_of("outside.out", { 1, 3 }, 5),
         { symbols = command.folder .. "/gap.nm" })
      assert.matches("^1 of 4 samples %(25%.0 %%%) are at addresses that no symbol",
         notes["gmon-samples-outside"])
      notes = notes_of(command.folder .. "/outside.out", {})
      assert.is_nil(notes["gmon-samples-outside"]) -- no names are known at all
      assert.is_string(notes["symbols-no-executable"])
   end)

   it("of a static program has a note about mcount", function()
      command.file("mcount.nm", "0000000000001000 T alpha\n0000000000001100 T mcount\n"
         .. "0000000000001200 T end_of_mcount\n")
      local notes = notes_of(file_of("mcount.out", { 1, 3 }, 5),
         { symbols = command.folder .. "/mcount.nm" })
      assert.matches("^75%.0 %% of the whole is mcount", notes["gmon-mcount"])
   end)

   it("has the notes on standard error, with their codes, and remedies in help", function()
      local _, status, errors = command.run "profio report flat unsampled.out --symbols notes.nm"
      assert.equal(0, status)
      assert.matches("note: no sample, .* %[gmon%-no%-samples%]\n", errors)
      for _, code in ipairs { "gmon-no-samples", "gmon-no-calls", "gmon-samples-outside",
         "gmon-mcount", "gmon-threads", "profile-spontaneous", "profile-uncounted",
         "profile-uncounted-callers", "profile-unlocated" } do
         assert.matches("Remedy: ", command.fine("profio help " .. code))
      end
   end)

   it("has none of them with gprof's arithmetic, or of selected arcs", function()
      local trace <close> = assert(profio.open(file_of("selected.out", { 3, 4 }, 5)))
      trace:profile { arcs = trace.arcs:where { count = 0 } }
      trace:profile { compat = "gprof" }
      for _, warning in ipairs(trace.warnings) do
         assert.is_nil(warning.code:match "^gmon%-")
      end
   end)
end)

describe("a program compiled with -pg", function()
   if not programs.has "gcc" then
      pending "needs gcc"
      return
   end

   local burning = [[
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern void moncontrol(int);
volatile long sink;
__attribute__((noinline)) static int key(const void *a)
{
   for (int i = 0; i < 200; i++)
      sink += i;
   return *(const int *)a;
}
static int compared(const void *a, const void *b) { return key(a) - key(b); }
static void sort(void)
{
   static int list[1000];
   for (clock_t end = clock() + CLOCKS_PER_SEC / 4; clock() < end;)
      qsort(list, 1000, sizeof *list, compared);
}
]]

   -- Returns the program, and the file of the process whose code runs in `body`.
   local function built(name, body)
      local source = programs.source(name .. ".c", burning .. "int main(void) {\n" .. body .. "}\n")
      local exe, files = programs.profiled(name, source, "-O0 -no-pie")
      return exe, files[1]
   end

   it("has no samples of a child of fork, which moncontrol(1) gives", function()
      for call, expected in pairs { [""] = true, ["moncontrol(1);"] = false } do
         local exe, file = built("forked" .. #call, "if (fork() != 0) { wait(NULL); _exit(0); }\n"
            .. call .. " sort(); return 0;\n")
         assert.equal(expected, notes_of(file, { exe = exe })["gmon-no-samples"] ~= nil)
      end
   end)

   it("has a note about numbers of calls if it starts threads", function()
      local source = programs.source("threads.c", [[
#include <pthread.h>
volatile int sink;
__attribute__((noinline)) static void leaf(void) { sink++; }
static void *work(void *argument) { leaf(); return argument; }
int main(void)
{
   pthread_t thread;
   leaf();
   return IS_THREADED && (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL));
}
]])
      for is_threaded, name in ipairs { "unthreaded", "threaded" } do
         local flags = ("-no-pie -pthread -DIS_THREADED=%d"):format(is_threaded - 1)
         local exe, files = programs.profiled(name, source, flags)
         assert.equal(name == "threaded", notes_of(files[1], { exe = exe })["gmon-threads"] ~= nil)
      end
   end)

   it("has no caller of what the C library calls", function()
      local exe, file = built("called-back", "sort(); return 0;\n")
      local text, status, errors = programs.analyze("report", "graph", exe, file)
      assert.equal(0, status)
      assert.matches("<spontaneous>\n%[%d+%] +[%d.]+ +[%d.]+ +[%d.]+ +compared ", text)
      assert.matches("note: no call of compared is counted %(<spontaneous>%).* "
         .. "%[profile%-spontaneous%]", errors)
   end)
end)
