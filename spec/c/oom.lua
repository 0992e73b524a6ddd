-- The chunks that spec/c/oom.c runs while requests for memory or system calls fail: each
-- chunk with request 0, 1, 2, ... failing, until it makes fewer requests. Later requests
-- resemble each other and are tried in growing steps (OOM_EACH=N: from N on). A chunk
-- must either return the same text or table as without a failure, or raise the message of
-- the failure; anything else is a fault. `oom.lua NAME...` runs the chunks of these names,
-- `oom.lua --list` prints all names.

local oom, oom_core, fault = _G.oom, _G.oom_core, _G.fault -- luacheck: ignore

local core = require "profio.core"
local profio = require "profio"
local templates = require "profio.reports.gprof.headings".templates
local traces = require "profio.internal.trace"

-- A trace with all kinds of records: two functions, bins, arcs, a block.
local function trace_bytes()
   local head = "gmon" .. string.pack("<I4", 1) .. ("\0"):rep(12)
   local histogram = "\0" .. string.pack("<I8I8I4I4c15c1", 0x1000, 0x1040, 16, 100, "seconds", "s")
      .. string.pack("<" .. ("I2"):rep(16), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
   local arcs = "\1" .. string.pack("<I8I8I4", 0x1004, 0x1024, 7)
      .. "\1" .. string.pack("<I8I8I4", 0x1024, 0x1004, 3)
      .. "\1" .. string.pack("<I8I8I4", 0x1024, 0x1024, 2)
   local blocks = "\2" .. string.pack("<I4I8I8", 1, 0x1000, 5)
   return head .. histogram .. arcs .. blocks
end

local bytes = trace_bytes()
local short = bytes:sub(1, -4)

local nm_path = os.tmpname()
local out_path = os.tmpname()

local function write_file(path, text)
   local file <close> = assert(io.open(path, "w"))
   file:write(text)
end

write_file(nm_path, "0000000000001000 T main\n0000000000001020 t _ZN3foo3barEv\n")

local chunks = {}

require "spec.c.oom_files"(chunks, bytes)
require "spec.c.oom_timing"(chunks)

function chunks.open()
   local trace <close> = assert(profio.open { data = bytes })
   return trace.info, trace.warnings, trace:check()
end

function chunks.damage()
   local trace <close> = assert(profio.open { data = short })
   for _, name in ipairs(trace.tables) do
      trace:table(name):count()
   end
   return trace.warnings
end

function chunks.failure()
   local trace, message, code = profio.open { data = "not a trace" }
   assert(not trace and message and code == "format")
end

local entries = "TID,TIME,OP,MSG,LINE,PARAMS\n1,0,I,MAIN,1,\n1,2,i,A,2,\"a \"\"b\"\"\"\n"
   .. "1,3,I,A,9,\n2,3,I,B,9,x\n1,4,O,MAIN,3,\n"

function chunks.xpp()
   local trace <close> = assert(profio.open({ data = entries, pri = "OPERATIONMODE=5\n" },
      { code_page = "CP850" }))
   local prf, beside = assert(trace:save(nil, { form = "foxdbe" }))
   local again <close> = assert(profio.open { data = prf, memo = beside.memo })
   return trace.entries:unfilter():rows(), trace.entries:refilter():rows(), again:calls():rows(),
      again.raw:rows(), trace.settings:rows(), again.structure:rows(), assert(again:save())
end

-- A reader may be asked for rows again after it has failed.
function chunks.xpp_again()
   local trace <close> = assert(profio.open { data = entries, pri = "OPERATIONMODE=5\n" })
   local found = {}
   for i, name in ipairs { "entries", "raw" } do
      local reader = trace[name]:reader()
      local ok, rows = pcall(core.rows, reader)
      if not ok then
         pcall(core.rows, reader)
         error(rows, 0)
      end
      found[i] = #rows
   end
   return table.concat(found, " ")
end

function chunks.each()
   local trace <close> = assert(profio.open { data = bytes })
   for _ in trace.histogram:each("low", "count") do end
   for _ in trace.arcs:records() do end
   return trace.raw:rows()
end

function chunks.stages()
   local trace <close> = assert(profio.open { data = bytes })
   assert(trace.histogram:range(0, 1, "set"):count() > 0)
   return trace.histogram
      :where { count = profio.between(2, 15), low = profio.no(0x1004) }
      :range(0, 1, "set")
      :filter(function(count) return count % 2 == 0 end, "count")
      :group("bucket(low, 16)")
      :aggregate { "n = count", "total = sum(count)", "worst = max(count)", "half = p50(count)" }
      :sort("-total"):limit(2):write { output = "csv" }
end

function chunks.derived()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = nm_path }))
   return trace.arcs:pivot("to_function", "count", { { name = "main", column = "main" } })
      :derive { "share = main / total(main)", "so_far = running(main) + sqrt(count)" }:rows()
end

-- A profile of DCPI: two chunks of counts, and an unknown line.
local function counts_bytes()
   return "version pdb-0.07\nimage ab12\nepoch 9805191724\nplatform walnut\nevent cycles\n"
      .. "period 63488\ntstart 1000\ntsize 4096\ncpuspeed 333\nhue blue\npath /bin/x\nsamples\n"
      .. string.pack("<I4I4I4I4I4", 0, 3, 5, 0, 7) .. string.pack("<I4I4I4", 64, 1, 2)
      .. string.pack("<I4I4", 3, 14)
end

function chunks.counts()
   local trace <close> = assert(profio.open { data = counts_bytes():sub(1, -12) })
   for _, name in ipairs(trace.tables) do
      trace:table(name):rows()
   end
   return trace:profile(), trace.warnings
end

function chunks.save_counts()
   local trace <close> = assert(profio.open { data = counts_bytes() })
   return assert(trace:save(nil, { dialect = "dcpicat" })),
      assert(trace:save(nil, { header = "cpuspeed 500\nhue red" }))
end

function chunks.pattern()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = nm_path }))
   return trace.arcs:where { to_function = profio.match "^foo" }:rows()
end

function chunks.profile()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = nm_path }))
   local profile = assert(trace:profile())
   return profile:flat():rows()
end

function chunks.changed()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = nm_path }))
   local profile = assert(trace:profile { lines = true })
   return profile:focus("main"):hide(profio.match "^foo"):flat():rows(),
      profile:ignore(profio.match "^foo"):group("file"):graph():rows(), profile:prune(0.5)
end

-- Two runs, whose calls are separate.
function chunks.runs()
   local text = { data = "* HANDLE(Functions) %HANDLE%,%NAME%,%FILE%,%VALUE%\n1,f,/a.c,\n"
      .. "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,1\n1,X,5\n1,E,6\n" }
   local trace <close> = assert(profio.open { text, text })
   return trace:calls():rows(), trace.areas:rows(), trace:export "speedscope"
end

function chunks.texts()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = nm_path }))
   for _, output in ipairs { "text", "csv", "tsv", "json", "ndjson" } do
      assert(trace.arcs:write { output = output })
   end
   assert(trace.arcs:export "clickhouse")
end

function chunks.listings()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = nm_path }))
   local profile = assert(trace:profile())
   for report, rows in pairs { flat = "flat", graph = "graph_listing", index = "index" } do
      assert(core.write_listing(profile[rows](profile):reader(),
         { kind = "kind", templates = templates[report] }))
   end
   assert(core.write_listing(trace.arcs:reader(), { template = "{from} {to:-20}\n" }))
end

function chunks.save()
   local trace <close> = assert(profio.open { { data = bytes }, { data = bytes } })
   return assert(trace:save(out_path))
end

function chunks.br()
   local bytes_of_br = "\1\0\1\0\4A.BR\3\0\1\0\0\0\10\0\7\3FNA\5\0\1\0\0\0\20\0\8\6"
   local trace <close> = assert(profio.open { data = bytes_of_br })
   assert(trace.frames:count() == 2 and trace.raw:count() == 6)
   assert(#trace:stack(trace:rows("stack")[1].stack) == 2)
   return assert(trace:save())
end

-- Names in a code page of several bytes, converted from it and back.
function chunks.br_code_page()
   local bytes_of_br = "\1\0\1\0\5\x83\x65.BR\3\0\1\0\0\0\10\0\7\4FN\x83\x65\6"
   local trace <close> = assert(profio.open({ data = bytes_of_br }, { code_page = "CP932" }))
   assert(trace.raw:count() == 4)
   return assert(trace:save())
end

-- A ring in overwrite mode has no thread, so the order of requests is fixed.
function chunks.ring()
   collectgarbage() -- closes a writer that the last failure left open
   local w <close> = assert(profio.create(out_path, { format = "br",
      ring = { size = "64K", full = "overwrite" } }))
   local stack = w:stack { { area = "FNA", class = "function", file = "B.BR", line = 20 },
      { area = "A.BR", class = "main", file = "A.BR", line = 10 } }
   local emit = w:emitter("module", "line", "stack")
   for i = 1, 20 do
      local _, message = emit("M" .. i, i, stack)
      assert(not message, message)
   end
   assert(w:write { module = "A.BR", line = 7 })
   local trace <close>, message = profio.open(out_path)
   assert(trace or message:find "the file is empty", message) -- the ring cannot be read
   assert(not trace or trace:count() == 21)
   assert(w:close())
end

function chunks.registered()
   profio.register {
      name = "words", score = function(text) return text:sub(1, 5) == "words" and 100 or 0 end,
      tables = { words = { { "at", "int" }, { "word", "name" } } },
      open = function(source)
         return { words = function(put)
            for at, word in source:read(0, source:size()):gmatch "()(%a+)" do
               put(at, word)
            end
         end }
      end,
   }
   local trace <close> = assert(profio.open { data = "words of a text" })
   return trace.words:where { word = profio.match "o" }:rows()
end

function chunks.timeline()
   local fields = { { "time", "int" }, { "event", "name" }, { "area", "area" }, { "lane", "int" } }
   local rows = {}
   for i = 1, 70 do
      rows[i] = { i, i <= 40 and "enter" or "leave", "f" .. i % 7, i // 20 }
   end
   return core.rows(core.btf(core.rows_reader(fields, rows), { close = true, stimuli = true })),
      core.rows(core.load(core.rows_reader(fields, rows), { to = 80, width = 9 })),
      core.rows(core.with_area(core.rows_reader(fields, rows), "area"))
end

function chunks.calls()
   local fields = { { "time", "int" }, { "event", "name" }, { "area", "area" }, { "lane", "int" },
      { "flags", "name" } }
   local rows = {}
   for i = 1, 90 do
      rows[i] = { i, ({ "enter", "leave", "suspend", "resume", "write" })[i * i % 5 + 1],
         "f" .. i % 11, i // 30, i == 50 and "gap" or nil }
   end
   local calls = core.rows(core.calls(core.rows_reader(fields, rows), { edges = "include" }))
   return calls, core.rows(core.statistics(core.rows_reader(fields, rows), { by = "caller",
      quantiles = { "p50" }, edges = "include" }))
end

-- Calls of one function in two lanes, which call ever more functions and are suspended while
-- another lane runs.
function chunks.explained()
   local fields = { { "time", "int" }, { "event", "name" }, { "area", "name" }, { "lane", "int" },
      { "core", "int" } }
   local rows, time, dictionary = {}, 0, core.dictionary()
   for call = 1, 9 do
      for i, step in ipairs { "enter f", "enter g", "enter h" .. call, "leave h" .. call, "leave g",
         "suspend f", "enter i", "leave i", "resume f", "leave f" } do
         time = time + call * i
         local event, area = step:match "(%a+) (%w+)"
         rows[#rows + 1] = { time, event, area, area == "i" and 2 or call % 2, 0 }
      end
   end
   return core.rows(core.explain(core.rows_reader(fields, rows, dictionary), { area = "f",
      quantile = "p50", lanes = { 0, 1 } }, core.rows_reader(fields, rows, dictionary)))
end

-- Two cores that call functions of a few names, over several batches.
local function two_cores()
   local list = {}
   for i = 1, 4096 * 3 do
      local depth = i // 7 % 5
      local flags = i // 50 % 2 << 4 | (i % 3 == 0 and 0 or 3)
      list[i] = string.pack("<I4I4i8i8", (i + depth) % 9, flags, 0, i)
   end
   return table.concat(list)
end

local timeline_bytes = two_cores()

function chunks.call_parts()
   local trace <close> = assert(profio.open({ data = timeline_bytes }, { format = "winidea",
      bin_version = "1.1" }))
   return trace:call_statistics { parts = 3, threads = 1, by = "context" }:rows("area", "net_p50",
      "period_stddev")
end

-- Sums of two lanes, in counters and not, and by caller.
function chunks.packed_sums()
   local trace <close> = assert(profio.open({ data = timeline_bytes:sub(1, 24 * 900) },
      { format = "winidea", bin_version = "1.1" }))
   local results = {}
   for _, by in ipairs { "context", "caller" } do
      local options = { by = by, max_depth = 0, quantiles = { "p50" } }
      local packed = core.packed_sums(trace.events:reader(), options)
      local merged = assert(core.merged_sums { packed, packed })
      local reader = assert(core.sums_statistics(merged, options, core.dictionary()))
      results[by] = core.rows(reader, { "count", "net_p50", "net_stddev" })
   end
   return results
end

local function open_timeline()
   return assert(profio.open({ data = timeline_bytes:sub(1, 24 * 40) },
      { format = "winidea", bin_version = "1.1" }))
end

-- An export that loops over rows must raise the message of the failure. Each is a chunk, because
-- the time of a chunk grows with the square of its requests.
for _, kind in ipairs(require "spec.support.kinds") do
   chunks["export_" .. kind] = function()
      local trace <close> = open_timeline()
      if kind == "speedscope" or kind == "btf" then
         assert(trace:export(kind, nil, { from = 200, to = 700 }))
      end
      return assert(trace:export(kind))
   end
end

function chunks.export_difference()
   local trace <close> = open_timeline()
   local profile <close> = assert(trace:profile())
   return assert((profile + profile - profile):export "svg")
end

-- Three profiles with sorted samples, one of them packed, and one with unsorted samples.
local function profiles()
   local list = {}
   for i = 1, 4 do
      local writer = assert(profio.create(nil, { format = "pprof", packed = i == 2 }))
      for n = 1, 30 do
         writer:write { stack = writer:stack { { area = "f" .. n * i % 7, line = n % 3 },
            { area = "g" .. n % 5 }, { area = "main" } }, metric = "m", weight = n }
      end
      list[i] = { data = assert(writer:close()) }
   end
   return list
end

local some_profiles = profiles()

require "spec.c.oom_profiles"(chunks, bytes, some_profiles[1])
require "spec.c.oom_store"(chunks, bytes)

function chunks.gathered()
   local trace <close> = assert(profio.open(some_profiles))
   local profile <close> = assert(trace:profile())
   return assert(trace:save()), assert((profile + profile - profile):export "pprof")
end

function chunks.dbf()
   local writer = assert(profio.create(nil, { format = "dbf", code_page = "CP932",
      fields = "NAME C(10) null, N N(5), Y Y, T T, M M, V V(5)" }))
   writer:write { NAME = "日本", N = 1, Y = 1.5, T = "2000-01-01T00:00:00", M = "日本", V = "a" }
   writer:write { Y = 2.5, deleted = true }
   local table_bytes, sides = writer:close()
   local trace <close> = assert(profio.open({ data = table_bytes, memo = sides.memo },
      { deleted = "show" }))
   local rows = trace.data:rows()
   for _, warning in ipairs(trace.warnings) do
      error(warning.message) -- of a page that iconv does not open the bytes are shown
   end
   return rows, trace.structure:rows(), trace.raw:rows(), trace:save(nil)
end

local export = [[
* INFO %TOTAL_TIME%
77
* CONTEXTS %NAME%,%HANDLE%
A,0x1
* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%
00000000,main,
10000000,x;,5
* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%
20000000,v,
30000000,,1
* STATISTICS(Functions) CONTEXT(A) %HANDLE%,%VALUE%,%COUNT%,%T.NET%
00000000,,1,2
]]

local timeline = "* TIMELINE %HANDLE%,%EVENT%,%CONTEXT%,%VALUE%,%TIME%\n" ..
   "00000000,E,A,,1\n30000000,E,,00000001,2\n0000ffff,E,B,,3\nodd\n00000000,X,A,,3\n"

local function all_rows(trace)
   for _, name in ipairs(trace.tables) do
      trace:table(name):rows()
   end
   return trace.warnings
end

function chunks.winidea_text()
   local trace <close> = assert(profio.open({ data = export .. timeline }, { context_area = "v" }))
   all_rows(trace)
   return trace:save(nil, { timeline_binary = true })
end

function chunks.winidea_bin()
   local records = string.pack("<I4I4i8i8", 0x30000000, 3, 1, 1) ..
      string.pack("<I4I4i8i8", 0x0fffffff, 3, 0, 2) .. string.pack("<I4I4i8i8", 5, 7, 0, 1)
   local trace <close> = assert(profio.open({ data = records, mapping = export },
      { format = "winidea", bin_version = "1.1" }))
   all_rows(trace)
   local alone <close> = assert(profio.open({ data = records }, { format = "winidea" }))
   alone.areas:rows()
   local w = assert(profio.create(nil, { format = "winidea" }))
   w:write { area = "f", event = "enter", time = 1 }
   return w:close()
end

-- A group whose chunks are read in threads; the failing request may be in any thread.
function chunks.winidea_parts()
   local events = {}
   for i = 1, 40 do
      events[i] = string.pack("<I4I4i8i8", i * 7 % 11 + (i % 3 << 28), 3, i, i)
   end
   local trace <close> = assert(profio.open({ data = table.concat(events) },
      { format = "winidea", bin_version = "1.1" }))
   local part = traces.of(trace).parts[1]
   local groups = core.group(part:reader "timeline", { { column = "area" }, { column = "event" } },
      { { name = "n", fn = "count" }, { name = "s", fn = "sum", column = "value" },
         { name = "d", fn = "distinct", column = "time" } },
      require("profio.internal.chunks").readers(part, "timeline", 40, 1))
   assert(core.drain(groups) == 33)
   local parts = { part = part, part:reader("timeline", 0, 13), part:reader("timeline", 13, 20),
      part:reader("timeline", 33, 7) }
   assert(core.drain(core.group(part:reader "timeline", { { column = "handle" } },
      { { name = "s", fn = "sum", column = "time" } }, parts)) == 33)
end

function chunks.winidea_xml()
   local trace <close> = assert(profio.open { data = "<MAPPING><AREA><NAME>a &lt; b</NAME>" ..
      "<HANDLE>0x20000000</HANDLE></AREA></MAPPING><TIMELINE><T/></TIMELINE>" })
   all_rows(trace)
   local whole <close> = assert(profio.open { data = "<P><CONTEXTS>" ..
      "<CONTEXT NAME='A' HANDLE='1'/></CONTEXTS><MAPPING>" ..
      "<AREA NAME='v' HANDLE='0x20000000'/></MAPPING><STATISTICS>" ..
      "<CONTEXT NAME='A'><AREA HANDLE='0x20000000' COUNT='1'/></CONTEXT></STATISTICS><TIMELINE>" ..
      "<T HANDLE='0x20000000' EVENT='W' VALUE='1' TIME='1' CONTEXT='A'/>" ..
      "<T HANDLE='9' EVENT='E' TIME='x'/></TIMELINE></P>" })
   return all_rows(whole)
end

-- The small files with which the fuzzers begin, of formats that are texts.
for name, options in pairs {
   chrome = { "object", { detail = "l" } }, cpuprofile = { "times", { timeline = true } },
   perfscript = { "stacks", { timeline = true } }, btf = { "tasks" }, callgrind = { "callgrind" },
} do
   chunks["text_" .. name] = function()
      local path = ("spec/fuzz/corpus/%s/%s"):format(name, options[1])
      local trace <close> = assert(profio.open(path, options[2]))
      return all_rows(trace)
   end
end

-- When memory runs out in a hook, the recording ends, but not the program.
function chunks.recorder()
   local recorder = require "profio.recorder"
   if recorder.is_recording() then -- the last failure left it so
      pcall(recorder.stop)
   end
   collectgarbage()
   local function down(n)
      return n == 0 and 0 or 1 + down(n - 1)
   end
   for _, mode in ipairs { "aggregate", "calls" } do
      assert(recorder.start { mode = mode, subtract = mode == "calls",
         path = mode == "calls" and out_path or nil, ring = { size = "64K" } })
      down(40)
      pcall(coroutine.wrap(function() error "x" end))
      local info = recorder.stop()
      assert(not info.failure or info.failure:match "out of memory", info.failure)
   end
end

-- The first requests fail one by one; after them every second one, then every third ...
local each_of = math.tointeger(tonumber(os.getenv "OOM_EACH")) or 200

-- The messages of failures: of memory; of system calls, including zlib, whose failure means
-- that memory is short, and iconv, whose failure means that a code page is unknown.
local messages = {
   [oom] = { "not enough memory" },
   [oom_core] = { "not enough memory", "out of memory" }, -- the latter in recorder.stop
   [fault] = { "Input/output error", "not enough memory", "out of memory", "code page",
      "cannot convert CP932" },
}

local function is_expected(attempt, message)
   for _, expected in ipairs(messages[attempt]) do
      if tostring(message):find(expected, 1, true) then
         return true
      end
   end
   return false
end

---The text of a value for comparison; plain tables with sorted keys.
local function text_of(value)
   if type(value) ~= "table" or getmetatable(value) then
      return type(value) == "string" and value or math.type(value) and tostring(value)
         or type(value)
   end
   local parts = {}
   for key, inner in pairs(value) do
      parts[#parts + 1] = tostring(key) .. "=" .. text_of(inner)
   end
   table.sort(parts)
   return "{" .. table.concat(parts, ",") .. "}"
end

local function run(name, f, attempt, what)
   local usual = text_of(f()) -- the first run also loads modules
   local at, faults = 0, 0
   while true do
      local fine, message, requests = attempt(at, f)
      if fine and text_of(message) ~= usual then
         print(("%s: %s %d changes what is returned"):format(name, what, at))
         faults = faults + 1
      elseif not fine and not is_expected(attempt, message) then
         print(("%s: %s %d: %s"):format(name, what, at, message))
         faults = faults + 1
      end
      if fine and requests <= at then
         print(("%-12s %6d %s, %d faults"):format(name, requests, what, faults))
         io.stdout:flush()
         return faults
      end
      at = at + 1 + at // each_of
   end
end

local names = {}
for name in pairs(chunks) do
   names[#names + 1] = name
end
table.sort(names)

local selected = arg and #arg > 0 and arg or names
if selected[1] == "--list" then
   print(table.concat(names, "\n"))
   selected = {}
end

local faults = 0
for _, name in ipairs(selected) do
   faults = faults + run(name, chunks[name], oom_core, "requests of the core")
      + run(name, chunks[name], oom, "requests")
      + run(name, chunks[name], fault, "calls of the system")
end
os.remove(nm_path)
os.remove(out_path)
assert(faults == 0, "a failure was not answered as such")
