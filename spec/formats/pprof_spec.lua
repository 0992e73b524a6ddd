-- Profiles of Go's pprof. Go's own tool reads the written files; the files that profio reads were
-- packed by hand.

local core = require "profio.core"
local disk = require "spec.support.disk"
local folded = require "spec.support.folded"
local profile_parts = require "profio.internal.bodies.profile_parts"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local rounds = require "spec.support.rounds"

local varint, number, message, packed = protobuf.varint, protobuf.number, protobuf.message,
   protobuf.packed

-- A small profile: two types, three functions, one of them inlined.
local function small(more)
   more = more or {}
   return table.concat {
      message(1, number(1, 1), number(2, 2)),
      message(1, number(1, 3), number(2, 4)),
      message(2, packed(1, { 2, 1 }), packed(2, more.values or { 3, 7 }),
         message(3, number(1, 8), number(2, 5)), message(3, number(1, 8), number(3, 12))),
      message(2, number(1, more.location or 1), number(2, 1), number(2, 5)),
      message(4, number(1, 1), number(3, 0x1000), message(4, number(1, 1), number(2, 10))),
      message(4, number(1, 2), message(4, number(1, 3), number(2, 30)),
         message(4, number(1, more.fn or 2), number(2, 20))),
      message(5, number(1, 1), number(2, 5), number(4, 9)),
      message(5, number(1, 2), number(2, 6), number(4, 9)),
      message(5, number(1, 3), number(2, more.text or 7), number(4, 9)),
      message(6, more.first or ""), message(6, "samples"), message(6, "count"), message(6, "cpu"),
      message(6, "milliseconds"), message(6, "main"), message(6, "outer"), message(6, "inner"),
      message(6, "key"), message(6, "main.c"),
      number(9, 1700000000000000000), number(10, 5000000000), number(12, 10000000),
   }
end

local function open(data, options)
   return profio.open({ data = data }, options)
end

local function frames(trace, stack)
   local list = {}
   for i, frame in ipairs(trace:stack(stack)) do
      list[i] = frame.area .. ":" .. (frame.line or "-")
   end
   return table.concat(list, " ")
end

-- {====== Go's own tool ======

local has_go, go = protobuf.has_go, protobuf.go

-- Returns function -> { flat, cum } as `go tool pprof -top` prints them, in whole units.
local function go_top(bytes, index, unit)
   local text = go(("-top -nodecount=100000 -nodefraction=0 -unit=%s -sample_index=%s"):format(unit,
      index), bytes)
   local rows = {}
   local line = "\n%s*(%-?[%d.]+)%a*%s+%S+%s+%S+%s+(%-?[%d.]+)%a*%s+%S+%s+([^\n]+)"
   for flat, cum, name in text:gmatch(line) do
      rows[name] = { flat = tonumber(flat), cum = tonumber(cum) }
   end
   return rows, text
end

-- }======

describe("pprof", function()
   it("reads samples, inlined functions, labels and facts", function()
      local trace <close> = assert(open(small()))
      assert.equal("pprof", trace.format)
      assert.same({ "samples", "weights", "labels", "raw" }, trace.tables)
      assert.same({ "stack", "samples", "cpu" }, trace.columns)
      local rows = trace:rows()
      assert.equal("inner:30 outer:20 main:10", frames(trace, rows[1].stack))
      assert.equal("main:10", frames(trace, rows[2].stack))
      assert.equal(7000000, rows[1].cpu)
      assert.equal(3, rows[1].samples)
      assert.equal(5000000, rows[2].cpu)
      assert.same({ { sample = 0, key = "key", text = "main" },
         { sample = 0, key = "key", number = 12 } }, trace.labels:rows())
      assert.equal(1700000000000000000, trace.info.time_nanos)
      assert.equal(10000000, trace.info.period)
      assert.same({}, trace.warnings)
      local bytes = {}
      for part in trace.raw:each "bytes" do
         bytes[#bytes + 1] = part
      end
      assert.equal(small(), table.concat(bytes))
   end)

   it("builds a profile of the samples", function()
      local trace <close> = assert(open(small()))
      local rows = {}
      for name, self, total, line in trace:profile():flat { metric = "cpu" }
         :each("function", "self", "total", "line") do
         rows[name] = { self, total, line }
      end
      assert.same({ main = { 5000000, 12000000, 10 }, outer = { 0, 7000000, 20 },
         inner = { 7000000, 7000000, 30 } }, rows)
   end)

   it("writes random profiles that are read back unchanged", function()
      for seed = 1, 40 do
         math.randomseed(seed)
         local profile = folded.profile(folded.random(math.random(0, 60)))
         local bytes = assert(profile:export("pprof", nil, { packed = seed % 2 == 0 }))
         if profile_parts.contexts(profile):count() > 0 then
            local trace <close> = assert(open(bytes))
            assert.equal(bytes, trace:profile():export("pprof", nil, { packed = seed % 2 == 0 }))
            assert.equal(bytes, trace:save(nil, { packed = seed % 2 == 0 }))
         end
      end
   end)

   it("saves one profile as the same bytes, whatever number of parts it was built from", function()
      math.randomseed(3)
      local lines = {}
      for line in folded.random(500):gmatch "[^\n]+\n" do
         lines[#lines + 1] = line
      end
      local whole = assert(folded.profile(table.concat(lines)):export "pprof")
      for _, parts in ipairs { 1, 2, 7, 64 } do
         local inputs = {}
         for part = 1, parts do
            local some = {}
            for i = part, #lines, parts do
               some[#some + 1] = lines[i]
            end
            inputs[part] = { data = assert(folded.profile(table.concat(some)):export "pprof") }
         end
         local trace <close> = assert(profio.open(inputs))
         assert.equal(whole, trace:save())
         assert.equal(whole, trace:profile():export "pprof")
      end
   end)

   it("returns the error of a full disk", function()
      local full = io.open("/dev/full", "w")
      if not full then
         return pending "there is no /dev/full here"
      end
      full:close()
      local function written(path, options)
         local w = assert(profio.create(path, options))
         for i = 1, 20000 do
            w:write { stack = w:stack { { area = "f" .. i, class = "function" } }, metric = "t",
               unit = "ns", weight = i }
         end
         return w:close()
      end
      local trace <close> = assert(open(written(nil, { format = "pprof" })))
      for _, is_packed in ipairs { true, false } do
         local ok, words, code = written("/dev/full", { format = "pprof", packed = is_packed })
         assert.same({ nil, "io" }, { ok, code })
         assert.matches("write failed: No space left", words)
         ok, words, code = trace:save("/dev/full", { packed = is_packed })
         assert.same({ nil, "io" }, { ok, code })
         assert.matches("write failed: No space left", words)
      end
   end)

   -- Blocks of the packed stream end after each 2^20 bytes.
   it("packs any number of blocks so that gzip unpacks them", function()
      for _, size in ipairs { 2^20 - 300, 2^20, 3 * 2^20 + 12345 } do
         math.randomseed(size // 1)
         local lines, total = {}, 0
         while total < size do
            local name = ("%08x"):format(math.random(0, 2^32 - 1)):rep(math.random(1, 40))
            lines[#lines + 1] = "main;" .. name .. " 1"
            total = total + #name
         end
         local profile = folded.profile(table.concat(lines, "\n") .. "\n")
         local plain = assert(profile:export("pprof", nil, { packed = false }))
         local path = disk.temporary()
         assert(profile:export("pprof", path))
         local pipe <close> = assert(io.popen("gzip -dc <" .. path))
         assert.is_true(pipe:read "a" == plain)
         local trace <close> = assert(profio.open(path))
         assert.is_true(trace:profile():export("pprof", nil, { packed = false }) == plain)
         os.remove(path)
      end
   end)

   -- {====== Bulk read and row by row ======

   -- Returns a file as profio does not write it: locations of several lines, some of them equal,
   -- ids of all sizes, samples in any order, unpacked, with missing locations.
   local function strange()
      local parts, ids = { message(1, number(1, 1), number(2, 2)), message(1, number(1, 3),
         number(2, 4)) }, {}
      local scale = ({ 1, 1, 3, 1000003, 1 << 40 })[math.random(5)]
      for i = 1, math.random(1, 12) do
         local lines = {}
         for line = 1, math.random(0, 3) do
            lines[line] = message(4, number(1, math.random(1, 4)), number(2, math.random(3)))
         end
         ids[i] = i * scale
         parts[#parts + 1] = message(4, number(1, ids[i]), number(3, i), table.concat(lines))
      end
      local samples, is_odd = {}, math.random(3) == 1
      for i = 1, math.random(0, 40) do
         local stack = {}
         for depth = 1, math.random(0, 6) do
            stack[depth] = ids[math.random(#ids)]
         end
         samples[i] = stack
      end
      local function key(stack)
         local list = {}
         for i = #stack, 1, -1 do
            list[#list + 1] = ("%16x"):format(stack[i])
         end
         return table.concat(list)
      end
      if math.random(2) == 1 then
         table.sort(samples, function(a, b)
            return key(a) < key(b)
         end)
      end
      for _, stack in ipairs(samples) do
         local kind = is_odd and math.random(12) or 12
         if kind == 1 then
            table.insert(stack, math.random(#stack + 1), 999)
         end
         local locations = packed(1, stack)
         if kind == 2 then
            for i, id in ipairs(stack) do
               stack[i] = number(1, id)
            end
            locations = table.concat(stack)
         elseif kind == 3 then
            locations = packed(1, stack) .. packed(1, stack)
         elseif kind == 4 then
            locations = message(1, ("\xff"):rep(math.random(12)), varint(stack[1] or 1))
         elseif kind == 5 then
            locations = message(1, varint(stack[1] or 1), "\x80\x00", varint(stack[2] or 1))
         end
         local values = { math.random(0, 5), math.random(0, 5) }
         if kind == 6 then
            values = { math.random(0, 5), 1 << 62 }
         elseif kind == 7 then
            values = { 1 << 61 }
         elseif kind == 8 then
            values = {}
         end
         parts[#parts + 1] = message(2, locations, packed(2, values))
      end
      for i = 1, 4 do
         parts[#parts + 1] = message(5, number(1, i), number(2, 4 + i % 3), number(4, i % 2))
      end
      for _, text in ipairs { "", "samples", "count", "cpu", "seconds", "f", "g" } do
         parts[#parts + 1] = message(6, text)
      end
      return table.concat(parts)
   end

   local function warnings_of(trace)
      local list = {}
      for _, warning in ipairs(trace.warnings) do
         if warning.kind == "damage" then
            list[#list + 1] = ("%s %s %s"):format(warning.code, warning.offset, warning.message)
         end
      end
      return list
   end

   -- Returns a reader with a stage in between, which passes on rows only.
   local function all_rows(trace, name)
      return core.limit(trace:table(name):reader(), 1 << 40)
   end

   local function saved_by_rows(trace)
      local state = require("profio.internal.trace").of(trace)
      local sink = assert(core.writer("pprof", { packed = true }, state.dictionary))
      assert(sink:put_reader("weights", all_rows(trace, "weights")))
      return assert(sink:finish())
   end

   -- Saves with the bulk read of stacks.
   local function saved_by_bulk(trace)
      local state = require("profio.internal.trace").of(trace)
      local sink = assert(core.writer("pprof", { packed = true }, state.dictionary))
      assert(sink:put_reader("weights", trace.weights:reader()))
      return assert(sink:finish())
   end

   local function profile_by_rows(trace)
      return core.contexts { reader = all_rows(trace, "samples"), stack = "stack", metrics = {
         { name = "samples", unit = "count", column = "samples" },
         { name = "cpu", unit = "ns", column = "cpu" } } }
   end

   local function rows_of(contexts)
      local list = {}
      for _, metric in ipairs(contexts:metrics()) do
         for depth, name, self, node, line in core.each(contexts:tree { metric = metric.name,
            zeros = true }, { "depth", "function", "self", "node", "line" }) do
            list[#list + 1] = ("%d %s %d %d %s"):format(depth, name, self, node, line)
         end
      end
      return list
   end

   it("reads the samples in bulk with the results of single rows", function()
      for seed = 1, rounds(200) do
         math.randomseed(seed)
         local bytes = strange()
         if seed % 4 == 0 then
            bytes = bytes:sub(1, math.random(#bytes))
         end
         local a = open(bytes, { format = "pprof", all_warnings = true })
         local b = open(bytes, { format = "pprof", all_warnings = true })
         if a and b and a.columns[2] == "samples" and a.columns[3] == "cpu" then
            assert.equal(saved_by_rows(b), saved_by_bulk(a))
            assert.same(warnings_of(b), warnings_of(a))
            local bulk, plain = profile_parts.contexts(a:profile()), profile_by_rows(b)
            assert.same({ plain:count() }, { bulk:count() })
            assert.same(rows_of(plain), rows_of(bulk))
            a:close()
            b:close()
         end
      end
   end)

   it("reads several files in bulk with the results of single rows", function()
      for seed = 1, 60 do
         math.randomseed(seed)
         local list = {}
         for i = 1, math.random(2, 9) do
            list[i] = { data = strange() }
         end
         local trace <close> = assert(profio.open(list, { format = "pprof" }))
         assert.equal(saved_by_rows(trace), saved_by_bulk(trace))
      end
   end)

   it("fails in bulk as with single rows if the first warning is an error", function()
      for _, wrong in ipairs { { values = { 3 } }, { location = 99 } } do
         local trace <close> = assert(open(small(wrong), { strict = true }))
         local ok, words, code = trace:profile()
         assert.is_nil(ok)
         assert.equal("format", code)
         local same <close> = assert(open(small(wrong), { strict = true }))
         local _, plain = pcall(core.drain, all_rows(same, "samples"), true)
         assert.is_truthy(tostring(plain):find(words:match ": ([^:]+)$", 1, true))
         assert.is_nil((trace:save()))
      end
   end)

   -- }======

   it("warns of damage and keeps the rest", function()
      local function warned(data, code)
         local trace <close> = assert(open(data))
         local count = #trace:rows()
         assert.equal(code, (trace.warnings[1] or {}).code)
         local strict, words = open(data, { strict = true })
         if strict then
            assert.has_error(function() strict:rows() end)
            strict:close()
         else
            assert.is_string(words)
         end
         return count
      end
      assert.equal(2, warned(small { values = { 3 } }, "pprof-values"))
      assert.equal(2, warned(small { location = 99 }, "pprof-no-location"))
      assert.equal(2, warned(small { fn = 99 }, "pprof-no-function"))
      assert.equal(2, warned(small { text = 99 }, "pprof-no-string"))
      assert.equal(2, warned(small { first = "x" }, "pprof-first-string"))
      assert.equal(2, warned(small() .. "\xff\xff", "pprof-truncated"))
      assert.equal(2, warned(small() .. message(4, number(1, 1)), "pprof-bad-id"))
   end)

   it("warns of times that do not fit into nanoseconds", function()
      -- 2^63 ns are 9,223,372,036.85 s
      local samples = {}
      for i, value in ipairs { 9223372036, 9223372037, -9223372036, -9223372037 } do
         samples[i] = message(2, packed(1, { 1 }), packed(2, { value, i }))
      end
      local data = table.concat { message(1, number(1, 1), number(2, 2)),
         message(1, number(1, 3), number(2, 2 + 2)), table.concat(samples),
         message(4, number(1, 1), number(3, 16)), message(6, ""), message(6, "t"),
         message(6, "seconds"), message(6, "n"), message(6, "count") }
      local first = 2 * #message(1, number(1, 1), number(2, 2))
      local trace <close> = assert(open(data))
      local found = {}
      for i, row in ipairs(trace:rows()) do
         found[i] = row.t or "none"
         assert.equal(i, row.n)
      end
      assert.same({ 9223372036000000000, "none", -9223372036000000000, "none" }, found)
      local list = trace:check()
      assert.equal(2, #list)
      for i, warning in ipairs(list) do
         assert.same({ "pprof-overflow", "damage", first + #samples[1] + (i - 1)
            * (#samples[2] + #samples[3]) }, { warning.code, warning.kind, warning.offset })
      end
      for _, table in ipairs { "samples", "weights" } do
         local strict <close> = assert(open(data, { strict = true }))
         assert.error_matches(function() strict[table]:rows() end, "does not fit into 64 bits")
      end
      local strict <close> = assert(open(data, { strict = true }))
      assert.same({ nil, "limit" }, { (strict:profile()), (select(3, strict:profile())) })
   end)

   -- A message that ends after the tag of a number, and numbers whose last one has no end.
   local cut, cut_numbers = varint(9 << 3), "\1\x81"

   local function bad_fields(trace)
      local list = {}
      for _, warning in ipairs(trace.warnings) do
         list[#list + 1] = ("%s %s at %d: %d"):format(warning.code, warning.kind, warning.offset,
            warning.count or 1)
      end
      return list
   end

   it("warns of messages that end inside a field or a number", function()
      local type = message(1, number(1, 1), number(2, 2))
      for name, damaged in pairs {
         mapping = message(3, number(1, 1), cut),
         location = message(4, number(1, 9), number(3, 16), cut),
         line = message(4, number(1, 9), message(4, number(1, 1), cut)),
         ["function"] = message(5, number(1, 9), number(2, 5), cut),
         period = message(11, number(1, 1), number(2, 2), cut),
         comments = message(13, cut_numbers),
         type = message(1, number(1, 1), number(2, 2), cut),
      } do
         local data = name == "type" and damaged .. small():sub(#type + 1) or small() .. damaged
         local at = name == "type" and 0 or #small()
         local trace <close> = assert(open(data, { format = "pprof" }))
         assert.same({ ("pprof-bad-field damage at %d: 1"):format(at) }, bad_fields(trace), name)
         assert.is_truthy(trace:save()) -- reads the message again
         assert.equal(1, #bad_fields(trace))
         local _, words, code = open(data, { format = "pprof", strict = true })
         assert.equal("format", code, name)
         assert.matches("a field or number in the message cannot be read", words, 1, true)
      end
   end)

   it("warns of samples that end inside a field or a number", function()
      local values = packed(2, { 1, 1 })
      local not_read = { rows = { label = true }, save = {},
         labels = { ids = true, ["ids in two fields"] = true, values = true } }
      for name, damaged in pairs {
         sample = message(2, packed(1, { 1 }), values, cut),
         ids = message(2, message(1, cut_numbers), values),
         ["ids in two fields"] = message(2, message(1, cut_numbers), number(1, 1), values),
         values = message(2, packed(1, { 1 }), message(2, "\1" .. cut_numbers)),
         label = message(2, packed(1, { 1 }), values, message(3, number(1, 8), cut)),
      } do
         local data = small() .. damaged .. damaged
         local expected = { ("pprof-bad-field damage at %d: 2"):format(#small()) }
         local function read_strictly(how)
            local trace <close> = assert(open(data, { strict = true }))
            return select(3, how(trace))
         end
         for way, how in pairs {
            rows = function(trace) return trace:profile() end,
            save = function(trace) return trace:save() end,
            labels = function(trace)
               local ok, words = pcall(trace.labels.rows, trace.labels)
               return ok or nil, words, tostring(words):match "cannot be read"
            end,
         } do
            local label, misses = name .. ", " .. way, not_read[way][name] or false
            local trace <close> = assert(open(data))
            assert.is_truthy(how(trace), label)
            assert.same(misses and {} or expected, bad_fields(trace), label)
            assert.equal(not misses, (read_strictly(how)) ~= nil, label)
         end
         local trace <close> = assert(open(data))
         local found = trace:check() -- reads all tables
         assert.same({ #small(), #small() + #damaged }, { found[1].offset, found[2].offset }, name)
         assert.equal(2, #found, name)
      end
   end)

   it("reads files cut at every byte, and with every byte at its maximum", function()
      local whole = small()
      local most = 0
      for size = 1, #whole - 1 do
         local trace = open(whole:sub(1, size), { format = "pprof" })
         if trace then
            most = math.max(most, #trace:rows())
            trace:check()
            trace:close()
         end
      end
      assert.equal(2, most)
      for at = 1, #whole do
         for _, byte in ipairs { "\xff", "\x7f", "\x00" } do
            local trace = open(whole:sub(1, at - 1) .. byte .. whole:sub(at + 1),
               { format = "pprof" })
            if trace then
               core.drain(trace.weights:reader())
               core.drain(trace.labels:reader())
               core.drain(trace.raw:reader())
               trace:close()
            end
         end
      end
   end)

   it("writes files that Go's pprof reads", function()
      if not has_go then
         pending "no go"
         return
      end
      math.randomseed(11)
      local profile = folded.profile(folded.random(200))
      for _, metric in ipairs { { "time", "nanoseconds" }, { "samples", "count" } } do
         local rows = go_top(profile:export "pprof", metric[1], metric[2])
         local seen = 0
         for name, self, total in profile:flat { metric = metric[1] }:each("function", "self",
            "total") do
            seen = seen + 1
            assert.equal(self, rows[name].flat)
            assert.equal(total, rows[name].cum)
         end
         assert.is_true(seen > 5)
      end
   end)

   it("writes unusual names that Go reads, and Go refuses a broken file", function()
      if not has_go then
         pending "no go"
         return
      end
      local long = ("x"):rep(10000)
      local profile = folded.profile("a b,c\"d 5\n" .. long .. " 7\nbad\xffname 11\n")
      local rows = go_top(profile:export "pprof", "time", "nanoseconds")
      assert.equal(5, rows['a b,c"d'].flat)
      assert.equal(7, rows[long].flat)
      local bytes = profile:export("pprof", nil, { packed = false })
      local _, ok = go("-raw", bytes:sub(1, -5))
      assert.is_false(ok)
      local text
      text, ok = go("-raw", small { location = 99 })
      assert.is_false(ok, text)
   end)

   it("writes a difference with negative values, as Go does", function()
      if not has_go then
         pending "no go"
         return
      end
      local change = folded.profile "main;a 5\nmain;b 7\n" - folded.profile "main;a 9\n"
      local rows = go_top(change:export "pprof", "time", "nanoseconds")
      assert.equal(-4, rows.a.flat)
      assert.equal(7, rows.b.flat)
   end)
end)
