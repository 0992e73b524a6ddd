-- same_bytes.lua FOLDER FIRST SECOND [alone]: runs many commands with two programs, in folders with
-- a trace of each format, and prints those that differ in a byte of their output, their messages,
-- their status or the files they write. FIRST and SECOND are the beginnings of lines of shell, as
-- in "wine profio.exe"; with `alone` no command is run that starts the program itself, which an
-- emulator of a machine may not be able to do.

local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

local folder, first, second = arg[1], arg[2], arg[3]

local function write(name, bytes)
   local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
   assert(file:write(bytes))
end

-- {====== Files ======

-- Writes a trace; `rows` writes its rows.
local function make(name, given, rows)
   local writer <close> = assert(profio.create(folder .. "/" .. name, given))
   rows(writer)
   assert(writer:close())
end

local areas = { "main", "Db_Read", 'gr\u{fc}n|"x",y' }

-- Calls of three functions on two lanes.
local function timeline(writer)
   local time = 0
   for i = 1, 120 do
      for k = 1, 6 do
         local area = areas[k <= 3 and k or 7 - k]
         time = time + 500 * (i * k % 7 + 1)
         writer:write { time = time, event = k <= 3 and "enter" or "leave", area = area }
      end
   end
end

local function entries(writer)
   local time = 0
   for i = 1, 40 do
      for k, op in ipairs { "i", "i", "o", "o" } do
         time = time + (i * k % 5 + 1) * 1000000
         writer:write { thread = 1, time = time, op = op,
            call = (k == 1 or k == 4) and "MAIN" or "WORK",
            params = op == "i" and "p" .. i or nil, line = i }
      end
   end
end

local function samples(writer)
   for i = 1, 50 do
      writer:write { module = i % 2 == 0 and "MENU" or "LIST", line = 10 * (i % 4 + 1),
         spent = i * 1000000 }
   end
end

local function make_gmon()
   local bins = {}
   for i = 1, 192 do
      bins[i] = i * i % 11 == 0 and i % 5 or 0
   end
   local trace = gmon.new("<", 8):header()
      :histogram { low = 0x1000, high = 0x1300, bins = bins }
      :arc(0x1010, 0x1104, 5):arc(0x1110, 0x1204, 20):bytes()
   write("gmon.out", trace)
   write("cut.gmon", trace:sub(1, -5))
   write("big.gmon", gmon.new(">", 4):header()
      :histogram { low = 0x1000, high = 0x1300, bins = bins }:arc(0x1010, 0x1104, 5):bytes())
   write("small.nm", "0000000000001000 T main\n0000000000001100 T _ZN4work4LongIiE3runEv\n"
      .. "0000000000001200 T leaf\n0000000000001300 T etext\n")
end

local function make_files()
   make_gmon()
   make("run.txt", { format = "winidea", dialect = "text1", timeline_binary = true }, timeline)
   make("text.txt", { format = "winidea", dialect = "text1" }, timeline)
   make("calls.prf", { format = "xpp" }, entries)
   make("text.prf", { format = "xpp", form = "text" }, entries)
   make("menu.br", { format = "br" }, samples)
   for name, from in pairs { ["stacks.pb.gz"] = "run.txt", ["old.pb.gz"] = "calls.prf" } do
      local trace <close> = assert(profio.open(folder .. "/" .. from))
      assert(assert(trace:profile()):export("pprof", folder .. "/" .. name))
   end
   make("table.dbf", { format = "dbf", fields = "NAME C(12), N N(6,2), D D", code_page = "CP852" },
      function(writer)
         for i = 1, 20 do
            writer:write { NAME = "\u{17e}lu\u{165} " .. i, N = i / 4,
               D = ("2026-01-%02d"):format(i) }
         end
      end)
   write("limits.txt", "Db_Read gross_max <= 2us\nmain count >= 3\n")
   write("script.lua", [[
      local trace, word = ...
      print(trace.format, word, #trace.tables)
      for time, event in trace:each("time", "event") do print(time, event) break end]])
   write("own.lua", [[
      local profio = require "profio"
      local trace <close> = assert(profio.open "run.txt")
      trace:profile():flat():print()
      local file <close> = assert(io.open("lua.txt", "w"))
      trace.timeline:limit(5):print({ output = "csv" }, file)
      print(arg[0], ...)]])
end

-- }======

-- {====== Commands ======

-- The traces, each with the words that open it.
local traces = { "gmon.out --symbols small.nm", "gmon.out", "big.gmon", "cut.gmon", "run.txt",
   "text.txt", "run.txt.BIN", "calls.prf", "text.prf", "menu.br", "stacks.pb.gz", "table.dbf" }

local timelines = { "run.txt", "calls.prf" }

local profiles = { "gmon.out --symbols small.nm", "run.txt", "calls.prf", "menu.br",
   "stacks.pb.gz" }

local exports = { "pprof", "speedscope", "callgrind", "folded", "chrome", "firefox", "cpuprofile",
   "csv", "tsv", "ndjson", "json", "svg", "html", "dot", "btf", "perfetto", "sqlite" }

local single = { "--version", "--help", "-h", "help", "help tutorial", "help format-winidea",
   "help nothing",
   "--list-formats", "completion bash", "completion zsh", "record --help", "store --help",
   "nothing.out", "--nonsense gmon.out", "report nonsense gmon.out", "gmon.out --where 'count>x'",
   "--limits limits.txt run.txt", "--diff old.pb.gz stacks.pb.gz",
   "compare old.pb.gz --new stacks.pb.gz", "explain Db_Read run.txt",
   "explain Db_Read --output json run.txt",
   "--chain 'Db_Read leave -> Db_Read enter' run.txt", "--script script.lua run.txt -- word",
   "lua own.lua a 'b c' 'd\"e' '' 'f\\'", "lua -e 'print(1 // 1, 2^53)'", "lua nothing.lua",
   "lua -e 'error(\"planted\")'", "--merge -o sum.gmon gmon.out gmon.out", "sum.gmon",
   "--export pprof -o new.pb.gz stacks.pb.gz", "new.pb.gz", "--check calls.prf",
   "--strict cut.gmon", "--table data --columns NAME,N --sort -N --top 3 table.dbf",
   "--table data --where 'NAME~^.lu' --group D --aggregate 'n=count,t=sum(N)' table.dbf",
   "--report calls --top 5 --unit us run.txt", "--from 10% --to 50% --report statistics run.txt",
   "--report statistics --output csv run.txt", "--report flat --output ndjson run.txt",
   "--unfilter --table entries --top 9 calls.prf", "--report calls --output tsv calls.prf",
   "--set code_page=CP1250 table.dbf", "--set code_page=nothing table.dbf",
   "--output json table.dbf",
   "- <gmon.out", "--format br gmon.out", "--new-script run.txt",
   "store add a.db gmon.out stacks.pb.gz", "store add a.db stacks.pb.gz old.pb.gz",
   "store top a.db", "store trend --by week main a.db",
   "store add --jobs 2 b.db stacks.pb.gz old.pb.gz menu.br run.txt",
   "store ls --columns run,format a.db", "a.db", "--report flat a.db", "store export -o runs a.db",
   "record --mode aggregate -o own.pb.gz own.lua", "record --mode timed -o own.br own.lua" }

-- Commands whose output has times or places of this run: only their status counts.
local only_status = { ["record "] = true, ["store ls"] = true }

local function all_commands()
   local list = {}
   for _, trace in ipairs(traces) do
      for _, words in ipairs { "", "info ", "tables ", "--check ", "--output csv --top 7 ",
         "--output json --top 3 --list-reports " } do
         list[#list + 1] = words .. trace
      end
   end
   for _, trace in ipairs(profiles) do
      for _, report in ipairs { "flat", "tree", "graph", "lines", "bottom-up" } do
         list[#list + 1] = ("--report %s %s"):format(report, trace)
      end
      for _, export in ipairs(exports) do
         list[#list + 1] = ("--export %s -o out.%s %s"):format(export, export, trace)
      end
   end
   for _, trace in ipairs(timelines) do
      for _, report in ipairs { "calls", "statistics", "load", "chains" } do
         list[#list + 1] = ("--report %s --output csv %s"):format(report, trace)
      end
   end
   return table.move(single, 1, #single, #list + 1, list)
end

-- }======

local function read(path)
   local file = io.open(path, "rb")
   local text = file and file:read "a"
   if file then
      file:close()
   end
   return text
end

-- Runs a command in a folder; returns its status, what it prints and all files that it writes.
local function run(program, words, place)
   local stdin = words:find("<", 1, true) and "" or " </dev/null"
   local line = "cd '%s/%s' && %s %s%s >../%s.out 2>../%s.err"
   local _, _, status = os.execute(line:format(folder, place, program, words, stdin, place, place))
   for key in pairs(only_status) do
      if words:sub(1, #key) == key then
         return { status = status }
      end
   end
   return { status = status, output = read(folder .. "/" .. place .. ".out"),
      errors = read(folder .. "/" .. place .. ".err") }
end

-- Returns the contents of the files in a folder, but for databases, which have times.
local function files_of(place)
   local list = {}
   local names = assert(io.popen(("cd '%s/%s' && find . -type f | LC_ALL=C sort"):format(folder,
      place)))
   for name in names:lines() do
      if not (name:find "%.db" or name:find "own%." or name:find "sqlite" or name:find "runs") then
         list[#list + 1] = { name = name, bytes = read(folder .. "/" .. place .. "/" .. name) }
      end
   end
   names:close()
   return list
end

local function show(kind, words, a, b)
   print(("%s: %s\n   %q\n   %q"):format(words, kind, tostring(a):sub(1, 300),
      tostring(b):sub(1, 300)))
end

disk.fresh(folder)
make_files()
os.execute(("cd '%s' && mkdir a b && cp -p *.* a && cp -p *.* b"):format(folder))
local differing, count = 0, 0
-- Whether a command starts the program itself.
local function starts_another(words)
   return words:find "^record %-%-mode" or words:find "%-%-jobs"
end

for _, words in ipairs(all_commands()) do
   if arg[4] == "alone" and starts_another(words) then
      goto continue
   end
   local a, b = run(first, words, "a"), run(second, words, "b")
   count = count + 1
   local differs = false
   for _, kind in ipairs { "status", "output", "errors" } do
      if a[kind] ~= b[kind] then
         show(kind, words, a[kind], b[kind])
         differs = true
      end
   end
   differing = differing + (differs and 1 or 0)
   ::continue::
end
local written = { files_of "a", files_of "b" }
for i = 1, math.max(#written[1], #written[2]) do
   local a, b = written[1][i] or {}, written[2][i] or {}
   if a.name ~= b.name or a.bytes ~= b.bytes then
      show("file", ("%s, %s"):format(a.name, b.name), a.bytes and #a.bytes, b.bytes and #b.bytes)
      differing = differing + 1
      if a.name ~= b.name then
         break
      end
   end
end
print(("%d passed, %d failed, 0 skipped"):format(count - differing, differing))
os.exit(differing == 0)
