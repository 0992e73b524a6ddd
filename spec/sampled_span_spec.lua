-- A part of a profile of samples with times: trace:profile { from, to, lane } and the options of
-- the command. The oracle is a slow model: the sums of the samples that begin in the part.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local profio = require "profio"
local sampled = require "spec.support.sampled"

-- Returns self and total by function of samples, { time =, stack =, weight = } each.
local function model(trace, samples, from, to)
   local sums = {}
   for _, sample in ipairs(samples) do
      if sample.time and sample.time >= from and sample.time < to then
         local seen = {}
         for level, frame in ipairs(trace:stack(sample.stack)) do
            local name = frame.area
            local sum = sums[name] or { 0, 0 }
            sums[name] = sum
            sum[1] = sum[1] + (level == 1 and sample.weight or 0)
            sum[2] = sum[2] + (seen[name] and 0 or sample.weight)
            seen[name] = true
         end
      end
   end
   return sums
end

local function flat_of(profile, metric)
   local sums = {}
   for name, own, total in profile:flat { metric = metric }:each("function", "self", "total") do
      sums[name] = (own ~= 0 or total ~= 0) and { own, total } or nil
   end
   return sums
end

-- Returns the samples of a trace; `column` has their weights, nil: each counts 1.
local function samples_of(trace, column)
   local list = {}
   for row in trace.samples:records() do
      list[#list + 1] = { time = row.time, stack = row.stack,
         weight = column and (row[column] or 0) or not column and 1, lane = row.thread }
   end
   return list
end

local function without_zeros(sums)
   for name, sum in pairs(sums) do
      sums[name] = (sum[1] ~= 0 or sum[2] ~= 0) and sum or nil
   end
   return sums
end

-- Compares the profiles of random parts with the model.
local function compare(trace, metric, column)
   local samples = samples_of(trace, column)
   local ends = trace.samples:aggregate { "a = min(time)", "b = max(time)" }:rows()[1]
   for i = 1, 20 do
      local from = math.random(ends.a, ends.b)
      local to = i < 20 and math.random(from, ends.b) or ends.b + 1
      local profile <close> = assert(trace:profile { from = from, to = to })
      assert.same(without_zeros(model(trace, samples, from, to)), flat_of(profile, metric))
   end
end

describe("a part of samples with times", function()
   before_each(function()
      math.randomseed(45)
   end)

   it("is that of the text of perf script, with all metrics", function()
      local trace <close> = assert(profio.open { data = sampled.perf(500) })
      compare(trace, "samples", nil)
      compare(trace, "cpu-clock", "cpu_clock")
      compare(trace, "page-faults", "page_faults")
   end)

   it("is that of profiles of V8", function()
      local trace <close> = assert(profio.open { data = sampled.v8(500) })
      compare(trace, "samples", nil)
      compare(trace, "time", "duration")
   end)

   it("is that of TIMED profiles of Business Rules!", function()
      local trace <close> = assert(profio.open { data = sampled.br(500) })
      compare(trace, "time", "self")
      compare(trace, "lines", nil)
   end)

   it("begins at the times of lines: the sum of the self times before it", function()
      local function times(bytes, given)
         local trace <close> = assert(profio.open({ data = bytes }, given))
         local list = {}
         for row in trace.samples:records() do
            list[#list + 1] = row.time or "?"
         end
         return table.concat(list, " ")
      end
      local b = br():module(1, "A.BR"):line(1, 99):stop():line(1, 30):stop()
         :line(1, 20):time(7):back(1, 10):stop():line(1, 10):time(9):stop():line(1, 11):stop()
      assert.equal("? ? 0 7 16", times(b:bytes(), { semantics = "self" }))
      assert.equal("? ? 0 7 9", times(b:bytes(), { semantics = "inclusive" }))
      assert.equal("?", times(br():module(1, "A.BR"):line(1, 99):stop():bytes()))
      local long = br():module(1, "A.BR")
      for _ = 1, 3 do
         long:line(1, 20):time(math.maxinteger):stop()
      end
      assert.equal(("0 %d %d"):format(math.maxinteger, math.maxinteger), times(long:bytes()))
   end)

   it("is that of a thread", function()
      local trace <close> = assert(profio.open { data = sampled.perf(300) })
      local samples = {}
      for _, sample in ipairs(samples_of(trace, nil)) do
         samples[#samples + 1] = sample.lane == "work1 11" and sample or nil
      end
      local profile <close> = assert(trace:profile { lane = "work1 11" })
      assert.same(model(trace, samples, 0, math.maxinteger), flat_of(profile, "samples"))
   end)

   it("is that of given samples", function()
      local trace <close> = assert(profio.open { data = sampled.perf(300) })
      local some = trace.samples:where { event = "page-faults" }
      local profile <close> = assert(trace:profile { samples = some })
      local count = some:count()
      for _, metric in ipairs(profile:metrics()) do
         assert.equal(metric.name == "samples" and count
            or metric.name == "cpu-clock" and 0 or metric.total, metric.total)
      end
      assert.error_matches(function()
         trace:profile { samples = 3 }
      end, "samples")
      for _, name in ipairs { "arcs", "calls" } do
         assert.error_matches(function()
            trace:profile { [name] = some }
         end, "its profile is not made from " .. name)
      end
   end)

   it("is refused where samples have no times, or no lanes", function()
      local untimed = sampled.perf(20):gsub("%d+%.%d+: ", "")
      local trace <close> = assert(profio.open({ data = untimed }, { format = "perfscript" }))
      assert.error_matches(function()
         trace:profile { from = 1 }
      end, "its profile is of the whole: from, to and lane are for events, and samples with times")
      local timed <close> = assert(profio.open { data = sampled.v8(20) })
      assert.error_matches(function()
         timed:profile { lane = "main" }
      end, "its samples are of no lanes")
   end)

   it("is of both sides of a comparison, or refused", function()
      command.file("timed.perf", sampled.perf(300))
      command.file("later.perf", sampled.perf(300))
      command.file("untimed.perf", (sampled.perf(300):gsub("%d+%.%d+: ", "")))
      local _, status, errors = command.run("profio --report diff --from 5.1s --format perfscript "
         .. "--diff untimed.perf timed.perf")
      assert.equal(2, status)
      assert.matches("events or samples with times, and untimed.perf has neither", errors)
      local page
      page, status, errors = command.run("profio export html --from 5.1s --diff timed.perf "
         .. "later.perf")
      assert.equal(0, status, errors)
      local count = 0
      for number in page:gmatch '"name":"work[^"]*","count":(%d+)' do
         count = count + math.tointeger(number)
      end
      assert.is_true(count > 0 and count < 420, count)
      page, status, errors = command.run("profio export html --focus f1 --diff timed.perf "
         .. "later.perf")
      assert.equal(0, status, errors)
      assert.is_nil(page:find('"samples":{', 1, true))
      assert.matches("there is no timeline beside %-%-focus", errors)
   end)

   it("is what reports and exports of the command show", function()
      command.file("part.perf", sampled.perf(300))
      local trace <close> = assert(profio.open(command.folder .. "/part.perf"))
      local from, to = 5100000000, 5200000000
      local profile <close> = assert(trace:profile { from = from, to = to })
      local span = "--from 5.1s --to 5200ms "
      local text, status, errors = command.run("profio report flat --metric samples --output csv "
         .. "--columns function,self,total " .. span .. "part.perf")
      assert.equal(0, status, errors)
      for name, sum in pairs(flat_of(profile, "samples")) do
         assert.matches(("%s,%d,%d\n"):format(name, sum[1], sum[2]), text)
      end
      local folded = 0
      for _, kind in ipairs { "folded", "speedscope", "html" } do
         text, status, errors = command.run(("profio --export %s --metric samples %s part.perf -o "
            .. "part.out && wc -c < part.out && cat part.out"):format(kind, span))
         assert.equal(0, status, errors)
         folded = kind == "folded" and text or folded
      end
      local sum = 0
      for count in folded:gmatch " (%d+)\n" do
         sum = sum + math.tointeger(count)
      end
      for _, metric in ipairs(profile:metrics()) do
         assert.equal(metric.name == "samples" and sum or metric.total, metric.total)
      end
      text, status, errors = command.run("profio report flat --from 1ms --to 2ms part.perf")
      assert.equal(0, status)
      assert.matches("%-%-from 1ms %-%-to 2ms leaves nothing: the trace lasts from 5",
         errors .. text)
   end)
end)
