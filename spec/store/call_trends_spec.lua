-- Metrics of calls in groups of runs: store:trend and store:top with a function. The expected
-- values are computed from the lengths of the calls that were written into the files.
--
-- Tags: user.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-call-trends"

-- Runs a command of profio store; returns its output and its errors.
local function run(line, status)
   local text, found, errors = command.run("cd store-call-trends && profio store " .. line)
   assert.equal(status or 0, found, errors)
   return text, errors
end

-- Adds a run whose calls of Task have these lengths to a store. `first`: the function that is
-- called before them, by default Idle; functions have handles in the order of their first calls.
local function add(store, name, lengths, labels, first)
   local path = folder .. "/" .. name
   local writer, time = assert(profio.create(path, { format = "winidea", dialect = "text1" })), 0
   local function call(area, length)
      writer:write { time = time, event = "enter", area = area, context = "T1" }
      writer:write { time = time + length, event = "leave", area = area, context = "T1" }
      time = time + 1000000
   end
   call(first or "Idle", 7000)
   for _, length in ipairs(lengths) do
      call("Task", length)
   end
   assert(writer:close())
   local trace <close> = assert(profio.open(path))
   assert(store:add(trace, { labels = labels }))
end

-- Returns a quantile by nearest rank.
local function ranked(values, percent)
   local sorted = table.move(values, 1, #values, 1, {})
   table.sort(sorted)
   return sorted[math.max(1, math.ceil(percent * #sorted / 100))]
end

local function sum(values)
   local total = 0
   for _, value in ipairs(values) do
      total = total + value
   end
   return total
end

-- The metrics, computed from the lengths of calls.
local metrics = {
   gross_max = function(lengths) return ranked(lengths, 100) end,
   net_min = function(lengths) return ranked(lengths, 0) end,
   gross_p99 = function(lengths) return ranked(lengths, 99) end,
   ["call_p37.5"] = function(lengths) return ranked(lengths, 37.5) end,
   call_mean = function(lengths) return lengths[1] and sum(lengths) / #lengths end,
}

-- Those that are sums, of which groups have the mean of a run.
local sums = { count = function(lengths) return #lengths end, gross = sum }

-- Returns the expected row of a group of runs.
local function expected(by, runs, metric)
   local all, values, row = {}, {}, { by = by, runs = #runs }
   local f = metrics[metric] or sums[metric]
   for _, lengths in ipairs(runs) do
      table.move(lengths, 1, #lengths, #all + 1, all)
      values[#values + 1] = f(lengths)
   end
   row.calls, row.value = #all, f(all)
   row.value = sums[metric] and row.value / #runs or row.value
   for _, percent in ipairs { 10, 50, 90 } do
      row["p" .. percent] = ranked(values, percent)
   end
   return row
end

-- Creates a store of several runs of each host; returns the lengths of calls by host.
local function fleet(path)
   math.randomseed(7)
   local store <close> = assert(profio.store(path))
   local hosts = {}
   for host = 1, 12 do
      local name = "h" .. host
      hosts[name] = {}
      for i = 1, 4 do
         local lengths = {}
         for k = 1, i == 4 and host == 2 and 0 or math.random(20, 30) do -- a run without calls
            lengths[k] = 10 * math.random(1000, 1100) + (host == 5 and 900 or 0)
         end
         hosts[name][i] = lengths
         add(store, ("%s-%d"):format(name, i), lengths, { host = name })
      end
   end
   return hosts
end

local hosts

setup(function()
   disk.fresh(folder)
   hosts = fleet(folder .. "/fleet.db")
end)

describe("store:trend of a metric of calls", function()
   it("has the metric of all calls of a group, and of its runs", function()
      local store <close> = assert(profio.store(folder .. "/fleet.db"))
      local tested = { "count", "gross" }
      for metric in pairs(metrics) do
         tested[#tested + 1] = metric
      end
      for _, metric in ipairs(tested) do
         local rows, count = assert(store:trend("Task", { by = "host", metric = metric })):rows(), 0
         for _, row in ipairs(rows) do
            local right = expected(row.by, hosts[row.by], metric)
            for name, value in pairs(right) do
               if type(value) == "number" then
                  assert.is_true(math.abs(value - row[name]) <= 1e-12 * value, metric .. name)
               end
            end
            assert.same({ right.by }, { row.by })
            count = count + 1
         end
         assert.equal(12, count)
      end
   end)

   it("combines areas where that is exact, and refuses their quantiles", function()
      local store <close> = assert(profio.store(folder .. "/fleet.db"))
      local both = profio.match "^[IT]"
      for metric, f in pairs { gross_max = metrics.gross_max, gross_mean = metrics.call_mean,
         net_min = metrics.net_min } do
         for _, row in ipairs(store:trend(both, { by = "host", metric = metric }):rows()) do
            local all = { 7000, 7000, 7000, 7000 }
            for _, lengths in ipairs(hosts[row.by]) do
               table.move(lengths, 1, #lengths, #all + 1, all)
            end
            assert.is_true(math.abs(f(all) - row.value) < 1e-6)
            assert.equal(#all, row.calls)
         end
      end
      local none, message, code = store:trend(both, { by = "host", metric = "gross_p99" })
      assert.is_nil(none)
      assert.equal("unsupported", code)
      assert.matches("metric gross_p99 is known of one function, and run %x+ .* has 2 that fit: "
         .. "Idle, Task", message)
   end)

   it("leaves out runs without calls, and says so", function()
      local path = folder .. "/mixed.db"
      local store <close> = assert(profio.store(path))
      add(store, "mixed-1", { 10, 30 }, { host = "a" })
      local trace <close> = assert(profio.open { data = stored.pprof { ["main;Task"] = 3 } })
      assert(store:add(trace, { labels = { host = "b" } }))
      local rows, result = store:trend("Task", { by = "host", metric = "gross_max" })
      assert.same({ { by = "a", runs = 1, calls = 2, value = 30, p10 = 30, p50 = 30, p90 = 30 } },
         rows:rows())
      assert.matches("1 of 2 runs have no statistics of calls", table.concat(result.notes, "\n"))
      local _, errors = run "trend Task --metric count --by host mixed.db"
      assert.matches("%[store%-no%-calls%]", errors)
   end)

   it("has no quantile of runs in which the function has several handles, and says so", function()
      local store <close> = assert(profio.store(folder .. "/builds.db"))
      add(store, "builds-1", { 10, 20 }, { host = "a" })
      add(store, "builds-2", { 30 }, { host = "a" }, "Task")
      add(store, "builds-3", { 40 }, { host = "b" })
      local rows, result = store:trend("Task", { by = "host", metric = "gross_p99" })
      assert.same({ { by = "a", runs = 2, calls = 4, p10 = 20, p50 = 20, p90 = 7000 },
         { by = "b", runs = 1, calls = 1, value = 40, p10 = 40, p50 = 40, p90 = 40 } }, rows:rows())
      assert.matches("gross_p99 .* is not known in a, .* several handles", result.notes[1])
      rows, result = store:trend("Task", { by = "host", metric = "gross_max" })
      assert.equal(7000, rows:rows()[1].value)
      assert.same({}, result.notes)
   end)

   it("refuses metrics that there are not, and names those that there are", function()
      local _, errors = run("trend Task --metric mean --by host fleet.db", 2)
      assert.matches("no metric 'mean'; there are: time, calls; of calls: count, net, net_min, .*"
         .. "period_jitter; other quantiles as gross_p99.9", errors)
      for _, metric in ipairs { "gross_p101", "count_p50", "gross_p9.9.9", "last_stop", "about",
         "gross_max_at" } do
         _, errors = run(("trend Task --metric %s fleet.db"):format(metric), 2)
         assert.matches("no metric '" .. metric:gsub("%.", "%%."), errors)
      end
      _, errors = run("trend Nobody --metric count fleet.db", 1)
      assert.matches("no run of the store has calls of such a function; there are: ", errors)
   end)

   it("has text with bars, rows in other forms, and a chart", function()
      local text = run "trend Task --metric gross_max --by host --unit us fleet.db"
      assert.matches("^by +runs +calls +value %(us%) +p10 %(us%)", text)
      text = run "trend Task --metric gross_max --by host fleet.db"
      assert.matches("^by +runs +calls +gross_max +p10 +p50 +p90 +%d+%.%d+ us to %d+%.%d+ us\n"
         .. "h1 +4 +%d+ +1%d%.%d%d%d us ", text)
      assert.matches("\nh5 .* ########################\n", text)
      text = run "trend Task --metric count --by host --output csv --where by=h3 fleet.db"
      local calls = 0
      for _, lengths in ipairs(hosts.h3) do
         calls = calls + #lengths
      end
      assert.matches(("^by,runs,calls,value,p10,p50,p90,about\nh3,4,%d,%s,"):format(calls,
         ("%.14g"):format(calls / 4):gsub("%.", "%%.")), text)
      run "trend Task --metric gross_max --by host -o calls.svg fleet.db"
      text = command.read(folder .. "/calls.svg")
      assert.matches(">Task gross_max by host<", text)
      assert.matches("the axis begins at %d+%.%d%d%d us<", text)
      assert.equal(12, select(2, text:gsub("<circle", "")))
   end)
end)

describe("store:top of a function", function()
   it("marks the groups that stand out, by the median of the deviations", function()
      local store <close> = assert(profio.store(folder .. "/fleet.db"))
      local rows, values, deviations = store:top({ by = "host", metric = "gross_max",
         ["function"] = "Task" }):rows(), {}, {}
      for _, row in ipairs(rows) do
         local right = expected(row.by, hosts[row.by], "gross_max")
         assert.same({ right.value, 4 }, { row.value, row.runs })
         values[#values + 1] = row.value
      end
      assert.equal(12, #values)
      local function middle(list)
         return (ranked(list, 50) + ranked(list, 50.1)) / 2 -- of an even number
      end
      local median = middle(values)
      for i, value in ipairs(values) do
         deviations[i] = math.abs(value - median)
      end
      local mad, last = middle(deviations), math.huge
      for i, row in ipairs(rows) do
         local score = 0.6745 * (values[i] - median) / mad
         assert.is_true(math.abs(row.score - score) < 1e-9)
         assert.is_true(math.abs(row.relative - (values[i] / median - 1)) < 1e-12)
         assert.equal(score > 3.5 and "high" or score < -3.5 and "low" or nil, row.mark)
         assert.is_true(math.abs(row.score) <= last)
         last = math.abs(row.score)
      end
      assert.same({ "h5", "high" }, { rows[1].by, rows[1].mark })
   end)

   it("says that few values or runs tell it", function()
      local text, errors = run "top Task --metric gross_max --by host fleet.db"
      assert.matches("^by +runs +value %(ns%) +relative +score +mark\nh5 .* high\n", text)
      assert.equal("", errors)
      text, errors = run "top Task --metric gross_max --by host --run host=h1,h2 fleet.db"
      assert.matches("2 values: which of them is odd is known from 3 on", errors)
      assert.not_matches("high", text)
      errors = select(2, run
         "top Task --metric gross_max --by host --run host=h1,h2,h3,h4 fleet.db")
      assert.matches("4 values are few", errors)
      local store <close> = assert(profio.store(folder .. "/single.db"))
      for i, length in ipairs { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 99 } do
         add(store, "single-" .. i, { length }, { host = "s" .. i })
      end
      errors = select(2, run "top Task --metric gross_max --by host single.db")
      assert.matches("comes from few runs, and may be theirs only: s11 %(1 run%)", errors)
      errors = select(2, run "top Task --metric gross_max single.db")
      assert.equal("", errors)
   end)

   it("uses the mean of the deviations if most values are equal", function()
      local store <close> = assert(profio.store(folder .. "/equal.db"))
      for i, length in ipairs { 50, 50, 50, 50, 50, 50, 50, 50, 50, 60 } do
         add(store, "equal-" .. i, { length, i }, { host = "e" .. i })
      end
      local rows = store:top({ by = "host", metric = "gross_max", ["function"] = "Task" }):rows()
      assert.same({ "e10", "high" }, { rows[1].by, rows[1].mark })
      assert.is_true(math.abs(rows[1].score - 10 / 1.253314) < 1e-9)
      assert.equal(0, rows[2].score)
   end)

   it("has shares of a metric of profiles", function()
      local store <close> = assert(profio.store(folder .. "/fleet.db"))
      local trend, share = store:trend("Task", { by = "host" }):rows(), {}
      for _, row in ipairs(trend) do
         share[row.by] = row.total_share
      end
      for _, row in ipairs(store:top({ by = "host", ["function"] = "Task" }):rows()) do
         assert.equal(share[row.by], row.total_share)
      end
      local _, errors = run("top --metric gross_max --by host fleet.db", 2)
      assert.matches("metric 'gross_max' is one of the calls of a function: name one", errors)
   end)
end)
