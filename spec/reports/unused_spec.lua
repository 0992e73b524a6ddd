-- Functions that were never called: report unused, option --unused, profile:unused and report
-- annotate, compared with the zeros of gprof -z and with the sources.
--
-- Tags: user.
-- Long: compiles programs.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local csv = require "spec.support.csv"
local profio = require "profio"
local programs = require "spec.support.programs"

-- {====== A program of three files ======

local main_cpp = [[
#include <stdlib.h>
namespace shapes {
struct Circle {
   int area(int n);
   int never(int n);
};
int Circle::area(int n) { return n * 3; }
int Circle::never(int n) { return n; }
}
template <class T> int rounded(T value) { return (int)value; }
extern "C" int used_in_c(int);
static int helper(int n) { return n + 1; }
int (*volatile keep)(int) = helper;
int (*volatile keep_template)(double) = rounded<double>;
static int compared(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int main()
{
   shapes::Circle circle;
   int list[2] = { 2, 1 };
   qsort(list, 2, sizeof *list, compared);
   return used_in_c(circle.area(0)) + list[0] - 1;
}
]]

local second_c = [[
static int helper(int n) { return n + 2; }
int (*volatile keep_second)(int) = helper;
static int called(int n) { return n; }
int used_in_c(int n) { return called(n); }
int unused_in_c(int n) { return n; }
]]

local plain_c = "int plain(int n) { return n; }\n"

-- Functions that code with -pg never calls, by hand: the name, its file and its line. The library
-- calls `compared`, which nothing counts.
local expected = {
   "helper second.c 1",
   "unused_in_c second.c 5",
   "helper(int) unused.cpp 12",
   "int rounded<double>(double) unused.cpp 10",
   "plain plain.c 1",
   "shapes::Circle::never(int) unused.cpp 8",
   "compared(void const*, void const*) unused.cpp 15",
}
table.sort(expected)

local function build()
   local second = programs.source("second.c", second_c)
   programs.source("plain.c", plain_c)
   local folder = second:match "^(.*)/"
   assert(os.execute(("cd %s && gcc -g -c plain.c -o plain.o"):format(folder)))
   local exe, files = programs.profiled("unused", programs.source("unused.cpp", main_cpp),
      ("-O0 -falign-functions=16 -no-pie %s/plain.o -x c %s -x c++"):format(folder, second))
   return exe, files[1]
end

-- Returns the rows of a csv text by name of their columns.
local function rows_of(text)
   local records, rows = csv.parse(text), {}
   for i = 2, #records do
      rows[i - 1] = {}
      for at, name in ipairs(records[1]) do
         rows[i - 1][name] = records[i][at]
      end
   end
   return rows
end

-- Returns rows of report unused as texts, sorted.
local function listed(rows)
   local list = {}
   for _, row in ipairs(rows) do
      list[#list + 1] = ("%s %s %s"):format(row["function"], row.file:match "[^/]*$", row.line)
   end
   table.sort(list)
   return list
end

-- Returns the functions to which gprof -z adds neither time nor calls, without main: it called
-- others, so it ran, but no call of it is counted.
local function zeros_of_gprof(exe, file)
   local names = {}
   for line in programs.output("gprof -b -z -p %s %s", exe, file):gmatch "[^\n]+" do
      local name = line:match "^ +0%.00 +[%d.]+ +0%.00 +([^%d%s].*)$"
      names[#names + 1] = name ~= "main" and name or nil
   end
   table.sort(names)
   return names
end

-- }======

describe("functions that were never called", function()
   if not programs.has("gcc", "g++") then
      pending "needs gcc"
      return
   end

   local exe, file = build()

   it("are listed by --unused with their files and lines", function()
      local text, status, errors = programs.analyze("report", file, "--unused", exe, "--where",
         "file~.", "--output", "csv")
      assert.equal(0, status, errors)
      assert.same(expected, listed(rows_of(text)))
      assert.matches("1 function listed as never called is in files of which no call is counted "
         .. "%(plain%.c%): without %-pg these may have run %[profile%-uncounted%]", errors)
      assert.matches("callbacks.* %[profile%-uncounted%-callers%]", errors)
      assert.matches("have no known source file.* %[profile%-unlocated%]", errors)
   end)

   it("are those that gprof -z shows with zeros", function()
      if not programs.has "gprof" then
         pending "gprof is not installed"
         return
      end
      local text = programs.analyze("report", "unused", "--compat", "gprof", exe, file, "--output",
         "csv")
      local names = {}
      for _, row in ipairs(rows_of(text)) do
         names[#names + 1] = row["function"]
      end
      table.sort(names)
      local zeros = zeros_of_gprof(exe, file)
      assert.is_true(#zeros > #expected)
      assert.same(zeros, names)
   end)

   it("are one line of Lua, with notes", function()
      local trace <close> = assert(profio.open(file, { exe = exe }))
      local unused = trace:profile():unused()
      local rows = unused:where { file = profio.match "." }:rows()
      assert.same(expected, listed(rows))
      assert.equal(3, #unused.warnings)
   end)

   it("are marked and named by report annotate; what ran without counted calls is not", function()
      local text, status, errors = programs.analyze("report", "annotate", exe, file)
      assert.equal(0, status, errors)
      assert.matches("\n +##### %-> static int helper%(int n%) { return n %+ 1; }\n", text)
      assert.matches("\n +1 %-> int used_in_c", text)
      assert.matches("\nFunctions that were never called:\n\n        1   helper\n"
         .. "        5   unused_in_c\n", text)
      assert.matches("%*%*%* File [^\n]*plain%.c:\n\nFunctions that were never called:\n\n"
         .. "        1   plain\n", text)
      assert.is_nil(text:match "#####[^\n]*int main")
      assert.is_nil(errors:match "profile%-unlocated")
      text, status = programs.analyze("report", "annotate", exe, file, "--focus", "used_in_c")
      assert.equal(0, status)
      assert.is_nil(text:match "#####")
   end)
end)

describe("report unused", function()
   local path = command.file("unused.out", builder("<", 8):header()
      :histogram { low = 0x1000, high = 0x1400, bins = { 0, 3, 0, 0 } }
      :arc(0x1110, 0x1000, 2):bytes())
   command.file("unused.nm", "0000000000001000 T called\n0000000000001100 T sampled\n"
      .. "0000000000001200 T idle\n0000000000001280 t idle.cold\n0000000000001300 T late\n")

   it("leaves out functions with samples or calls, and parts of functions", function()
      local text = command.fine("profio report unused unused.out --symbols unused.nm "
         .. "--columns function --output csv")
      assert.equal("function\nidle\nlate\n", text)
   end)

   it("says why it does not fit", function()
      local _, status, errors = command.run "profio report --unused unused.out"
      assert.same(2, status)
      assert.matches("only the program knows functions that were never called: give it beside the "
         .. "file, or %-%-exe PROGRAM", errors)
      command.file("uncalled.out", builder("<", 8):header()
         :histogram { low = 0x1000, high = 0x1400, bins = { 0, 3, 0, 0 } }:bytes())
      _, status, errors = command.run "profio --unused uncalled.out --symbols unused.nm"
      assert.same(2, status)
      assert.matches("it counts no calls", errors)
   end)

   it("is what --unused shows, and no option of other reports", function()
      assert.equal(command.fine "profio report unused unused.out --symbols unused.nm",
         command.fine "profio unused.out --symbols unused.nm --unused")
      local _, status, errors = command.run
         "profio report flat --unused unused.out --symbols unused.nm"
      assert.same(2, status)
      assert.matches("%-%-report and %-%-unused do not go together", errors)
   end)

   it("is for the profile of a trace: sums do not know the program", function()
      local trace <close> = assert(profio.open(path, { symbols = command.folder .. "/unused.nm" }))
      local sum = trace:profile() + trace:profile()
      for _, part in ipairs { sum, trace:profile():focus "called", trace:profile():group "file" } do
         assert.has_error.matches(function()
            part:unused()
         end, "unused is of a whole profile of histogram and arcs")
      end
   end)
end)
