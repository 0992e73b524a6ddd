-- Control characters, and those that a terminal hides or that turn the order of others, in names of
-- files, functions and areas, and in words of the command line, never reach a terminal: not in
-- reports, and not in warnings and errors.
--
-- Tags: user.
-- Long: many commands or rows, or programs that are compiled.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local dbf = require "spec.support.dbf_builder"
local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

local RED = "\27[31m"
local ESC = RED .. "\u{202e}\u{200b}"
local folder = command.folder .. "/escapes"

-- Quotes a text for the shell: \27 within single quotes stays as it is.
local function quoted(word)
   return "'" .. word .. "'"
end

local function write(name, options, rows)
   local w = assert(profio.create(folder .. "/" .. name, options))
   for _, row in ipairs(rows) do
      assert(w:write(row))
   end
   assert(w:close())
end

local traces = { "t" .. ESC .. ".txt", "x\27]0;hi\7.br", "c" .. ESC .. ".prf" }

setup(function()
   disk.fresh(folder)
   local name = "A" .. ESC .. "B\7\127"
   write(traces[1], { format = "winidea", dialect = "text1", timeline_binary = true }, {
      { time = 0, event = "enter", area = "A" .. ESC }, { time = 5, event = "leave",
         area = "A" .. ESC } })
   write(traces[2], { format = "br" }, { { module = name, line = 1, spent = 1000, kind = "function",
      ["function"] = name } })
   write(traces[3], { format = "xpp", form = "text" }, {
      { thread = 1, time = 1000000, op = "i", call = name, params = name },
      { thread = 1, time = 2000000, op = "o", call = name } })
   command.file("escapes/g" .. ESC, "garbage")
   command.file("escapes/fields.dbf", dbf { version = 0x03, { "A" .. RED .. "B", "C", 4 },
      { "N\u{202e}", "N", 3 } }:row { "x", 12 }:bytes())
   command.file("escapes/unit.gmon", gmon("<", 8):header():histogram { low = 0x1000, high = 0x1010,
      bins = { 1, 2, 3, 4 }, dimension = "a" .. ESC, abbreviation = "\27" }
      :arc(0x1000, 0x1004, 5):bytes())
   command.file("escapes/gmon.out", command.trace())
   command.file("escapes/s.nm", "0000000000001000 T ma" .. ESC .. "in\n0000000000001300 T etext\n")
end)

teardown(function()
   disk.remove(folder)
end)

-- Returns the control sequences in the output of a command. A form feed separates gprof's pages.
local function raw_of(line)
   local text, _, errors = command.run("cd escapes && profio " .. line)
   local said = (text .. errors):gsub("[\n\t\f]", "")
   local found = said:match "[^%c\127]*[%c\127][^%c\127]*" or said:match ".*\xe2\x80[\x8b\xae].*"
   return found and ("%s: %q"):format(line, found)
end

local function none_in(lines)
   local bad = {}
   for _, line in ipairs(lines) do
      bad[#bad + 1] = raw_of(line)
   end
   assert.same({}, bad)
end

describe("control characters", function()
   it("of a trace and of its name do not reach the terminal", function()
      for _, trace in ipairs(traces) do
         local lines = {}
         for _, words in ipairs { "", "--info", "--check", "--list-reports", "--new-script",
            "--report flat", "--report graph", "--report tree", "--report lines",
            "--report calls", "--report statistics", "--report load", "--report raw",
            "--report entries", "--report nosuch", "--table raw", "--symbols s.nm" } do
            lines[#lines + 1] = words .. " " .. quoted(trace)
         end
         lines[#lines + 1] = "--diff " .. quoted(trace) .. " " .. quoted(trace)
         none_in(lines)
      end
      none_in { quoted("g" .. ESC), quoted("nosuch" .. ESC), "--symbols s.nm gmon.out",
         quoted("g" .. ESC) .. " gmon.out", "--merge -o " .. quoted("no" .. ESC .. "/x")
         .. " gmon.out" }
   end)

   it("of fields and of units do not reach the terminal", function()
      local lines = {}
      for _, words in ipairs { "", "--info", "--check", "--table data", "--table structure",
         "--columns nosuch", "--where nosuch=1" } do
         lines[#lines + 1] = words .. " --format dbf fields.dbf"
      end
      none_in(lines)
      none_in { "unit.gmon", "--info unit.gmon", "--report flat unit.gmon",
         "--report graph unit.gmon", "--table sets unit.gmon", "--compat gprof unit.gmon" }
      assert.matches("A\\x1b[31mB", command.run "cd escapes && profio --format dbf fields.dbf", 1,
         true)
   end)

   it("of a word do not reach the terminal", function()
      local lines = {}
      for _, option in ipairs { "where", "report", "set", "format", "export", "columns", "focus",
         "limits", "script", "source", "mapping", "from", "exe", "sort", "group", "table" } do
         lines[#lines + 1] = ("--%s %s gmon.out"):format(option, quoted(ESC))
      end
      lines[#lines + 1] = quoted("--" .. ESC) .. " gmon.out"
      none_in(lines)
   end)

   it("are the same for reports and for messages", function()
      local plain, core = require "profio.internal.plain", require "profio.core"
      local list, shown = {}, {}
      for code = 0, 0xffff do
         if code < 0xd800 or code > 0xdfff then
            list[#list + 1] = { "a" .. utf8.char(code) .. "b" }
            shown[#shown + 1] = plain(list[#list][1])
         end
      end
      local text = core.write_rows(core.rows_reader({ { "text", "bytes" } }, list),
         { header = false })
      assert.equal(table.concat(shown, "\n") .. "\n", text)
      assert.equal("\\u202e\\u2066\\ufeff\\u061c\\x9b\\x0a",
         plain "\u{202e}\u{2066}\u{feff}\u{61c}\u{9b}\n")
   end)
end)
