-- Tries every option of the command with every report, export and mode that fits a file: it is
-- refused with status 2 and a message that names it, or it changes the output.
--
-- Extra: each option with each report and export.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local br = require "spec.support.br_builder"
local builder = require "spec.support.gmon_builder"
local cli = require "profio.cli"
local command = require "spec.support.command"
local dbf = require "spec.support.dbf_builder"
local dcpi = require "spec.support.dcpi_builder"
local elf = require "spec.support.elf"
local exports = require "profio.internal.exporting.export_list"
local lfs = require "lfs"
local options = require "profio.cli.command_line"
local profio = require "profio"
local programs = require "spec.support.programs"
local reports = require "profio.reports"
local xpp = require "spec.support.xpp_builder"

require "spec.support.events"

-- A folder of its own: other specs hold that theirs is no database.
local folder = command.folder .. "/../together"
lfs.mkdir(folder)
lfs.mkdir(folder .. "/sources")
local prg = assert(io.open(folder .. "/sources/together.prg", "w"))
prg:write "PROCEDURE Main\nFUNCTION A\nFUNCTION B\nFUNCTION C\nFUNCTION D\n"
prg:close()

local function file(name, bytes)
   return command.file("../together/" .. name, bytes)
end

-- {====== One file of each kind ======

local function gmon(work)
   local bins = {}
   for i = 1, 190 do -- of 4.04 bytes: some lie in two functions
      bins[i] = i == 2 and 10 or i == 64 and work or i == 140 and 15 or 0
   end
   return builder("<", 8):header():histogram { low = 0x1000, high = 0x1300, bins = bins }
      :arc(0x1010, 0x1104, 5):arc(0x1110, 0x1204, work):bytes()
end

local timeline = [[
0 enter main cpu0
500000 write state:T=ACTIVE cpu0
600000 write state:T=RUNNING cpu0
1000000 enter leaf cpu0
1500000 enter work cpu1
1600000 enter state:mode=1 cpu1
2000000 leave leaf cpu0
2500000 enter leaf cpu0
2800000 leave state:mode=1 cpu1
2800000 enter state:mode=2 cpu1
3000000 leave leaf cpu0
4000000 leave work cpu1
5000000 write state:T=TERMINATED cpu0
6000000 write state:V=RUNNING cpu1
8000000 leave state:mode=2 cpu1
8200000 write state:U=READY cpu1
8400000 write state:U=RUNNING cpu1
8500000 write state:U=WAITING cpu1
8600000 write state:U=RUNNING cpu1
8800000 write state:U=TERMINATED cpu1
9000000 leave main cpu0
]]

local function br_file(spent)
   return br():module(1, "A.BR"):line(1, 100):main():time(1500):stop()
      :line(1, 200):fn "FNWORK":time(spent):back(1, 300):main():stop()
      :line(1, 300):main():time(7000):stop():bytes()
end

local function dcpi_files(name, cycles)
   return file(name .. ".cycles", dcpi():header():chunk(0x6cbb8, { cycles, 0, 3 }):footer()
      :bytes()), file(name .. ".imiss", dcpi():header { event = "imiss", period = "4096" }
      :chunk(0x6cbb8, { 27, 1 }):footer():bytes())
end

local text1 = [[
* HANDLE(Functions) %%HANDLE%%,%%NAME%%,%%VALUE%%
00000000,main,
00000001,leaf,
* HANDLE(Data) %%HANDLE%%,%%NAME%%,%%VALUE%%
20000000,mode,
30000000,,0
30000000,,1
* STATISTICS(Functions) %%HANDLE%%,%%COUNT%%,%%T.NET%%,%%T.NET.MAX%%
00000000,2,35,99
00000001,3,28,77
* TIMELINE %%HANDLE%%,%%EVENT%%,%%VALUE%%,%%TIME%%,%%CONTEXT%%
00000000,E,,0,1
00000001,E,,10,1
00000001,X,,%d,1
00000001,E,,1000,2
00000001,X,,1100,2
00000000,X,,3000,1
]]

-- The functions that others call.
local function called_of(path, exe)
   local trace <close> = assert(profio.open(path, { exe = exe }))
   local names = {}
   for name in trace:profile():graph():each "callee" do
      names[#names + 1] = name
   end
   return names
end

-- { name, files, old file for --diff, functions, a lane, words that all commands get }
local function inputs()
   local list = {}
   local function add(input)
      list[#list + 1] = input
   end
   local function symbol(name, value, size)
      return { name = name, value = value, size = size, type = "func",
         bind = name:find "%$" and "local" or "global" }
   end
   -- of which gprof leaves out one
   add { "gmon", { file("a.gmon", gmon(30)), file("small.elf", elf.build { symbols = {
      symbol("main", 0x1000, 0x100), symbol("work", 0x1100, 4), symbol("inner$part", 0x1104, 0xfc),
      symbol("leaf", 0x1200, 0x100) } }) }, file("b.gmon", gmon(11)), { "inner$part", "leaf" } }
   local source = programs.source("together.c", (assert(io.open "examples/demo.c"):read "a"))
   if programs.has "gcc" then
      local program, runs = programs.profiled("together", source, "", 2)
      os.rename(source, folder .. "/sources/together.c")
      add { "gmon -g", { runs[1], program }, runs[2], called_of(runs[1], program) }
   end
   add { "events", { file("a.events", "EVENTS\n" .. timeline) },
      file("b.events", "EVENTS\n" .. timeline:gsub("9000000", "7000000")), { "leaf", "main" },
      "cpu1" }
   add { "winidea", { file("a.txt", text1:format(20)) }, file("b.txt", text1:format(700)),
      { "leaf" }, "2" }
   local golden, other = xpp.table(xpp.golden), { table.unpack(xpp.golden) }
   local prf = file("a.PRF", golden)
   for i = 10, 14 do
      other[i] = { table.unpack(other[i]) }
      other[i][2] = other[i][2] + 50
   end
   for i, row in ipairs { { 2, 500, "I", "D", 50 }, { 2, 600, "O", "D", 51 } } do
      table.insert(other, 8 + i, row)
   end
   for i, call in ipairs { "E", "F", "F" } do -- which nothing ends
      other[#other + 1] = { 1 + i // 2, 800 + i, "I", call, 60 + i }
   end
   add { "xpp", { file("b.PRF", (xpp.table(other))) }, prf, { "B", "C" }, "2" }
   add { "xpp with all letters", { file("c.PRF", (xpp.table { { 1, 4, "i", "MAIN", 10 },
      { 1, 5, "I", "MAIN", 10 }, { 1, 7, "i", "A", 11 }, { 1, 9, "I", "A", 20 },
      { 2, 9, "i", "B", 5 }, { 2, 14, "I", "B", 30 }, { 2, 15, "O", "B", 31 },
      { 2, 17, "o", "B", 5 }, { 1, 20, "O", "A", 21 }, { 1, 22, "o", "A", 11 },
      { 1, 30, "O", "MAIN", 12 },
      { 1, 31, "o", "MAIN", 12 } })) }, prf, { "A", "B" }, "2" }
   file("sources/a.brs", "00100 LET A=1\n00200 PRINT A\n00300 END\n")
   add { "br", { file("a.br", br_file(2500)) }, file("b.br", br_file(9500)), { "FNWORK" } }
   local cycles, imiss = dcpi_files("a", 29)
   add { "dcpi", { cycles, imiss }, (dcpi_files("b", 70)), { "Fcdr", "re_search" },
      more = { "--symbols", file("dcpi.nm", "000000012006cb00 T Fcdr\n000000012006cbbc T re_search"
         .. "\n000000012006cbd0 T behind\n") } }
   add { "dbf", { file("a.dbf", dbf { version = 0x03, { "NAME", "C", 10 }, { "N", "N", 4 } }
      :row { "abc", "12" }:row { "def", "7" }:bytes()) }, prf, { "abc" } }
   local made = assert(profio.open(list[3][2][1]))
   local profile = made:profile()
   assert(profile:export("pprof", folder .. "/a.pb.gz"))
   assert(profile:scale(0.5):export("pprof", folder .. "/b.pb.gz"))
   made:close()
   add { "pprof", { folder .. "/a.pb.gz" }, folder .. "/b.pb.gz", { "leaf", "work" } }
   return list
end

-- }======

-- {====== Execution ======

local out = folder .. "/out"

-- Runs the command in this process, which knows the format "events"; returns its output, its status
-- and its standard error.
local function run(input, ...)
   local argv = table.move(input[2], 1, #input[2], 1, {})
   for _, more in ipairs { input.more or {}, { "-o", out }, { ... } } do
      table.move(more, 1, #more, #argv + 1, argv)
   end
   os.remove(out)
   local err <close> = assert(io.tmpfile())
   local status = cli.main(argv, err)
   err:seek "set"
   local handle = io.open(out, "rb")
   local text = handle and handle:read "a" or ""
   if handle then
      handle:close()
   end
   return text, status, err:read "a"
end

-- }======

-- {====== Values of options ======

-- Returns the columns of a subject's rows, or those of the main table if it has none.
local function columns_of(input, subject)
   local text, status = run(input, "--output", "csv", table.unpack(subject))
   if status == 2 then
      text = run(input, "--table", profio.open(input[2][1]).tables[1], "--output", "csv")
   end
   local columns = { is_empty = select(2, text:gsub("\n", "")) < 3 }
   for column in text:match "^[^\n]*":gmatch "[^,]+" do
      columns[#columns + 1] = column
   end
   return columns
end

local function with_columns(prefix, columns, suffix)
   local list = {}
   for i, column in ipairs(columns) do
      list[i] = prefix .. column .. suffix
   end
   return list
end

local values = {
   keep = { "0" }, top = { "0", "1" }, from = { "50%" }, to = { "50%", "20%" },
   unit = { "us", "ns" }, output = { "csv" }, export = { "csv" }, aggregate = { "n=count" },
   compat = { "gprof" },
   metric = { "samples", "lines", "calls", "gross", "cycles", "count", "time",
      "time total" },
   source = { folder .. "/sources" },
   run = { "host=h4" }, exe = { "/nowhere" }, symbols = { "/nowhere" }, load_bias = { "16" },
}

function values.columns(columns) return columns end
function values.group(columns) return columns end
function values.sort(columns)
   local list = with_columns("-", columns, "")
   return table.move(columns, 1, #columns, #list + 1, list)
end
function values.where(columns)
   local list = with_columns("", columns, "=")
   return table.move(with_columns("", columns, "!="), 1, #columns, #list + 1, list)
end
function values.diff(_, input) return { input[3] } end
function values.lane(_, input) return { input[5] or "0" } end
function values.focus(_, input) return input[4] end
values.ignore, values.hide = values.focus, values.focus

-- }======

-- Options of opening that all formats have, modes, options that need no file, and --wide, which
-- changes only what a terminal gets.
local not_tried = { info = true, report = true, list_reports = true, table = true, limits = true,
   check = true, merge = true, script = true, new_script = true, list_formats = true, help = true,
   version = true, exe = true, symbols = true, load_bias = true, strict = true,
   trust_paths = true, format = true,
   mapping = true, set = true, progress = true, no_progress = true, out = true, follow = true,
   load = true, wide = true }

-- Returns the outcomes of an option with each of its values: "refused", "same", "differs" or a
-- message.
local function outcome(input, subject, base, key, list)
   local name, found = "--" .. key:gsub("_", "-"), nil
   for _, value in ipairs(list) do
      local argv = table.move(subject, 1, #subject, 1, {})
      argv[#argv + 1] = name
      argv[#argv + 1] = value or nil
      local text, status, errors = run(input, table.unpack(argv))
      if status == 2 and (errors:find(" cannot use " .. name, 1, true)
         or errors:find("^profio: [^:]*" .. name:gsub("%-", "%%-")))
      then
         return "refused"
      elseif (status == 0 or status == 4) and text ~= base then
         return "differs"
      elseif key == "diff" and errors:find("cannot show weights below 0", 1, true) then
         return "refused" -- by what the numbers are
      end
      found = found or ("status %d %s"):format(status, errors)
   end
   return found or "no value"
end

-- Returns the options that a subject ignores, as one text; "" if it ignores none.
local function ignored(input, subject)
   local base, status, errors = run(input, table.unpack(subject))
   if errors:find(" cannot use --symbols: ", 1, true) then
      input = { table.unpack(input) } -- without `more`
      base, status, errors = run(input, table.unpack(subject))
   end
   if status ~= 0 and status ~= 4 then
      return ("status %d %s"):format(status, errors)
   end
   local columns, list = columns_of(input, subject), {}
   if columns.is_empty then
      return nil
   end
   for _, key in ipairs(options.keys()) do
      -- one program may count alike in both ways, the only inclusive metric be the usual one, and a
      -- profile without lines has no line that is hidden or shown
      local is_alike = key == "compat" and input[1] == "gmon -g"
         or key == "metric" and (subject[2] == "callgrind" or subject[2] == "dot")
         or input[1] == "pprof" and subject[2] == "annotate" and (key == "hide" or key == "source")
      if not not_tried[key] and subject[3] ~= "--" .. key and not is_alike then
         local tried = values[key] or { false }
         tried = type(tried) == "function" and tried(columns, input) or tried
         local result = outcome(input, subject, base, key, tried)
         if result ~= "refused" and result ~= "differs" then
            list[#list + 1] = ("%s %s --%s: %s"):format(input[1], table.concat(subject, " "), key,
               result)
         end
      end
   end
   return table.concat(list, "\n")
end

describe("options of the command", function()
   local list = inputs()
   local tested = {}

   local limits = file("limits.txt", "~. net_max <= 1.5ms\n~. count >= 0\n")
   local flat_limits = file("flat_limits.txt", "~. self <= 2us\n~. self >= 0\n")

   for _, input in ipairs(list) do
      local trace = assert(profio.open(input[2][1]))
      local main, has_events = trace.tables[1], trace:has "events"
      trace:close()
      local opened = assert(profio.open(input[2][1],
         { exe = input[1]:find "gmon" and input[2][2] or nil }))

      it("are refused or used by each report of " .. input[1], function()
         for _, report in ipairs(reports.all()) do
            if report.fits(opened) and not report.compares then
               local words = ignored(input, { "--report", report.name, table.unpack(
                  report.needs and { "--chain", "~. enter -> ~. leave", "--chain",
                     "~. leave -> ~. enter" } or {}) })
               tested[report.name] = tested[report.name] or words ~= nil
               assert.equal("", words or "")
            end
         end
         if opened:profile_kind() then
            tested.diff = true
            assert.equal("", ignored(input, { "--report", "diff", "--diff", input[3] }))
         end
      end)

      it("are refused or used by each export of the whole of " .. input[1], function()
         for _, export in ipairs(exports.all()) do
            if export.takes ~= "rows" and export.fits(opened) then
               tested["--" .. export.name] = true
               assert.equal("", ignored(input, { "--export", export.name }))
            end
         end
      end)

      it("are refused or used by each mode of " .. input[1], function()
         for _, subject in ipairs { {}, { "--info" }, { "--table", main }, { "--check" },
            { "--list-reports" }, { "--new-script" } } do
            assert.equal("", ignored(input, subject))
         end
         if has_events then
            assert.equal("", ignored(input, { "--limits", limits }))
         elseif opened:profile_kind() then
            assert.equal("", ignored(input, { "--limits", flat_limits }))
         end
         opened:close()
      end)
   end

   it("are refused or used by the reports of stores", function()
      local path = folder .. "/a.db"
      os.remove(path)
      local store <close> = assert(profio.store(path))
      for i = 3, 4 do
         local trace <close> = assert(profio.open(list[i][2][1]))
         assert(store:add(trace, { labels = { host = "h" .. i } }))
      end
      for name, more in pairs { trend = { "--set", "function=leaf" }, top = {} } do
         tested[name] = true
         assert.equal("", ignored({ "store", { path }, path, { "leaf" } }, { "--report", name,
            "--set", "by=host", table.unpack(more) }))
      end
   end)

   -- Returns the modes, tables, reports and exports of files.
   local function subjects_of(path)
      local trace <close> = assert(profio.open(path))
      local subjects = { {}, { "--info" }, { "--check" }, { "--merge" }, { "--new-script" } }
      for _, name in ipairs(trace.tables) do
         subjects[#subjects + 1] = { "--table", name }
      end
      for _, report in ipairs(reports.all()) do
         if report.fits(trace) and not report.compares then
            subjects[#subjects + 1] = { "--report", report.name }
         end
      end
      for _, export in ipairs(exports.all()) do
         if export.takes ~= "rows" and export.fits(trace) then
            subjects[#subjects + 1] = { "--export", export.name }
         end
      end
      return subjects
   end

   it("for names are refused or used by each mode, table, report and export", function()
      local names = file("names.nm", "0000000000001000 T first\n0000000000001100 T second\n"
         .. "0000000000001110 T third\n000000012006cb00 T alpha\n000000012006cba0 T beta\n"
         .. "000000012006cbc0 T gamma\n000000012006cbd0 T delta\n")
      local blocks = builder("<", 8):header()
         :histogram { low = 0x1000, high = 0x1300, bins = { 10, 1, 0, 10 } }
         :arc(0x1010, 0x1104, 5):blocks({ { 0x1104, 5 } })
      local found = {}
      for _, path in ipairs { file("named.gmon", blocks:bytes()), folder .. "/a.cycles" } do
         for _, subject in ipairs(subjects_of(path)) do
            local input = { "names", { path } }
            local base = run(input, table.unpack(subject))
            local words = table.concat(subject, " ")
            local with_names, status = run(input, "--symbols", names, table.unpack(subject))
            if status ~= 2 and with_names == base then
               found[#found + 1] = words .. " --symbols"
            end
            assert.equal(2, (select(2, run(input, "--load-bias", "8", table.unpack(subject)))))
            if status ~= 2 then
               local moved
               moved, status = run(input, "--symbols", names, "--load-bias", "8",
                  table.unpack(subject))
               if status ~= 2 and moved == with_names then
                  found[#found + 1] = words .. " --load-bias"
               end
            end
         end
      end
      assert.same({}, found)
   end)

   it("of opening files are refused where nothing uses them", function()
      local function refused(message, number, ...)
         local _, status, errors = run(list[number], ...)
         assert.equal(2, status)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      local values_of = { ["--exe"] = folder .. "/small.elf", ["--symbols"] = command.folder
         .. "/small.nm", ["--load-bias"] = "1" }
      for name, value in pairs(values_of) do
         refused("cannot use " .. name .. ": these files have no addresses to find names for", 3,
            name, value)
      end
      refused("--check cannot use --strict: it lists all violations", 3, "--check", "--strict")
      refused("--progress and --no-progress do not go together", 3, "--progress", "--no-progress")
      refused("--list-formats cannot use --top: leave it out", 3, "--list-formats", "--top", "3")
      refused("report 'xpppat' cannot use --focus: reports that can: flat, graph, tree, bottom-up, "
         .. "lines, diff", 5, "--focus", "B")
      refused("report 'calls' cannot use --diff: reports that can: flat, graph", 3, "--report",
         "calls", "--diff", list[3][3])
   end)

   it("are tried with every report and export that there is", function()
      for _, report in ipairs(reports.all()) do
         assert.is_true(tested[report.name], report.name)
      end
      for _, export in ipairs(exports.all()) do
         assert.is_true(tested["--" .. export.name] or export.takes == "rows", export.name)
      end
   end)
end)
