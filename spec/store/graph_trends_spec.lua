-- Trends of runs of gmon.out: the weights of functions are those of the profile of each file, which
-- is read alone with its program.
--
-- Costly: many commands.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local programs = require "spec.support.programs"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-graph-trends"
local program, own = programs.profiled("store-graph-trends", "spec/data/gmon/cycle.c", "", 1)
local low, high, arcs

do
   local trace <close> = assert(profio.open(own[1]))
   low, high, arcs = trace.info.low, trace.info.high, trace.arcs:rows()
end

-- Returns a gmon.out of the program with random counts; bins are parts of several functions.
local function random_file()
   local file, bins = gmon("<", 8):header(), {}
   for i = 1, (high - low) // 16 do
      bins[i] = math.random(3) == 1 and math.random(0, 300) or 0
   end
   file:histogram { low = low, high = high, bins = bins }
   for _, arc in ipairs(arcs) do
      if math.random(3) > 1 then
         file:arc(arc.from, arc.to, math.random(5000))
      end
   end
   return file:bytes()
end

-- Returns self and total of a metric of a file by function, and the sum of all self weights.
local function weights_of(path, metric)
   local trace <close> = assert(profio.open(path, { exe = program }))
   local whole, by_name = 0, {}
   for _, row in ipairs(assert(trace:profile()):flat({ zeros = true,
      metric = metric }):rows("function", "self", "total"))
   do
      local one = by_name[row["function"]] or { self = 0, total = 0 }
      by_name[row["function"]] = one
      one.self, one.total, whole = one.self + row.self, one.total + row.total, whole + row.self
   end
   return { by_name = by_name, whole = whole }
end

-- Returns the path of a store, and its runs with host and weights.
local function store_of(count, seed)
   math.randomseed(seed)
   disk.fresh(folder)
   local path, runs = folder .. "/fleet.db", {}
   for i = 1, count do
      local file = command.file(("store-graph-trends/%d.gmon"):format(i), random_file())
      local run = weights_of(file)
      run.host, run.path = "h" .. math.random(3), file
      stored.add(path, { file }, { host = run.host }, { exe = program })
      runs[i] = run
   end
   return path, runs
end

local function quantile(values, percent)
   table.sort(values)
   return values[math.max(1, (percent * #values + 99) // 100)]
end

-- Returns the runs by host.
local function by_host(runs)
   local groups = {}
   for _, run in ipairs(runs) do
      groups[run.host] = groups[run.host] or {}
      table.insert(groups[run.host], run)
   end
   return groups
end

local function expected_trend(runs, name)
   local rows = {}
   for host, group in pairs(by_host(runs)) do
      local row, shares = { by = host, runs = #group, whole = 0, self = 0, total = 0 }, {}
      for i, run in ipairs(group) do
         local one = run.by_name[name]
         row.whole, row.self = row.whole + run.whole, row.self + one.self
         row.total, shares[i] = row.total + one.total, one.total / run.whole
      end
      row.self_share, row.total_share = row.self / row.whole, row.total / row.whole
      for _, percent in ipairs { 10, 50, 90 } do
         row[("p%d_share"):format(percent)] = quantile(shares, percent)
      end
      rows[#rows + 1] = row
   end
   table.sort(rows, function(a, b)
      return a.by < b.by
   end)
   return rows
end

describe("trends of histograms and arcs", function()
   it("have the weights that each file has", function()
      local path, runs = store_of(40, 1)
      local store <close> = assert(profio.store(path))
      for _, name in ipairs { "leaf", "work", "ping", "main" } do
         assert.same(expected_trend(runs, name), store:trend(name, { by = "host" }):rows())
      end
      for _, row in ipairs(store:trend("leaf", { by = "path", metric = "samples" }):rows()) do
         local run = weights_of(row.by, "samples")
         assert.same({ run.by_name.leaf.self, run.by_name.leaf.total, run.whole },
            { row.self, row.total, row.whole })
      end
      local said, status = command.run(("profio store trend leaf --by host --output csv "
         .. "--columns by,runs,self '%s'"):format(path))
      assert.equal(0, status)
      assert.matches("^by,runs,self\nh1,%d+,%d+\nh2,", said)
   end)

   it("count the time once that passes through several functions", function()
      local path = store_of(10, 2)
      local store <close> = assert(profio.store(path))
      local set = { ping = true, pong = true, pang = true }
      for _, row in ipairs(store:trend({ "ping", "pong", "pang" }, { by = "path" }):rows()) do
         local trace <close> = assert(profio.open(row.by, { exe = program }))
         local merged = assert(trace:profile()):group(function(frame)
            return set[frame["function"]] and "cycle" or nil
         end)
         for _, one in ipairs(merged:flat({ zeros = true }):rows("function", "self", "total")) do
            if one["function"] == "cycle" then
               assert.same({ one.self, one.total }, { row.self, row.total })
            end
         end
      end
      local everything = store:trend(profio.match "", { by = "host" }):rows()
      for _, row in ipairs(everything) do
         assert.same({ row.whole, row.whole }, { row.self, row.total })
      end
   end)

   it("do not depend on the stores to which the runs were added", function()
      local path, runs = store_of(12, 3)
      local other = folder .. "/other.db"
      for _, run in ipairs(stored.shuffled(runs)) do
         stored.add(other, { run.path }, { host = run.host }, { exe = program })
      end
      local store <close> = assert(profio.store(path))
      local again <close> = assert(profio.store(other))
      for _, by in ipairs { "host", "run" } do
         assert.equal(store:trend("leaf", { by = by }):write { output = "csv" },
            again:trend("leaf", { by = by }):write { output = "csv" })
         assert.equal(store:top({ by = by }):write { output = "csv" },
            again:top({ by = by }):write { output = "csv" })
      end
   end)
end)

describe("differences between groups of histograms and arcs", function()
   it("are those of the self times of the files", function()
      local path, runs = store_of(30, 4)
      local store <close> = assert(profio.store(path))
      local groups, count = by_host(runs), 0
      for _, row in ipairs(store:top({ by = "host" }):rows()) do
         local mine, theirs, sum = { whole = 0 }, { whole = 0 }, 0
         for host, group in pairs(groups) do
            local sums = host == row.by and mine or theirs
            for _, run in ipairs(group) do
               sums.whole = sums.whole + run.whole
               for name, one in pairs(run.by_name) do
                  sums["f " .. name] = (sums["f " .. name] or 0) + one.self
               end
            end
         end
         for key in pairs(mine) do
            theirs[key] = theirs[key] or 0
         end
         for key, self in pairs(theirs) do
            sum = sum + math.abs((mine[key] or 0) / mine.whole - self / theirs.whole)
         end
         assert.is_true(math.abs(sum / 2 - row.distance) < 1e-12)
         assert.equal(mine["f " .. row["function"]] / mine.whole, row.function_share)
         assert.same({ #groups[row.by], mine.whole }, { row.runs, row.whole })
         count = count + 1
      end
      assert.equal(3, count)
   end)
end)

describe("a store of histograms and of stacks", function()
   it("has the trend of a metric in all of them", function()
      local path, runs = store_of(5, 5)
      local pprof = command.file("store-graph-trends/s.pb.gz", stored.pprof {
         ["main;leaf"] = 5, main = 2 })
      stored.add(path, { pprof }, { host = "h0" })
      local store <close> = assert(profio.store(path))
      local rows = store:trend("leaf", { by = "host", metric = "samples" }):rows()
      assert.same({ 5, 5, 7 }, { rows[1].self, rows[1].total, rows[1].whole })
      local self = 0
      for _, run in ipairs(runs) do
         self = self + weights_of(run.path, "samples").by_name.leaf.self
      end
      for i = 2, #rows do
         self = self - rows[i].self
      end
      assert.equal(0, self)
      assert.equal("time", assert(store:profile()):usual_metric())
      assert.same(store:trend("leaf", { metric = "time" }):rows(), store:trend("leaf"):rows())
      assert.equal(6, store:top({ metric = "samples" }):count())
   end)

   it("limits no sum silently", function()
      disk.fresh(folder)
      local path, most = folder .. "/o.db", math.maxinteger
      stored.add(path, { command.file("store-graph-trends/g.gmon", random_file()),
         command.file("store-graph-trends/s.pb.gz", stored.pprof { ["main;f"] = most }) })
      local store <close> = assert(profio.store(path))
      local _, message, code = store:top { by = "path", metric = "samples" }
      assert.matches("exceeds 64 bits", message)
      assert.equal("limit", code)
      assert.equal(2, assert(store:trend("main", { by = "path", metric = "samples" })):count())
   end)
end)
