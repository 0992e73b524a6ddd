-- The weight of functions over time and by label, and the differences between groups of runs. The
-- expected values are computed from the stacks that were written into the files, one by one.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-trends"
local DAY <const> = 86400 * 1000000000

-- Returns the path of a store, and its runs: { stacks, time, host }.
local function store_of(count, seed)
   math.randomseed(seed)
   disk.fresh(folder)
   local path, runs = folder .. "/fleet.db", {}
   local store <close> = assert(profio.store(path))
   for i = 1, count do
      local run = { stacks = stored.stacks(math.random), host = "h" .. math.random(4),
         time = 1700000000000000000 + math.random(0, 40) * DAY // 3 }
      run.stacks["main;odd " .. i] = i
      local trace <close> = assert(profio.open { data = stored.pprof(run.stacks,
         { time_nanos = run.time }) })
      local labels = i % 7 > 0 and { host = run.host } or nil
      run.host = labels and run.host
      run.id = assert(store:add(trace, { labels = labels }))
      runs[i] = run
   end
   return path, runs
end

-- Returns whole, self and total of the functions that a test accepts, in the stacks of a run.
local function weights(run, accepts)
   local whole, self, total = 0, 0, 0
   for stack, weight in pairs(run.stacks) do
      local has_any, leaf = false, nil
      for name in stack:gmatch "[^;]+" do
         has_any, leaf = has_any or accepts(name), name
      end
      whole = whole + weight
      self = self + (leaf and accepts(leaf) and weight or 0)
      total = total + (has_any and weight or 0)
   end
   return whole, self, total
end

-- Returns runs by the text that key returns for each of them.
local function grouped(runs, key)
   local groups = {}
   for _, run in ipairs(runs) do
      local name = key(run) or false
      groups[name] = groups[name] or {}
      table.insert(groups[name], run)
   end
   return groups
end

-- Returns a quantile by nearest rank.
local function quantile(values, percent)
   table.sort(values)
   return values[math.max(1, (percent * #values + 99) // 100)]
end

local function expected_trend(runs, key, accepts)
   local rows = {}
   for name, group in pairs(grouped(runs, key)) do
      local row, shares = { by = name or nil, runs = #group, whole = 0, self = 0, total = 0 }, {}
      for i, run in ipairs(group) do
         local whole, self, total = weights(run, accepts)
         row.whole, row.self, row.total = row.whole + whole, row.self + self, row.total + total
         shares[i] = total / whole
      end
      row.self_share, row.total_share = row.self / row.whole, row.total / row.whole
      for _, percent in ipairs { 10, 50, 90 } do
         row[("p%d_share"):format(percent)] = quantile(shares, percent)
      end
      rows[#rows + 1] = row
   end
   table.sort(rows, function(a, b)
      return a.by and (not b.by or a.by < b.by) or false
   end)
   return rows
end

local function is_f3(name)
   return name == "f3"
end

local keys = {
   hour = function(run) return os.date("!%Y-%m-%d %H:00", run.time // 1000000000) end,
   day = function(run) return os.date("!%Y-%m-%d", run.time // 1000000000) end,
   week = function(run) return os.date("!%G-W%V", run.time // 1000000000) end,
   month = function(run) return os.date("!%Y-%m", run.time // 1000000000) end,
   run = function(run) return run.id end,
   host = function(run) return run.host end,
   format = function() return "pprof" end,
}

describe("the trend of a function whose name is its position", function()
   it("follows it when lines are added above it", function()
      disk.fresh(folder)
      local store <close> = assert(profio.store(folder .. "/positions.db"))
      local function add(day, stacks)
         local trace <close> = assert(profio.open { data = stored.pprof(stacks,
            { time_nanos = 1700000000000000000 + day * DAY }) })
         assert(store:add(trace))
      end
      add(0, { ["main;function at p.lua:3"] = 5, ["main;function at p.lua:4"] = 100 })
      add(1, { ["main;function at p.lua:4"] = 7, ["main;function at p.lua:5"] = 200 })
      add(2, { ["main;other"] = 1 })
      local list = {}
      for self in store:trend("function at p.lua:4", { by = "day" }):each "self" do
         list[#list + 1] = self
      end
      assert.same({ 5, 7, 0 }, list)
      local none, message = store:trend("function at p.lua:9", { by = "day" })
      assert.is_nil(none)
      assert.matches("no function of the store has such a name", message)
   end)
end)

describe("store:trend", function()
   it("has the values of a label in the order of the numbers in them", function()
      disk.fresh(folder)
      local store <close> = assert(profio.store(folder .. "/versions.db"))
      for i, version in ipairs { "v10", "v9", "v1.10", "v1.2" } do
         local trace <close> = assert(profio.open { data = stored.pprof { ["main;f"] = i } })
         assert(store:add(trace, { labels = { version = version } }))
      end
      local list = {}
      for by in store:trend("f", { by = "version" }):each "by" do
         list[#list + 1] = by
      end
      assert.same({ "v1.2", "v1.10", "v9", "v10" }, list)
   end)

   it("has the weights and shares of a function in each period and for each label", function()
      local path, runs = store_of(40, 1)
      local store <close> = assert(profio.store(path))
      for by, key in pairs(keys) do
         assert.same(expected_trend(runs, key, is_f3), store:trend("f3", { by = by }):rows())
      end
      assert.same(expected_trend(runs, keys.day, is_f3), store:trend("f3"):rows())
   end)

   it("adds up functions, and counts a stack with several of them once", function()
      local path, runs = store_of(20, 2)
      local store <close> = assert(profio.store(path))
      assert.same(expected_trend(runs, keys.host, function(name)
         return name:find "^f[1-4]" ~= nil
      end), store:trend(profio.match "^f[1-4]", { by = "host" }):rows())
      assert.same(expected_trend(runs, keys.host, function(name)
         return name == "f1" or name == "f2"
      end), store:trend({ "f1", "f2" }, { by = "host" }):rows())
      assert.same(expected_trend(runs, keys.host, function(name)
         return name ~= "main"
      end), store:trend(profio.no "main", { by = "host" }):rows())
   end)

   it("is that of the selected runs", function()
      local path, runs = store_of(20, 3)
      local store <close> = assert(profio.store(path))
      local chosen = grouped(runs, keys.host)[runs[1].host]
      assert.same(expected_trend(chosen, keys.day, is_f3),
         store:trend("f3", { where = { host = runs[1].host } }):rows())
   end)

   it("refuses what it cannot compute", function()
      local path = store_of(3, 4)
      local store <close> = assert(profio.store(path))
      local nothing, message, code = store:trend "no such"
      assert.same({ nil, path .. ": no function of the store has such a name; there are: f1, f2, "
         .. "f3, f4, f5, f6, f7, f8, f9, main, ...", "format" }, { nothing, message, code })
      assert.error_matches(function() store:trend("f1", { by = "color" }) end,
         "by: no label 'color'; there are: hour, day, week, month, run, host")
      assert.error_matches(function() store:trend("f1", { metric = "color" }) end,
         "no metric 'color'; there are: samples")
      assert.error_matches(function() store:trend() end, "trend expects the name")
      assert.error_matches(function() store:trend(profio.missing) end, "a function is a name")
      assert.error_matches(function() store:trend("f1", { by = 1 }) end, "by must be a string")
      assert.error_matches(function() store:trend("f1", 1) end, "options must be a table")
      nothing, message = store:trend("f1", { where = { path = "nowhere" } })
      assert.same({ nil, path .. ": store: no run of the store is selected" }, { nothing, message })
   end)
end)

-- Returns the share of each function in runs, and their weight.
local function shares_of(runs)
   local all, shares = 0, {}
   for _, run in ipairs(runs) do
      for stack, weight in pairs(run.stacks) do
         local leaf = stack:match "[^;]+$"
         if leaf then -- else outside of all stacks
            shares[leaf] = (shares[leaf] or 0) + weight
         end
         all = all + weight
      end
   end
   for name, self in pairs(shares) do
      shares[name] = self / all
   end
   return shares, all
end

-- Returns by group its weight, its distance from the others, and the largest difference.
local function expected_top(runs, key)
   local rows = {}
   for name, group in pairs(grouped(runs, key)) do
      local inside, others = {}, {}
      for _, run in ipairs(group) do
         inside[run] = true
      end
      for _, run in ipairs(runs) do
         others[#others + 1] = not inside[run] and run or nil
      end
      local mine, whole = shares_of(group)
      local theirs, names = shares_of(others), {}
      for _, shares in ipairs { mine, theirs } do
         for f in pairs(shares) do
            names[f] = true
         end
      end
      local sum, most = 0, 0
      for f in pairs(names) do
         local difference = math.abs((mine[f] or 0) - (theirs[f] or 0))
         sum, most = sum + difference, math.max(most, difference)
      end
      rows[name] = { runs = #group, whole = whole, distance = sum / 2, most = most,
         mine = mine, theirs = theirs }
   end
   return rows
end

local function is_near(a, b)
   return math.abs(a - b) < 1e-12
end

describe("store:top", function()
   it("has the distance of each group from all others", function()
      local path, runs = store_of(40, 5)
      local store <close> = assert(profio.store(path))
      for _, by in ipairs { "host", "run", "day" } do
         local expected, last, count = expected_top(runs, keys[by]), 2, 0
         for _, row in ipairs(store:top { by = by }:rows()) do
            local wanted = expected[row.by or false]
            count = count + 1
            assert.equal(wanted.runs, row.runs)
            assert.equal(wanted.whole, row.whole)
            assert.is_true(is_near(wanted.distance, row.distance))
            assert.is_true(is_near(wanted.mine[row["function"]] or 0, row.function_share))
            assert.is_true(is_near(wanted.theirs[row["function"]] or 0, row.others_share))
            assert.is_true(is_near(wanted.most, math.abs(row.function_share - row.others_share)))
            assert.is_true(row.distance <= last)
            last = row.distance
         end
         for _ in pairs(expected) do
            count = count - 1
         end
         assert.equal(0, count)
      end
   end)

   it("does not depend on the order of runs", function()
      local path = store_of(30, 6)
      local other = folder .. "/other.db"
      local store <close> = assert(profio.store(path))
      local again <close> = assert(profio.store(other))
      assert(again:merge(store, { host = "h3" }))
      assert(again:merge(store))
      for _, output in ipairs { "csv", "json" } do
         assert.equal(store:top { by = "host" }:write { output = output },
            again:top { by = "host" }:write { output = output })
         assert.equal(store:trend("f3", { by = "host" }):write { output = output },
            again:trend("f3", { by = "host" }):write { output = output })
      end
   end)

   it("has no distance if there are no others", function()
      local path = store_of(3, 7)
      local store <close> = assert(profio.store(path))
      local rows = store:top { by = "format" }:rows()
      assert.equal(1, #rows)
      assert.same({ "pprof", 3 }, { rows[1].by, rows[1].runs })
      assert.is_nil(rows[1].distance)
      assert.is_nil(rows[1]["function"])
   end)
end)

describe("weights beyond 64 bits", function()
   local function failure(...)
      local _, message, code = ...
      return { message:gsub("^.*/", ""), code }
   end

   it("are an error, if they are those of one run, of a group, or of all", function()
      disk.fresh(folder)
      local store <close> = assert(profio.store(folder .. "/o.db"))
      local most = { ["main;f"] = math.maxinteger }
      for i = 1, 2 do
         assert(store:add(assert(profio.open { data = stored.pprof(most, { time_nanos = i }) }),
            { labels = { n = "n" .. i } }))
      end
      local message = { "o.db: the weight of the selected runs exceeds 64 bits: select fewer of "
         .. "them", "limit" }
      assert.same(message, failure(store:top { by = "n" }))
      assert.same(message, failure(store:trend("f", { by = "format" })))
      assert.equal(2, store:trend("f", { by = "n" }):count())
      most.main = 1
      assert(store:add(assert(profio.open { data = stored.pprof(most) })))
      assert.same(message, failure(store:trend("f", { by = "n" })))
   end)
end)
