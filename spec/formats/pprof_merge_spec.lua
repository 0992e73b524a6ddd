-- pprof to pprof: all data is kept, and files are merged as by Go's pprof. Go's own tool lists the
-- contents of a file; this spec decodes fields that the tool does not read.
--
-- Long: files cut and changed at every byte.
-- Costly: large inputs, beside models in Lua.

local command = require "spec.support.command"
local core = require "profio.core"
local elf = require "spec.support.elf"
local disk = require "spec.support.disk"
local folded = require "spec.support.folded"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local recorder = require "profio.recorder"
local rounds = require "spec.support.rounds"
local traces = require "profio.internal.trace"

local number, message, packed = protobuf.number, protobuf.message, protobuf.packed

local it_asks_go = protobuf.has_go and it or function(name)
   pending(name .. " (needs go)")
end

-- {====== Profiles ======

-- Returns a profile with all fields: two mappings, inlined functions with start lines and columns,
-- names of the linker, a location without a name, a folded one, labels, and all header fields.
local function everything(more)
   more = more or {}
   local text = protobuf.texts()
   local shift = more.shift or 0
   local function fn(id, name, system, file, start)
      return message(5, number(1, id), number(2, text(name)), number(3, text(system)),
         number(4, text(file)), number(5, start))
   end
   local function line(f, l, column)
      return message(4, number(1, f), number(2, l), number(3, column))
   end
   return table.concat {
      message(1, number(1, text "alloc-samples"), number(2, text "count")),
      message(1, number(1, text "alloc space"), number(2, text "bytes")),
      message(1, number(1, text ""), number(2, text "")),
      message(2, packed(1, { 70, 10, 30 }), packed(2, { 1, 2, 3 }),
         message(3, number(1, text "request"), number(2, text "GET /")),
         message(3, number(1, text "size"), number(3, 4096), number(4, text "bytes")),
         message(3, number(1, text "size"), number(3, 1), number(4, text "kilobytes"))),
      message(2, number(1, 20), number(1, 30), number(2, 4), number(2, 0), number(2, -5),
         message(3, number(1, text "depth"), number(3, -7))),
      message(2, packed(1, { 40 }), packed(2, { 7, 8, 9 })),
      message(2, packed(1, { 10, 30 }), packed(2, { 10, 20, 30 })),
      message(3, number(1, 5), number(2, 0x400000 + shift), number(3, 0x4c7a00 + shift),
         number(4, 0x1000), number(5, text "/usr/bin/prog"), number(6, text "9f1cabcd"),
         number(7, 1), number(8, 1), number(9, 1), number(10, 1)),
      message(3, number(1, 9), number(2, 0x7f0000000000 + shift),
         number(3, 0x7f0000100000 + shift), number(5, text "/lib/libc.so.6")),
      message(4, number(1, 70), number(2, 5), number(3, 0x401234 + shift), line(1, 12, 3),
         line(2, 33, 9), line(3, 7, 1)),
      message(4, number(1, 10), number(2, 5), number(3, 0x402000 + shift), line(2, 40, 0)),
      message(4, number(1, 30), number(2, 5), number(3, 0x403000 + shift), line(3, 8, 2)),
      message(4, number(1, 20), number(2, 9), number(3, 0x7f0000001111 + shift)),
      message(4, number(1, 40), number(3, 0xdeadbeef), number(5, 1)),
      message(4, number(1, 99), number(3, 0x1)),
      fn(1, "small", "_Z5smallv", "a.cc", 11), fn(2, "Box<int>::get()", "_ZN3BoxIiE3getEv",
         "a.cc", 30), fn(3, "main", "main", "main.cc", 5), fn(4, "nobody", "", "", 0),
      number(7, text "drop.*"), number(8, text "keep.*"),
      number(9, more.time or 1700000000000000000), number(10, more.duration or 5000000000),
      message(11, number(1, text "space"), number(2, text "bytes")),
      number(12, more.period or 524288),
      number(13, text "first comment"), number(13, text(more.comment or "second comment")),
      number(14, text "alloc space"), number(15, text "https://example.org/doc"),
      text.fields(),
   }
end

local function saved(...)
   local inputs = {}
   for i, bytes in ipairs { ... } do
      inputs[i] = { data = bytes }
   end
   local trace <close> = assert(profio.open(inputs, { format = "pprof" }))
   local bytes, words, code = trace:save(nil, { packed = false })
   return bytes, words, code, trace.warnings
end

local function raw(...)
   local text, ok = protobuf.go("-raw", ...)
   assert.is_true(ok, text)
   return text
end

-- Returns a random profile that Go reads: few functions, mappings and keys, so that many are equal.
-- Mappings of one name may have several addresses, as libraries do.
local function random(seed)
   math.randomseed(seed)
   local text, r = protobuf.texts(), math.random
   local function pick(list)
      return list[r(#list)]
   end
   local parts, mappings, functions, locations = {}, r(0, 3), r(1, 5), r(1, 12)
   for _, type in ipairs { { "samples", "count" }, { "cpu", "nanoseconds" } } do
      parts[#parts + 1] = message(1, number(1, text(type[1])), number(2, text(type[2])))
   end
   for i = 1, mappings do
      local start = r(0, 3) << 20
      parts[#parts + 1] = message(3, number(1, i * 7), number(2, start),
         number(3, start + r(1, 2) * 0x10000 - r(0, 4000)), number(4, r(0, 1) << 12),
         number(5, text(pick { "", "prog", "libc" })), number(6, text(pick { "", "", "id" })),
         number(7, r(0, 1)), number(9, r(0, 1)))
   end
   for i = 1, functions do
      local name = pick { "f", "g", "h<int>", "" }
      parts[#parts + 1] = message(5, number(1, i * 3), number(2, text(name)),
         number(3, text(pick { name, "_Zf", "" })), number(4, text(pick { "", "a.c" })),
         number(5, r(0, 1)))
   end
   for i = 1, locations do
      local lines = {}
      for n = 1, r(0, 2) do
         lines[n] = message(4, number(1, r(functions) * 3), number(2, r(0, 2)))
      end
      local mapping = mappings > 0 and r(0, mappings) * 7 or 0
      parts[#parts + 1] = message(4, number(1, i * 11), number(2, mapping),
         number(3, r(0, 3) << 20 | r(0, 3)), table.concat(lines), number(5, r(0, 4) // 4))
   end
   for _ = 1, r(0, 30) do
      local stack, labels = {}, {}
      for n = 1, r(1, 3) do
         stack[n] = r(locations) * 11
      end
      for n = 1, r(0, 4) // 2 do
         labels[n] = r(2) == 1 and message(3, number(1, text(pick { "k", "l" })),
            number(2, text(pick { "x", "y" }))) or message(3, number(1, text(pick { "k", "m" })),
            number(3, r(1, 2)), number(4, text(pick { "", "bytes" })))
      end
      parts[#parts + 1] = message(2, packed(1, stack), packed(2, { r(-1, 2), r(-1, 1) }),
         table.concat(labels))
   end
   parts[#parts + 1] = number(9, r(1, 1 << 60))
   parts[#parts + 1] = number(10, r(0, 1 << 40))
   parts[#parts + 1] = message(11, number(1, text "cpu"), number(2, text "nanoseconds"))
   parts[#parts + 1] = number(12, r(0, 9))
   for _ = 1, r(0, 3) do
      parts[#parts + 1] = number(13, text("comment " .. r(3)))
   end
   parts[#parts + 1] = number(14, text(pick { "", "samples", "cpu" }))
   return table.concat(parts) .. text.fields()
end

-- }======

describe("pprof to pprof", function()
   it("does not keep the files awake that it has read", function()
      local text = message(6, ("x"):rep(20000)) -- smaller files are copied, not mapped
      local path = command.file("asleep.pb", everything() .. text)
      local function is_mapped()
         for line in io.lines "/proc/self/maps" do
            if line:find("/asleep.pb", 1, true) then
               return true
            end
         end
         return false
      end
      local trace <close> = assert(profio.open(path))
      assert.is_true(traces.of(trace).parts[1]:sleep())
      assert.is_false(is_mapped())
      assert.is_true(#trace:save() > 100)
      assert.is_false(is_mapped())
   end)

   it("keeps all data", function()
      local before = protobuf.resolved(everything())
      local after = protobuf.resolved((saved(everything())))
      before.nlocations, before.nfunctions = 5, 3 -- no sample refers to the others
      assert.same(before, after)
   end)

   it("keeps all data in the export of a trace, also on the command line", function()
      local bytes = everything()
      local trace <close> = assert(profio.open { data = bytes })
      assert.equal((saved(bytes)), assert(trace:export("pprof", nil, { packed = false })))
      command.file("everything.pb", bytes)
      local out, status, errors = command.run "profio --export pprof --set packed=no everything.pb"
      assert.equal("", errors)
      assert.equal(0, status)
      assert.is_true(out == (saved(bytes)))
      out = command.run "profio --merge --set packed=no everything.pb"
      assert.is_true(out == (saved(bytes)))
   end)

   it("prints the header fields of a file", function()
      command.file("everything.pb", everything())
      local text = command.run "profio --info everything.pb"
      for _, words in ipairs { "sample_type +alloc%-samples\n", "sample_unit +bytes\n",
         "mapping +0x400000%-0x4c7a00 0x1000 /usr/bin/prog 9f1cabcd\n",
         "mapping +0x7f0000000000%-0x7f0000100000 0x0 /lib/libc.so.6\n", "comment +first comment\n",
         "comment +second comment\n", "default_sample_type +alloc space\n", "period_type +space\n",
         "drop_frames +drop%.%*\n", "keep_frames +keep%.%*\n", "doc_url +https://example" } do
         assert.matches(words, text)
      end
   end)

   it_asks_go("shows in Go what the input shows", function()
      assert.equal(raw(everything()), raw((saved(everything()))))
      for seed = 1, 25 do
         local bytes = random(seed)
         assert.equal(raw(bytes), raw((saved(bytes))), "seed " .. seed)
      end
   end)

   it_asks_go("merges files as Go does", function()
      local other = everything { shift = 0x10000, time = 1600000000000000000, duration = 1,
         period = 1048576, comment = "third comment" }
      assert.equal(raw(everything(), other), raw((saved(everything(), other))))
      for seed = 1, 40 do
         local list = {}
         for i = 1, 2 + seed % 3 do
            list[i] = random(100 * seed + i)
         end
         assert.equal(raw(table.unpack(list)), raw((saved(table.unpack(list)))), "seed " .. seed)
      end
   end)

   it("merges fields that Go 1.19 does not read", function()
      local merged = protobuf.resolved((saved(everything(), everything { shift = 0x10000,
         time = 1600000000000000000, duration = 1, period = 1048576, comment = "third" })))
      local one = protobuf.resolved(everything())
      assert.same(one.mappings, merged.mappings)
      assert.same({ "first comment", "second comment", "third" }, merged.comments)
      assert.same({ 1600000000000000000, 5000000001, 1048576 }, { merged.time, merged.duration,
         merged.period })
      assert.same({ one.doc_url, one.drop, one.keep, one.default, one.period_type },
         { merged.doc_url, merged.drop, merged.keep, merged.default, merged.period_type })
      assert.equal("2 4 6", merged.samples[1].values)
      assert.equal(one.samples[1].stack, merged.samples[1].stack)
      assert.equal(one.samples[1].labels, merged.samples[1].labels)
   end)

   it("writes the same bytes when a merged file is merged again", function()
      for seed = 1, 60 do
         local once = saved(random(seed), random(seed + 1000))
         assert.is_true(once == (saved(once)), "seed " .. seed)
      end
   end)

   -- {====== Sample types ======

   local function of_types(types, values, period)
      local text, parts = protobuf.texts(), {}
      for i, type in ipairs(types) do
         parts[i] = message(1, number(1, text(type[1])), number(2, text(type[2])))
      end
      parts[#parts + 1] = message(2, packed(1, { 1 }), packed(2, values))
      parts[#parts + 1] = message(4, number(1, 1), message(4, number(1, 1)))
      parts[#parts + 1] = message(5, number(1, 1), number(2, text "main"))
      if period then
         parts[#parts + 1] = message(11, number(1, text(period[1])), number(2, text(period[2])))
         parts[#parts + 1] = number(12, period[3])
      end
      return table.concat(parts) .. text.fields()
   end

   it("merges the sample types that all files have, in the smallest unit", function()
      local bytes, _, _, warnings = saved(
         of_types({ { "a", "count" }, { "time", "ms" }, { "b", "count" } }, { 1, 2, 3 },
            { "cpu", "ms", 1 }),
         of_types({ { "time", "microseconds" }, { "c", "count" }, { "a", "count" } },
            { 40, 50, 60 }, { "cpu", "us", 1500 }))
      local merged = protobuf.resolved(bytes)
      assert.same({ "a/count", "time/microseconds" }, merged.types)
      assert.equal("61 2040", merged.samples[1].values)
      assert.same({ "cpu/us", 1500 }, { merged.period_type, merged.period })
      local told = {}
      for _, warning in ipairs(warnings) do
         told[#told + 1] = warning.code .. " " .. warning.message:match "'(.-)'"
      end
      table.sort(told)
      assert.same({ "pprof-types-differ b", "pprof-types-differ c", "pprof-types-differ samples" },
         told)
   end)

   it("adds profiles with the sample types of all files", function()
      local trace <close> = assert(profio.open({
         { data = of_types({ { "a", "count" }, { "b", "count" } }, { 1, 2 }) },
         { data = of_types({ { "b", "count" }, { "a", "bytes" } }, { 10, 20 }) } }))
      assert.same({ "weights", "labels", "raw" }, trace.tables)
      local totals = {}
      for i, metric in ipairs(assert(trace:profile()):metrics()) do
         totals[i] = metric.name .. "/" .. metric.unit .. " " .. metric.total
      end
      assert.same({ "a/count 1", "b/count 12", "a/bytes 20" }, totals)
   end)

   it("refuses to merge profiles of another kind", function()
      local bytes, words, code = saved(of_types({ { "a", "count" } }, { 1 }),
         of_types({ { "b", "count" } }, { 1 }))
      assert.same({ nil, "unsupported" }, { bytes, code })
      assert.matches("no sample type in common", words)
      bytes, words = saved(of_types({ { "a", "count" } }, { 1 }, { "cpu", "ns", 1 }),
         of_types({ { "a", "count" } }, { 1 }, { "space", "bytes", 1 }))
      assert.is_nil(bytes)
      assert.matches("'cpu', another by 'space'", words)
   end)

   -- }======

   -- {====== Go's own profiles ======

   local program = [[
package main

import ("context"; "os"; "runtime"; "runtime/pprof")

var sink [][]byte

//go:noinline
func spin(n int) int { s := 1; for i := 1; i < n; i++ { s = s*i%7919 + small(i) }; return s }

func small(i int) int { return i & 3 }

//go:noinline
func allocate(n int) { for i := 0; i < n; i++ { sink = append(sink, make([]byte, 4096)) } }

func main() {
	cpu, _ := os.Create(os.Args[1] + "cpu")
	pprof.StartCPUProfile(cpu)
	for _, worker := range []string{"first", "second"} {
		pprof.Do(context.Background(), pprof.Labels("worker", worker, "step", "one"),
			func(context.Context) { spin(30000000) })
	}
	pprof.StopCPUProfile()
	runtime.MemProfileRate = 1
	allocate(len(os.Args) * 100)
	heap, _ := os.Create(os.Args[1] + "heap")
	pprof.WriteHeapProfile(heap)
}
]]

   it_asks_go("keeps the profiles of Go's programs", function()
      local folder = command.folder .. "/go"
      disk.folder(folder .. "/cache")
      local file <close> = assert(io.open(folder .. "/main.go", "w"))
      file:write(program)
      file:flush()
      local go = ("cd %s && GOCACHE=%s/cache GOFLAGS=-mod=mod "):format(folder, folder)
      assert(os.execute(go .. "go build -o prog main.go && ./prog a && ./prog b more"))
      for _, kind in ipairs { "cpu", "heap" } do
         local a, b = command.read(folder .. "/a" .. kind), command.read(folder .. "/b" .. kind)
         assert.equal(raw(a), raw((saved(a))))
         assert.equal(raw(a, b), raw((saved(a, b))))
         assert.equal(raw(b, a, b), raw((saved(b, a, b))))
      end
      local tags = protobuf.go("-tags", (saved(command.read(folder .. "/acpu"))))
      assert.matches("first", tags)
      disk.remove(folder)
   end)

   -- }======

   -- {====== Profiles of profio ======

   it("keeps the fields that a profile of profio can hold", function()
      local trace <close> = assert(profio.open { data = everything() })
      local made = assert(trace:profile()):focus "main"
      local seen = protobuf.resolved(assert(made:export("pprof", nil, { packed = false })))
      local before = protobuf.resolved(everything())
      for _, fact in ipairs { "types", "comments", "time", "duration", "period", "period_type",
         "default", "doc_url", "drop", "keep" } do
         assert.same(before[fact], seen[fact], fact)
      end
      local both = assert(trace:profile()) + assert(trace:profile())
      seen = protobuf.resolved(assert(both:export("pprof", nil, { packed = false })))
      assert.equal(2 * before.duration, seen.duration)
      assert.same(before.comments, seen.comments)
      local addresses = 0
      for _, sample in ipairs(seen.samples) do
         addresses = addresses + (sample.stack:find "^deadbeef@%-%[%]$" and 1 or 0)
      end
      assert.equal(1, addresses)
   end)

   it("writes a mapping for a known executable", function()
      local bytes = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x2000,
         bins = { 5, 0, 0, 7 } }:bytes()
      local exe = command.file("program", elf.build { sections = {
         { name = ".text", address = 0x1000, flags = 6, data = ("\x90"):rep(4096) },
         elf.build_id("\xab\xcd\xef\1", "<") }, symbols = {
            { name = "alpha", value = 0x1000, size = 0x800 },
            { name = "beta", value = 0x1800, size = 0x800 } } })
      local trace <close> = assert(profio.open({ data = bytes }, { exe = exe }))
      local seen = protobuf.resolved(assert(trace:export("pprof", nil, { packed = false })))
      assert.equal(1, #seen.mappings)
      assert.equal("1000-2000+0 " .. exe .. " abcdef01 1000", seen.mappings[1])
      for _, sample in ipairs(seen.samples) do
         assert.matches("^0@1000%-2000", sample.stack)
      end
      local plain <close> = assert(profio.open { data = bytes })
      seen = protobuf.resolved(assert(plain:export("pprof", nil, { packed = false })))
      assert.same({}, seen.mappings)
   end)

   it("writes only used entries, and merges to the bytes of the direct merge", function()
      for seed = 1, 30 do
         math.randomseed(seed)
         local profiles = {}
         for i = 1, seed % 10 == 0 and math.random(60, 100) or math.random(2, 5) do
            -- a context with weight 0
            profiles[i] = folded.profile(folded.random(math.random(1, 30)) .. "main;unused 1\n")
               - folded.profile "main;unused 1\n"
         end
         local sum = profiles[1]
         for i = 2, #profiles do
            sum = sum + profiles[i]
         end
         local direct = assert(sum:export("pprof", nil, { packed = false }))
         local files = {}
         for i, profile in ipairs(profiles) do
            files[i] = assert(profile:export("pprof", nil, { packed = false }))
            assert.is_nil(files[i]:find("unused", 1, true))
         end
         assert.is_true(direct == (saved(table.unpack(files))), "seed " .. seed)
         local inputs = {}
         for i, bytes in ipairs(files) do
            inputs[#files + 1 - i] = { data = bytes }
         end
         local trace <close> = assert(profio.open(inputs))
         assert.is_true(direct == assert(trace:export("pprof", nil, { packed = false })))
         assert.is_true(direct == assert(trace:profile():export("pprof", nil, { packed = false })))
      end
   end)

   it("merges files that profio wrote with a file of another program behind them", function()
      math.randomseed(5)
      local files, foreign = {}, random(77)
      for i = 1, 70 do
         files[i] = assert(folded.profile(folded.random(10)):export("pprof", nil,
            { packed = false }))
      end
      local function samples_of(bytes)
         local list = {}
         for i, sample in ipairs(protobuf.resolved(bytes).samples) do
            list[i] = sample.stack .. " " .. sample.values
         end
         table.sort(list)
         return list
      end
      local first = saved(table.unpack(files))
      files[#files + 1] = foreign
      local list = samples_of((saved(table.unpack(files))))
      assert.is_true(#list > 30)
      assert.same(samples_of((saved(first, foreign))), list)
   end)

   it_asks_go("keeps functions of other files and of no name apart", function()
      local rows = {}
      local bytes = assert(core.contexts { reader = core.decoder({ { "function", "name" },
         { "file", "name" }, { "spent", "int" } }, function(put)
            put("function <a.lua:1>", "a.lua", 5)
            put("function <a.lua:2>", "a.lua", 7)
            put("same", "a.lua", 11)
            put("same", "b.lua", 13)
         end, core.dictionary(), "rows"), ["function"] = "function", file = "file",
         metrics = { { name = "time", unit = "ns", column = "spent" } } })
      bytes = require("profio.profile").of_contexts(bytes, "x"):export "pprof"
      for _, granularity in ipairs { "functions", "files" } do
         rows[granularity] = protobuf.go("-top -unit=ns -" .. granularity, bytes)
      end
      assert.matches("7ns.-function <a%.lua:2>", rows.functions)
      assert.matches("5ns.-function <a%.lua:1>", rows.functions)
      local seen = protobuf.resolved((saved(bytes)))
      assert.equal(4, seen.nfunctions)
      for _, sample in ipairs(seen.samples) do
         assert.matches("^0@%-%[[^|]+||", sample.stack) -- without a name of the linker
      end
   end)

   it_asks_go("shows each function of Lua that has no name", function()
      local path = command.folder .. "/anonymous"
      recorder.start { mode = "calls", path = path }
      local functions = {
         function(n) return ("x"):rep(n) end,
         function(n) return n * n end,
      }
      local function through(f, n)
         return f(n) -- a function called so has no name
      end
      for i = 1, 300 do
         through(functions[1], i)
         through(functions[2], i)
      end
      recorder.stop()
      local trace <close> = assert(profio.open(path))
      local text = protobuf.go("-top -nodecount=1000 -nodefraction=0", trace:export "pprof")
      for _, one in ipairs(functions) do
         local line = debug.getinfo(one, "S").linedefined
         assert.matches("function at pprof_merge_spec%.lua:" .. line .. "\n", text)
      end
      trace:close()
      for _, ending in ipairs { "", ".BIN" } do
         os.remove(path .. ending)
      end
   end)

   it("has a writer that names its columns", function()
      local writer <close> = assert(profio.create(nil, { format = "pprof" }))
      assert.error_matches(function() writer:write { samples = 1 } end,
         "table 'weights' has no column 'samples'; there are: stack, metric, unit, weight")
      assert.error_matches(function() writer:write("samples", {}) end, "there are: weights")
      assert.error_matches(function() writer:emitter("weights", { "count" })(1) end,
         "there are: stack, metric, unit, weight")
   end)

   -- }======

   it("reads files cut at every byte, and with every byte at its maximum", function()
      local whole = everything()
      for size = 1, #whole, rounds.all and 1 or 3 do
         local trace = profio.open({ data = whole:sub(1, size) }, { format = "pprof" })
         if trace then
            trace:save()
            trace:close()
         end
      end
      for at = 2, #whole, rounds.all and 1 or 3 do
         for _, byte in ipairs { "\xff", "\x7f", "\x00" } do
            local broken = whole:sub(1, at - 1) .. byte .. whole:sub(at + 1)
            local trace = profio.open({ { data = broken }, { data = whole } }, { format = "pprof" })
            if trace then
               trace:save()
               trace:close()
            end
         end
      end
   end)
end)
