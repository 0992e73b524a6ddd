-- Format perfscript: the text of `perf script`. The oracles are texts with rows that are written by
-- hand, a slow model, perf report, and the importer of speedscope.

local codes = require "spec.support.codes"
local command = require "spec.support.command"
local profio = require "profio"
local programs = require "spec.support.programs"
local viewers = require "spec.support.viewers"

local seeds = "spec/fuzz/corpus/perfscript/"

local function open(text, given)
   return assert(profio.open({ data = text }, given))
end

local function forced(text, given)
   given = given or {}
   given.format = "perfscript"
   return open(text, given)
end

-- "self/total" by function and module, of a metric.
local function totals(profile, metric)
   local list = {}
   for name, file, own, total in profile:flat { metric = metric }:each("function", "file", "self",
      "total") do
      list[name .. " " .. (file or "")] = own .. "/" .. total
   end
   return list
end

-- The functions of a stack, the outermost first.
local function frames_of(trace, stack)
   local frames = {}
   for _, frame in ipairs(stack and trace:stack(stack) or {}) do
      table.insert(frames, 1, frame.area)
   end
   return frames
end

-- Counts of the stacks of a trace, as texts "outermost;...;innermost".
local function stacks_of(trace)
   local list = {}
   for stack in trace.samples:each "stack" do
      local text = table.concat(frames_of(trace, stack), ";")
      list[text] = (list[text] or 0) + 1
   end
   return list
end

-- A slow model of stackcollapse-perf: folded stacks of functions, from the definition. Samples are
-- blocks of lines that end in an empty line.
local function collapsed(text)
   local list = {}
   for block in (text:gsub("#[^\n]*\n", "")):gmatch "(.-\n)\n" do
      local frames = {}
      for line in block:gmatch "\t *[^\n]+" do
         local rest = line:match "^\t *%x+ (.*)$"
         local symbol, module = rest:match "^(.-)%+0x%x+ %((.*)%)$"
         if not symbol then
            symbol, module = rest:match "^(%[unknown%]) %((.*)%)$"
         end
         local name = module:match "[^/]*$"
         if symbol == "[unknown]" and module ~= "[unknown]" then
            symbol = name:sub(1, 1) == "[" and name or "[" .. name .. "]"
         end
         table.insert(frames, 1, symbol)
      end
      local stack = table.concat(frames, ";")
      list[stack] = (list[stack] or 0) + 1
   end
   return list
end

local prog = "/opt/a b/prog (deleted)"
local stacks = command.read(seeds .. "stacks")
local lines = command.read(seeds .. "lines")

describe("perfscript", function()
   it("has samples with stacks, metrics for the events, and all lines", function()
      local trace <close> = open(stacks)
      assert.equal("perfscript", trace.format)
      assert.same({ "box", "/usr/bin/perf record -e cycles:u,cpu-clock -g ./prog" },
         { trace.info.hostname, trace.info.cmdline })
      assert.same({
         { time = 19000000250, thread = "prog 73", comm = "prog", pid = 71, tid = 73, cpu = 1,
            event = "cycles:u", period = 1000, addr = 0x1250, cycles_u = 1000 },
         { time = 19000100000, thread = "my worker 12 74", comm = "my worker 12", pid = 71,
            tid = 74, cpu = 0, event = "cpu-clock", period = 1001001, addr = 0xffffffff8109f1b4,
            cpu_clock = 1001001 },
         { time = 19000200000, thread = "prog 73", comm = "prog", pid = 71, tid = 73, cpu = 1,
            event = "cycles:u", period = 3000, addr = 0x1244, cycles_u = 3000 },
      }, trace.samples:rows("time", "thread", "comm", "pid", "tid", "cpu", "event", "period",
         "addr", "detail", "cycles_u", "cpu_clock"))
      local profile = trace:profile()
      local names = {}
      for i, metric in ipairs(profile:metrics()) do
         names[i] = metric.name .. " " .. metric.unit
      end
      assert.same({ "samples of cycles:u count", "cycles:u events", "samples of cpu-clock count",
         "cpu-clock ns", "samples count" }, names)
      assert.equal("1/2", totals(profile, "samples of cycles:u")["main " .. prog])
      local leaf = "leaf(int) "
      local inlined = "std::function<void (int)>::operator()(int) const "
      assert.same({ [leaf .. prog] = "1000/1000", [inlined .. prog] = "0/1000",
         ["main " .. prog] = "3000/4000", ["[libc.so.6] /usr/lib/libc.so.6"] = "0/1000" },
         totals(profile, "cycles:u"))
      assert.same({ [leaf .. "[kernel.kallsyms]"] = "1001001/1001001",
         ["main " .. prog] = "0/1001001", ["[unknown] [unknown]"] = "0/1001001" },
         totals(profile, "cpu-clock"))
      assert.equal("1/3", totals(profile, "samples")["main " .. prog])
      assert.same({ "perfscript-left-out:" .. stacks:find("  prog.c", 1, true) - 1 },
         codes.placed(trace))
      local text, kinds, last = {}, {}, 0
      for line, kind, offset, size in trace.raw:each("text", "kind", "offset", "size") do
         assert.equal(last, offset)
         last = offset + size
         text[#text + 1] = line .. "\n"
         kinds[#kinds + 1] = kind:sub(1, 2)
      end
      assert.equal(stacks, table.concat(text))
      assert.equal("co co co co co sa fr fr fr fr bl sa fr fr so fr bl sa fr bl",
         table.concat(kinds, " "))
   end)

   it("has samples in one line, other records and tracepoints", function()
      local trace <close> = open(lines)
      local rows = trace.samples:rows("thread", "event", "period", "addr", "detail")
      assert.same({
         { thread = "swapper 0", event = "cycles:ppp", period = 10101010,
            addr = 0xffffffff821f2c2b },
         { thread = "prog 71", event = "branch-misses", period = 20, addr = 0x1250 },
         { thread = "prog 71", event = "sched:sched_switch",
            detail = "prev_comm=prog prev_pid=71 ==> next_comm=swapper/1 next_pid=0" },
      }, rows)
      assert.same({ ["pv_native_safe_halt [kernel.kallsyms]"] = "10101010/10101010" },
         totals(trace:profile()))
      assert.same({ ["pv_native_safe_halt"] = 1, leaf = 1, [""] = 1 }, stacks_of(trace))
   end)

   -- Header, and then thread, comm, tid, pid, cpu, time, event, period.
   local headers = {
      { "a 1 2.5: 3 x: ", "a 1", "a", 1, nil, nil, 2500000000, "x", 3 },
      { "a 1/2 [007] 2.5: x:u: ", "a 2", "a", 2, 1, 7, 2500000000, "x:u", nil },
      { "a b 7 [1] 1 [007] Sp 2.5: ", "a b 7 [1] 1", "a b 7 [1]", 1, nil, 7, 2500000000 },
      { "b/0:[x] 12 3 x: ", "b/0:[x] 12", "b/0:[x]", 12, nil, nil, nil, "x", 3 },
      { "a 12 x: ", "a 12", "a", 12, nil, nil, nil, "x" },
      { "a 12 [003] 4 x: ", "a 12", "a", 12, nil, 3, nil, "x", 4 },
      { ":-1 -1/-1 [000] 0.000000001: 1 x:", ":-1 -1", ":-1", -1, -1, 0, 1, "x", 1 },
      { "a 12 ", "a 12", "a", 12 },
      { "12 ", "12", nil, 12 },
      { "name only ", "name only", "name only" },
      { "a 1 2.5: 18446744073709551616 x: ", "a 1", "a", 1, nil, nil, 2500000000 },
   }

   it("reads samples that lack fields", function()
      for _, one in ipairs(headers) do
         local trace <close> = forced(one[1] .. "\n\t 1 f (m)\n\n")
         local n, row = 0, nil
         for thread, comm, tid, pid, cpu, time, event, period in trace.samples:each("thread",
            "comm", "tid", "pid", "cpu", "time", "event", "period") do
            row, n = { one[1], thread, comm, tid, pid, cpu, time, event, period }, n + 1
         end
         assert.same(one, row)
         assert.equal(1, n)
         assert.same({ f = 1 }, stacks_of(trace))
         assert.same({}, codes.placed(trace))
      end
      local bare <close> = forced "\n\t 1 f (m)\n\t 2 g (m)\n\n\n\t 2 g (m)\n\n"
      assert.same({ ["g;f"] = 1, g = 1 }, stacks_of(bare))
   end)

   it("splits frames into address, symbol and module", function()
      for frame, expected in pairs {
         ["ff f+0x1 (/a)"] = { "f", "/a" },
         ["ff f (/a)"] = { "f", "/a" },
         ["ff f+0x1 (/a/b (deleted))"] = { "f", "/a/b (deleted)" },
         ["ff f(int) (/a/b (deleted))"] = { "f(int)", "/a/b (deleted)" },
         ["ff f+0x1 (/a/x.so+0x123)"] = { "f", "/a/x.so" },
         ["ff f(int)"] = { "f(int)" },
         ["ff f+0xab"] = { "f" },
         ["ff std::f<void (int)>::g(int, char (*)())+0x1 (/a)"] =
            { "std::f<void (int)>::g(int, char (*)())", "/a" },
         ["ff operator() (int) (/a)"] = { "operator() (int)", "/a" },
         ["ff Lcom/x;::<init>+0x1 (/tmp/perf-12.map)"] = { "Lcom/x;::<init>", "/tmp/perf-12.map" },
         ["ff [unknown] (/a/lib.so)"] = { "[lib.so]", "/a/lib.so" },
         ["ff [unknown] ([vdso])"] = { "[vdso]", "[vdso]" },
         ["ff [unknown] ([unknown])"] = { "[unknown]", "[unknown]" },
         ["ff [unknown]"] = { "[unknown]" },
         ["ff (/a/lib.so)"] = { "[lib.so]", "/a/lib.so" },
         ["ff"] = { "0xff" },
         ["ff f+0x1 (/a)b)"] = { "f", "/a)b" },
         ["ff f+0x1 (inlined)"] = { "f" },
         ["ff [unknown] (inlined)"] = { "[unknown]" },
         ["ff f+0x1 ()"] = { "f" },
      } do
         local trace <close> = forced("a 1 2.5: 3 x: \n\t  " .. frame .. "\n\n")
         local name, file = next(totals(trace:profile())):match "^(.*) (/.*)$"
         if not name then
            name, file = next(totals(trace:profile())):match "^(.-) (%[?.*)$"
         end
         if expected[1] == "operator() (int)" then
            assert.equal("operator() (int) /a", next(totals(trace:profile())))
         else
            assert.equal(expected[1] .. " " .. (expected[2] or ""), name .. " " .. file)
         end
         assert.same({}, codes.placed(trace))
      end
   end)

   it("finds the frame of a line between the other fields", function()
      local front = "            prog    71  1.500000:   20 cycles: "
      for rest, expected in pairs {
         ["            1250 f+0x1 (/a)"] = { 0x1250, "f" },
         ["               0             1250 f+0x1 (/a)"] = { 0x1250, "f" },
         ["    7f0000001000 data+0x8 (/a)             1250 f+0x1 (/a)"] = { 0x1250, "f" },
         ["            1250 f+0x1 (/a)     7f0000001000"] = { 0x1250, "f" },
         ["            1250 f+0x1 (/a) 0x1/0x2/P/-/-/0  0x3/0x4/M/-/-/1"] = { 0x1250, "f" },
         ["            1250 f+0x1 (/a) insn: 48 89"] = { 0x1250, "f" },
         [" 7f1250 f (/a)"] = { 0x7f1250, "f" },
         ["            1250"] = { 0x1250, "0x1250" },
         [" fd 12 (a)"] = {},
         [" some text             1250 f (/a)"] = {},
      } do
         local trace <close> = forced(front .. rest .. "\n")
         local row = trace.samples:rows("addr")[1]
         assert.same(expected, { row.addr, expected[2] and next(stacks_of(trace)) }, rest)
         local is_alone = expected[2] and #rest < 33
         assert.equal(not is_alone, trace.samples:rows("detail")[1].detail ~= nil, rest)
      end
   end)

   it("keeps all whole samples of a file that is cut anywhere", function()
      local ends = { stacks:find("\n\nmy", 1, true) + 1, stacks:find("\n\nprog 71/73", 1, true) + 1,
         #stacks }
      for size = stacks:find("prog", 130, true) + 20, #stacks do
         local trace = profio.open({ data = stacks:sub(1, size) }, { format = "perfscript" })
         local whole = (size >= ends[1] and 1 or 0) + (size >= ends[2] and 1 or 0)
            + (size >= ends[3] and 1 or 0)
         local count = trace and trace.samples:count() or 0
         local found = trace and table.concat(codes.placed(trace), " ") or "none"
         local is_noted = found:find "truncated" or found:find "no%-end"
         if stacks:sub(size, size) == "\n" then
            assert.is_true(count >= whole and count <= whole + 1)
            assert.equal(count > whole, found:find "no%-end" ~= nil, size)
         else
            assert.equal(whole, count, size)
            assert.is_truthy(is_noted or not trace, size)
         end
         if trace then
            trace:close()
         end
      end
   end)

   it("keeps all whole samples of single lines that are cut anywhere", function()
      local whole = 0
      for size = 1, #lines do
         local trace = profio.open({ data = lines:sub(1, size) }, { format = "perfscript" })
         whole = select(2, lines:sub(1, size):gsub("\n", "")) - 1
         assert.equal(math.max(whole, 0), trace and trace.samples:count() or 0)
         if trace then
            assert.equal(lines:sub(size, size) ~= "\n", #trace.warnings == 1)
            trace:close()
         end
      end
      assert.equal(3, whole)
   end)

   it("warns of what it cannot read, and reads the rest", function()
      local text = table.concat({ "\t 12 f (m)", "", "a 1 2.5: 3 x: ", "\t 12 f (m)",
         "\t0x12 f (m)", "ABI:2 AX:0x1", "", "damaged 1", "\t 12 f (m)", "", "lost messages",
         "a 1 99999999999999999999.5: 3 x: ", "\t 12 f (m)", "\t 11112222333344445 f (m)", "", "" },
         "\n")
      local trace <close> = forced(text, { all_warnings = true })
      assert.same({ f = 2 }, stacks_of(trace))
      local list = {}
      for _, warning in ipairs(trace.warnings) do
         local _, number = text:sub(1, warning.offset):gsub("\n", "")
         list[#list + 1] = warning.code:sub(12) .. " " .. number + 1
      end
      assert.same({ "line 1", "left-out 5", "left-out 6", "line 8", "line 11", "time 12",
         "left-out 14" }, list)
      local strict <close> = forced(text, { strict = true })
      local profile, message, code = strict:profile()
      assert.is_nil(profile)
      assert.matches("no line of a sample is in front of its stack: 12 f %(m%)", message)
      assert.equal("format", code)
   end)

   it("has samples only, if the file has no periods", function()
      local trace <close> = open((command.read(seeds .. "fields"):gsub(" 500 ", " ")))
      local metrics = trace:profile():metrics()
      assert.same({ 1, "samples", "count" }, { #metrics, metrics[1].name, metrics[1].unit })
   end)

   it("has calls that samples show, on request", function()
      local function sample(thread, time, ...)
         return ("p %d %s: 1 cycles: \n"):format(thread, time)
            .. ("\t 1 %s (m)\n"):rep(select("#", ...)):format(...) .. "\n"
      end
      local text = sample(1, "1.000", "b", "a") .. sample(1, "1.001", "b", "a")
         .. sample(2, "1.0015", "x") .. sample(1, "1.002", "c", "a") .. sample(1, "2.000", "a")
      local trace <close> = assert(profio.open({ data = text }, { timeline = true, gap = 4000000 }))
      local list = {}
      for lane, area, start, stop in trace:calls():each("lane", "area", "start", "stop") do
         list[#list + 1] = ("%s %s %d-%d"):format(lane, area, start // 1000, stop // 1000)
      end
      assert.same({ "p 1 b 1000000-1002000", "p 2 x 1001500-1005500", "p 1 c 1002000-1006000",
         "p 1 a 1000000-1006000", "p 1 a 2000000-2004000" }, list)
      local last
      for time in trace.events:each "time" do
         assert(not last or time >= last)
         last = time
      end
   end)

   it("is compared by the samples of the event, not by those of all events", function()
      local list = {}
      for i = 1, 100 do
         list[i] = ("a 1 %d.5: 1000 cpu-clock: \n\t 1 f (m)\n\na 1 %d.5: 9 other: \n\t 1 f (m)\n\n")
            :format(i, i)
      end
      local both <close> = open(table.concat(list))
      local one <close> = open((table.concat(list):gsub("a 1 %d+.5: 9 other: \n[^\n]*\n\n", "")))
      local wide = profio.compare(both, both, { metric = "cpu-clock" }):rows():rows()[1]
      local own = profio.compare(one, one, { metric = "cpu-clock" }):rows():rows()[1]
      assert.equal(own.low, wide.low)
      assert.equal(own.high, wide.high)
   end)

   it("has a column for each event, whatever their names are, and no more than 64", function()
      local list = {}
      for i = 1, 70 do
         list[i] = ("a 1 2.5: %d %s: \n\t 1 f (m)\n\n"):format(i, i == 1 and "time" or "e" .. i)
      end
      local trace <close> = open(table.concat(list))
      local row = trace.samples:rows()[1]
      assert.same({ 2500000000, 1 }, { row.time, row.time_1 })
      assert.equal(2 * 64 + 1, #trace:profile():metrics())
      assert.matches("^perfscript%-many%-events:", codes.placed(trace)[1])
   end)

   it("reads CR LF", function()
      local trace <close> = open((stacks:gsub("\n", "\r\n")))
      local other <close> = open(stacks)
      assert.same(stacks_of(other), stacks_of(trace))
      assert.equal((stacks:gsub("\n", "\r\n")), (function()
         local list = {}
         for text in trace.raw:each "text" do
            list[#list + 1] = text .. "\n"
         end
         return table.concat(list)
      end)())
   end)

   it("is detected by samples with frames or events, and by nothing less", function()
      for _, text in ipairs { "a 1 2.5: 3 x: \n\t 12 f (m)\n\n", "a 1 \n\t 12 f+0x1\n\n",
         " a 1 2.5: x: text\n", "# c\n\n   a 1 x:             12a0 f (m)\n" } do
         assert.equal("perfscript", open(text).format)
      end
      for _, text in ipairs { "a 1 \n\t 12 f\n\n", "a;b;c 12\n",
         "Nov 29 11:27:50 box prog[12]: x\n",
         "[   12.500000] usb 1-1: new device\n", "a-12 [003] 2.500000: sched_switch: x\n",
         "12 2.5: note: text\n", "time 12\n\tadd (it)\n", "2.5: 1 x: y\n", "a 1 2.5: 3 x: " } do
         local trace = profio.open { data = text }
         assert.is_true(trace == nil or trace.format ~= "perfscript", text)
      end
   end)

   it("agrees with a slow model on random samples", function()
      math.randomseed(12)
      local random, list = math.random, {}
      local symbols = { "f", "g(int)", "h<a b>", "operator()(int) const", "[unknown]", "i (j)" }
      local modules = { "/a", "/b c/lib.so", "[kernel.kallsyms]", "[unknown]", "/d (deleted)" }
      for _ = 1, 2000 do
         list[#list + 1] = ("t %d %d.%06d: %d x: \n"):format(random(3), random(9), random(999999),
            random(99))
         for _ = 1, random(0, 12) do
            local symbol = symbols[random(#symbols)]
            list[#list + 1] = ("\t%16x %s%s (%s)\n"):format(random(99), symbol,
               symbol == "[unknown]" and "" or "+0x" .. random(9), modules[random(#modules)])
         end
         list[#list + 1] = "\n"
      end
      local text = table.concat(list)
      local trace <close> = open(text)
      assert.same(collapsed(text), stacks_of(trace))
      assert.same({}, codes.placed(trace))
   end)

   -- perf may be missing, or not allowed to record.
   local data = command.folder .. "/perf.data"
   local can_record = programs.has "perf" and os.execute("perf record -q -e cpu-clock -F 999 -g -o "
      .. data .. " sh -c 'seq 300000 | gzip -9' >/dev/null 2>&1")

   local it_records = can_record and it or function(name)
      pending(name .. " (needs perf)")
   end

   it_records("has the self times of perf report, whatever fields are printed", function()
      local theirs = {}
      for period, module, symbol in programs.output("perf report -i %s --stdio --no-children "
         .. "-g none -F overhead,period,dso,sym -t ';'", data)
         :gmatch "[^;\n]+;%s*(%d+)%s*;(%S+)%s*;%[.%] (%S+)" do
         local name = symbol:find "^0x%x+$" and "[" .. module:gsub("^%[(.*)%]$", "%1") .. "]"
            or symbol
         theirs[name] = (theirs[name] or 0) + period
      end
      assert.is_not_nil(next(theirs))
      for _, fields in ipairs { "", "-F +srcline", "--header --show-task-events --ns",
         "-F comm,tid,period,event,ip,sym,dso", "-F +misc,+pid", "-G" } do
         local file = command.file("perf.txt", programs.output("perf script --no-inline -i %s %s",
            data, fields))
         local trace <close> = assert(profio.open(file))
         local ours, missing = {}, 0
         for name, own in trace:profile():flat { metric = "cpu-clock" }:each("function", "self") do
            ours[name] = own > 0 and (ours[name] or 0) + own or ours[name]
         end
         for stack, period in trace.samples:each("stack", "period") do
            missing = missing + (stack and 0 or period)
         end
         for name, own in pairs(theirs) do
            missing = missing - (own - (ours[name] or 0))
            assert.is_true(own >= (ours[name] or 0), name .. fields)
            ours[name] = nil
         end
         assert.same({ 0, nil }, { missing, next(ours) })
      end
   end)

   local it_looks = can_record and viewers.has_speedscope and it or function(name)
      pending(name .. " (needs perf and speedscope)")
   end

   it_looks("has the functions of each thread that speedscope shows", function()
      local file = command.file("perf.txt", programs.output("perf script -i %s", data))
      local theirs, ours = {}, {}
      for _, profile in ipairs(viewers.speedscope(file).profiles) do
         local thread = profile.name:match "tid: (%d+)$"
         for _, frame in ipairs(profile.frames) do
            local name = frame.name:gsub("^%?%?%? %(.-([^/]+)%)$", "[%1]")
            theirs[thread .. " " .. name:gsub("^%[%[(.*)%]%]$", "[%1]")] = true
         end
      end
      local trace <close> = assert(profio.open(file))
      for tid, stack in trace.samples:each("tid", "stack") do
         for _, name in ipairs(frames_of(trace, stack)) do
            ours[tid .. " " .. name] = true
         end
      end
      assert.same(theirs, ours)
   end)
end)
