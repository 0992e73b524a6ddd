-- The page `migrating` of help: it has every option of `gprof --help`, and what it names instead
-- gives the result of gprof. gprof_spec and reports/unused_spec compare -p, -q, -l, -F, -k, -s, -z.
--
-- Tags: user.
-- Long: compiles programs.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local core = require "profio.core"
local headings = require "profio.reports.gprof.headings"
local profio = require "profio"
local programs = require "spec.support.programs"

local section = command.read "lua/profio/help/migrating.md":match "\n(## gprof\n.-)\n## "

-- {====== Texts ======

-- Returns the options in the text of `gprof --help`: "-a", "--all-lines", "@FILE".
local function options_of(help)
   local list = {}
   for letters in help:gmatch "%[%-%[(%a+)%]" do
      for letter in letters:gmatch "%a" do
         list[#list + 1] = "-" .. letter
      end
   end
   for letter in help:gmatch "%[%-(%a)[ %[]" do
      list[#list + 1] = "-" .. letter
   end
   for both, name in help:gmatch "%[%-%-(%[?n?o?%-?%]?)([%a-]+)" do
      local is_both = both == "[no-]"
      list[#list + 1] = "--" .. (is_both and "" or both) .. name
      list[#list + 1] = is_both and "--no-" .. name or nil
   end
   list[#list + 1] = help:match "%[(@FILE)%]"
   return list
end

local function sorted_lines(text)
   local list = {}
   for line in text:gmatch "[^\n]+" do
      list[#list + 1] = line
   end
   table.sort(list)
   return list
end

-- Returns the entries of a call graph of lines, without their numbers and shares: gprof numbers the
-- lines of one function in any order, and its whole has less code without lines.
local function entries_of(text)
   local list = {}
   for entry in text:gmatch "(.-)%-%-%-%-%-+\n" do
      list[#list + 1] = table.concat(sorted_lines((entry:gsub("%[%d+%] +[%d.]+ ",
         ""):gsub(" *[%[(]%d+[%])]", ""))), "\n")
   end
   return list
end

-- Returns the calls at the lines of annotated sources: { "line of the source: calls", ... }.
local function calls_of_lines(text)
   local list = {}
   for count, source in text:gmatch "(%d+) %-> ([^\n]*)" do
      list[#list + 1] = source .. ": " .. count
   end
   table.sort(list)
   return list
end

-- }======

describe("the page migrating", function()
   if not programs.has("gprof", "gcc", "g++") then
      pending "gprof is not installed"
      return
   end

   local exe, files = programs.profiled("cycle", "spec/data/gmon/cycle.c", "-no-pie")
   local file = files[1]

   local function gprof(options)
      return programs.output("gprof %s %s %s", options, exe, file)
   end

   local function ours(...)
      local text, status, errors = programs.analyze(exe, file, ...)
      assert.equal(0, status, errors)
      return text
   end

   it("has every option of gprof --help", function()
      local list = options_of(programs.output "gprof --help")
      assert.is_true(#list > 70)
      for _, option in ipairs(list) do
         local pattern = "[`\n ]" .. option:gsub("%p", "%%%0") .. "%f[^%w-]"
         assert.is_truthy(section:find(pattern), option)
      end
   end)

   it("shows the executions of -C, of the same functions", function()
      local expected = sorted_lines(gprof "-b -C")
      assert.is_true(#expected > 3)
      assert.same(expected, sorted_lines(ours("--report", "blocks")))
      assert.same(sorted_lines(gprof "-b -Cleaf"), sorted_lines(ours("--report", "blocks",
         "--where", "function=leaf")))
   end)

   it("shows the calls of -A at the same lines", function()
      local expected = calls_of_lines(gprof "-b -A")
      assert.is_true(#expected > 3)
      assert.same(expected, calls_of_lines(ours("--report", "annotate")))
   end)

   it("counts the records of -i", function()
      local trace <close> = assert(profio.open(file))
      local text = gprof "-i"
      assert.equal(tonumber(text:match "(%d+) histogram record"), trace.info.sets)
      assert.equal(tonumber(text:match "(%d+) call%-graph record"), trace.info.arcs)
      assert.equal(tonumber(text:match "(%d+) basic%-block"), trace.info.blocks)
   end)

   it("shows the call graph of -l -q", function()
      local trace <close> = assert(profio.open(file, { exe = exe, compat = "gprof" }))
      local rows = trace:profile { by_line = true }:graph_listing()
      local text = core.write_listing(rows:reader(), headings.listing "graph")
      local known = {}
      for _, entry in ipairs(entries_of(text)) do
         known[entry] = true
      end
      local expected = entries_of(gprof "-b -l -q":match "called     name\n(.-)\f")
      assert.is_true(#expected > 3)
      for _, entry in ipairs(expected) do
         assert.is_true(known[entry], entry)
         known[entry] = nil
      end
      for entry in pairs(known) do -- gprof leaves out lines of which no call is counted
         assert.is_truthy(entry:find("<spontaneous>", 1, true), entry)
      end
   end)

   it("takes the symbols of -S", function()
      local symbols = command.folder .. "/migrating.nm"
      os.execute(("nm %s >%s"):format(exe, symbols))
      assert.equal(gprof("-b -p -S " .. symbols), (programs.analyze("--report", "flat", "--compat",
         "gprof", "--symbols", symbols, "--exe", exe, file)))
   end)

   it("has the names of --no-demangle", function()
      local program, outputs = programs.profiled("templates", "spec/data/gmon/templates.cpp",
         "-no-pie")
      local trace <close> = assert(profio.open(outputs[1], { exe = program, compat = "gprof" }))
      local expected, names = {}, {}
      for line in programs.output("gprof -b -p --no-demangle %s %s", program,
         outputs[1]):match "name +\n(.*)":gmatch "[^\n]+" do
         expected[#expected + 1] = line:match "(%S+)$"
      end
      for name in trace:profile { demangle = false }:flat():each "function" do
         names[#names + 1] = name
      end
      assert.is_true(#names > 3)
      assert.same(expected, names)
   end)

   it("reads options from a file as @FILE does", function()
      local path = command.file("migrating.options", "-p\n")
      local words = command.file("migrating.words", "--report\nflat\n--compat\ngprof\n")
      assert.equal(gprof("-b @" .. path), (programs.output(
         "lua5.4 examples/analyze.lua $(cat %s) %s %s", words, exe, file)))
   end)
end)
