-- Sample types: any number, with their own names, and the default of the file first.
--
-- Tags: stressed.

local core = require "profio.core"
local disk = require "spec.support.disk"
local folded = require "spec.support.folded"
local numbers = require "profio.internal.numbers"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local viewers = require "spec.support.viewers"

local number, message, packed = protobuf.number, protobuf.message, protobuf.packed

-- Returns a profile of two functions; sample type i has i in `leaf` and 1000 * i in `main`.
local function typed(types, more)
   local text = protobuf.texts()
   local parts, leaf, main = {}, {}, {}
   for i, type in ipairs(types) do
      parts[i] = message(1, number(1, text(type[1])), number(2, text(type[2])))
      leaf[i], main[i] = i, 1000 * i
   end
   parts[#parts + 1] = message(2, packed(1, { 2, 1 }), packed(2, leaf))
   parts[#parts + 1] = message(2, packed(1, { 1 }), packed(2, main))
   for i, name in ipairs { "main", "leaf" } do
      parts[#parts + 1] = message(4, number(1, i), message(4, number(1, i), number(2, 10 * i)))
      parts[#parts + 1] = message(5, number(1, i), number(2, text(name)))
   end
   parts[#parts + 1] = more and number(14, text(more)) or ""
   return table.concat(parts) .. text.fields()
end

local function many(count)
   local types = {}
   for i = 1, count do
      types[i] = { "type " .. i, "count" }
   end
   return types
end

local function profile_of(...)
   local trace <close> = assert(profio.open({ data = typed(...) }))
   return assert(trace:profile())
end

local function metrics_of(profile)
   local list = {}
   for i, metric in ipairs(profile:metrics()) do
      list[i] = { metric.name, metric.unit, metric.total }
   end
   return list
end

describe("sample types", function()
   it("have their own names, with any characters", function()
      local long = ("long "):rep(30)
      assert.same({ { "alloc-samples", "count", 1001 }, { "", "", 2002 },
         { "inuse space", "bytes", 3003 }, { long, "widgets", 4004 }, { "Zoë", "count", 5005 } },
         metrics_of(profile_of { { "alloc-samples", "count" }, { "", "" },
            { "inuse space", "bytes" }, { long, "widgets" }, { "Zoë", "count" } }))
   end)

   it("of one name are separate metrics, of which each can be asked for by its name", function()
      local profile = profile_of { { "a", "count" }, { "a", "bytes" }, { "a", "count" } }
      assert.same({ { "a", "count", 1001 }, { "a_2", "bytes", 2002 }, { "a_3", "count", 3003 } },
         metrics_of(profile))
      for i, name in ipairs { "a", "a_2", "a_3" } do
         local self = 0
         for own in profile:flat { metric = name }:each "self" do
            self = self + own
         end
         assert.equal(1001 * i, self)
         assert.is_truthy(profile:export("dot", nil, { metric = name }):find(("%s: %s (100 %%)")
            :format(name, numbers.weight(1001 * i, i == 2 and "bytes" or "count")), 1, true))
      end
   end)

   it("may be many", function()
      for _, count in ipairs { 8, 9, 12, 65, 300 } do
         local metrics = profile_of(many(count)):metrics()
         assert.equal(count, #metrics)
         for i, metric in ipairs(metrics) do
            assert.equal("type " .. i, metric.name)
            assert.equal(1001 * i, metric.total)
         end
      end
   end)

   it("that are too many give one warning, and their values none", function()
      local types, values = {}, {}
      for i = 1, 5000 do
         types[i], values[i] = message(1, number(1, 1), number(2, 2)), i
      end
      local rest = message(4, number(1, 1), number(3, 16)) .. message(6, "") .. message(6, "t")
         .. message(6, "ns")
      local function warned(...)
         local trace <close> = assert(profio.open({ data = table.concat(types)
            .. message(2, packed(1, { 1 }), ...) .. rest }, { format = "pprof" }))
         local codes = {}
         for i, warning in ipairs(trace:check()) do
            codes[i] = warning.code
         end
         local weights = trace.weights:rows()
         assert.equal(4096, #weights)
         assert.equal(4096, weights[4096].weight)
         assert.is_truthy(trace:save())
         return table.concat(codes, " ")
      end
      assert.equal("pprof-many-types", warned(packed(2, values)))
      assert.equal("pprof-many-types pprof-values", warned(packed(2, values), number(2, 1)))
   end)

   it("are shown with the default first, else with the last one first", function()
      local types = { { "a", "count" }, { "b", "count" }, { "time", "seconds" }, { "c", "count" } }
      assert.equal("c", profile_of(types):usual_metric())
      assert.equal("b", profile_of(types, "b"):usual_metric())
      assert.equal("time", profile_of(types, "time"):usual_metric())
      assert.equal("c", profile_of(types, "none of these"):usual_metric())
      local shown = profile_of(types, "b")
      assert.equal(2000, shown:flat():rows()[1].self)
      for _, made in ipairs { shown:scale(1), shown:focus "main", shown:prune(0), shown + shown,
         shown - profile_of(types, "a"), shown:hide "nobody", shown:group "file" } do
         assert.equal("b", made:usual_metric())
      end
      local other = folded.profile "main 5\n"
      assert.equal("time", other:usual_metric())
      assert.equal("b", (other + shown):usual_metric())
   end)

   it("of other formats are shown with the time first", function()
      local trace <close> = assert(profio.open { data = assert(
         folded.profile("main 5\nmain;a 7\n"):export "pprof") })
      assert.equal("time", assert(trace:profile()):usual_metric())
   end)

   -- Returns the costs of functions by name, and their sums, from a callgrind file.
   local function costs_of(text)
      local seen, sum, name = {}, {}, nil
      for line in text:gmatch "[^\n]+" do
         name = line:match "^fn=%(%d+%) (.+)$" or name
         if line:find "^%d+ " and not seen[name] then
            local costs = {}
            for cost in line:gmatch " (%d+)" do
               costs[#costs + 1] = math.tointeger(tonumber(cost))
               sum[#costs] = (sum[#costs] or 0) + costs[#costs]
            end
            seen[name] = costs
         end
      end
      return seen, sum
   end

   it("are all exported to callgrind, the default first", function()
      local types = { { "a", "count" }, { "b x", "bytes" }, { "time", "nanoseconds" } }
      local text = assert(profile_of(types, "b x"):export "callgrind")
      assert.equal("b_x a time", text:match "\nevents: ([^\n]*)")
      assert.equal("2002 1001 3003", text:match "\nsummary: ([^\n]*)")
      assert.equal("2002 1001 3003", text:match "\ntotals: ([^\n]*)")
      assert.same({ main = { 2000, 1000, 3000 }, leaf = { 2, 1, 3 } }, (costs_of(text)))
      local one = assert(profile_of(types):export("callgrind", nil, { metric = "a" }))
      assert.equal("a", one:match "\nevents: ([^\n]*)")
      assert.same({ main = { 1000 }, leaf = { 1 } }, (costs_of(one)))
      local twelve = assert(profile_of(many(12)):export "callgrind")
      local seen = costs_of(twelve)
      assert.equal(12, #seen.main)
   end)

   it("of which one has the name of another one and 'total' keep their costs", function()
      local types = { { "heap", "bytes" }, { "heap total", "bytes" } }
      local text = assert(profile_of(types, "heap"):export "callgrind")
      assert.equal("heap heap_total", text:match "\nevents: ([^\n]*)")
      assert.equal("1001 2002", text:match "\nsummary: ([^\n]*)")
      assert.same({ main = { 1000, 2000 }, leaf = { 1, 2 } }, (costs_of(text)))
      assert.matches(" self=2000 total=2002]",
         assert(profile_of(types, "heap total"):export "dot"), 1, true)
   end)

   it("are exported to speedscope as one profile each", function()
      if not viewers.has_speedscope then
         pending "no speedscope"
         return
      end
      local types = { { "a", "count" }, { "b", "bytes" }, { "c", "nanoseconds" } }
      local text = assert(profile_of(types, "b"):export "speedscope")
      assert.truthy(text:find('"activeProfileIndex":1,', 1, true))
      local path = disk.temporary() .. ".speedscope.json"
      local file <close> = assert(io.open(path, "wb"))
      file:write(text)
      file:flush()
      local seen = viewers.speedscope(path)
      os.remove(path)
      local totals = {}
      for i, profile in ipairs(seen.profiles) do
         totals[i] = { profile.name, profile.total }
      end
      assert.same({ { "a", 1001 }, { "b", 2002 }, { "c", 3003 } }, totals)
      local one = assert(profile_of(types):export("speedscope", nil, { metric = "a" }))
      assert.truthy(one:find('"activeProfileIndex":0,', 1, true))
      assert.is_nil(one:find('"name":"b"', 1, true))
   end)

   it("report samples without a stack", function()
      local text = protobuf.texts()
      local bytes = message(1, number(1, text "samples"), number(2, text "count"))
         .. message(2, packed(1, { 1 }), packed(2, { 3 })) .. message(2, packed(2, { 7 }))
         .. message(4, number(1, 1), message(4, number(1, 1)))
         .. message(5, number(1, 1), number(2, text "main"))
      local trace <close> = assert(profio.open { data = bytes .. text.fields() })
      local profile = trace:profile()
      assert.same({ { "samples", "count", 10 } }, metrics_of(profile))
      assert.equal(3, profile:flat():rows()[1].self)
      local warning = trace.warnings[#trace.warnings]
      assert.same({ "profile-no-stack", "note" }, { warning.code, warning.kind })
      assert.matches("7 of metric 'samples' have no stack", warning.message, 1, true)
      local count = #trace.warnings
      assert(trace:profile())
      assert.equal(count, #trace.warnings)
   end)

   it("report a sum that exceeds 64 bits", function()
      local w = assert(profio.create(nil, { format = "pprof" }))
      w:write { stack = w:stack { { area = "f", class = "function" } }, metric = "t", unit = "ns",
         weight = math.maxinteger - 5 }
      local bytes = w:close()
      local trace <close> = assert(profio.open { { data = bytes }, { data = bytes } })
      local saved, words, code = trace:save()
      assert.same({ nil, "unsupported" }, { saved, code })
      assert.matches("add up to more than 64 bits can hold", words)
      assert.equal(math.maxinteger, trace:profile():flat():rows()[1].self)
      local warning = trace.warnings[#trace.warnings]
      assert.same({ "profile-overflow", "damage" }, { warning.code, warning.kind })
   end)

   it("are not written if a sum exceeds 64 bits", function()
      for _, case in ipairs { { math.maxinteger, 1 }, { math.mininteger, -1 },
         { math.maxinteger, 0, math.maxinteger }, { math.maxinteger - 1, 1 } } do
         local exact = case[1] == math.maxinteger - 1
         local w = assert(profio.create(nil, { format = "pprof" }))
         local stack = w:stack { { area = "f", class = "function" } }
         for _, weight in ipairs(case) do
            w:write { stack = stack, metric = "t", unit = "ns", weight = weight }
         end
         local bytes, words, code = w:close()
         if exact then
            local trace <close> = assert(profio.open { data = bytes })
            assert.equal(math.maxinteger, trace.weights:rows()[1].weight)
         else
            assert.same({ nil, "unsupported" }, { bytes, code })
            assert.matches("add up to more than 64 bits can hold", words)
         end
      end
   end)

   it("are not copied from a table if a sum exceeds 64 bits", function()
      local sample = protobuf.message(2, packed(1, { 1 }), packed(2, { math.mininteger }))
      local trace <close> = assert(profio.open { data = table.concat { message(1, number(1, 1),
         number(2, 2)), sample, sample, message(4, number(1, 1), number(3, 16)), message(6, ""),
         message(6, "t"), message(6, "ns") } })
      local sink = assert(core.writer("pprof", { packed = true },
         require("profio.internal.trace").of(trace).dictionary))
      assert(sink:put_reader("weights", trace.weights:reader()))
      local bytes, words, code = sink:finish()
      assert.same({ nil, "unsupported" }, { bytes, code })
      assert.matches("add up to more than 64 bits can hold", words)
   end)

   it("report a total of several stacks that exceeds 64 bits", function()
      for total, codes in pairs { [(1 << 62) - 1] = {}, [1 << 62] = { "profile-overflow" } } do
         local w = assert(profio.create(nil, { format = "pprof" }))
         w:write { stack = w:stack { { area = "f", class = "function" } }, metric = "t",
            unit = "ns", weight = 1 << 62 }
         w:write { stack = w:stack { { area = "g", class = "function" } }, metric = "t",
            unit = "ns", weight = total }
         local trace <close> = assert(profio.open { data = w:close() })
         assert.equal(1 << 62, trace:profile():flat():rows()[1].self)
         local found = {}
         for i, warning in ipairs(trace.warnings) do
            found[i] = warning.code
         end
         assert.same(codes, found)
      end
   end)
end)
