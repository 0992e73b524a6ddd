-- Mode memory of the recorder. The truth is what Lua's own accounting says
-- (collectgarbage "count"), and numbers of objects that the programs make.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local run = recorded.run

-- Text of a program that records `work` and prints its profile: a line for each function with its
-- own bytes and objects, allocated and alive.
local form = [[
local recorder = require "profio.recorder"
%s
local settings = { mode = "memory", %s }
assert(recorder.start(settings))
work()
local info = recorder.stop()
assert(not info.failure, info.failure)
local rows = {}
for _, metric in ipairs { "alloc_space", "alloc_objects", "inuse_space", "inuse_objects" } do
   local profile = info.profile
   local list = settings.lines and profile:lines { metric = metric }
      or profile:flat { metric = metric }
   for name, line, own in list:each("function", "line", "self") do
      local key = settings.lines and name .. ":" .. (line or 0) or name
      rows[key] = rows[key] or {}
      rows[key][metric] = own
   end
end
for name, row in pairs(rows) do
   print(name, row.alloc_space or 0, row.alloc_objects or 0, row.inuse_space or 0,
      row.inuse_objects or 0)
end
]]

-- Returns the rows that a program prints, by function.
local function rows_of(source, settings)
   local output, status, errors = run(form:format(source, settings))
   assert.same({ 0, "" }, { status, errors })
   local rows = {}
   for name, space, objects, alive, count in
      output:gmatch "([^\n\t]+)\t(%d+)\t(%d+)\t(%d+)\t(%d+)\n" do
      rows[name] = { space = tonumber(space), objects = tonumber(objects),
         alive = tonumber(alive), count = tonumber(count) }
   end
   return rows, output
end

local makers = [[
local keep = { false }
local function tables() for _ = 1, 4000 do keep[1] = { 1, 2, 3, 4 } end end
local function closures() for i = 1, 4000 do keep[1] = function() return i end end end
local function texts() for i = 1, 4000 do keep[1] = ("x"):rep(100) .. i end end
local function id(value) return value end
local function tail(i) return id({ i, i, i, i, i, i }) end
local function of_tails() for i = 1, 4000 do tail(i) end end
local function work() tables() closures() texts() of_tails() end
]]

describe("exact memory", function()
   it("counts each block by the function that allocates it", function()
      local rows = rows_of(makers, "exact = true")
      -- Lua's own tables, as that of strings, may grow in any function.
      local function counts(objects, name)
         assert.is_near(objects + 2, rows[name].objects, 2)
      end
      counts(8000, "tables") -- a table and its array
      counts(8000, "closures") -- a closure and its upvalue
      counts(4000, "string.rep")
      counts(8000, "tail")
      assert.is_nil(rows.id)
      assert.equal(0, (rows.of_tails or { space = 0 }).space)
   end)

   it("agrees with the bytes that Lua counts, allocated and alive", function()
      local _, output = rows_of([[
local keep, half, before, all = {}, {}
for i = 1, 2000 do keep[i], half[i] = false, false end
local function make(i) keep[i], half[i] = { i, i, i }, ("y"):rep(50 + i % 7) .. i end
function work()
   collectgarbage() collectgarbage "stop"
   before = collectgarbage "count"
   for i = 1, 2000 do make(i) end
   all = collectgarbage "count" - before
   for i = 1, 2000 do half[i] = false end
   collectgarbage() collectgarbage "stop"
   print("lua", all * 1024, (collectgarbage "count" - before) * 1024)
end
]], "exact = true")
      local all, alive = output:match "lua\t([%d.]+)\t([%d.]+)"
      local space, left = 0, 0
      for name, own, kept in output:gmatch "\n([^\n\t]+)\t(%d+)\t%d+\t(%d+)\t" do
         if name == "make" or name == "string.rep" then
            space, left = space + own, left + kept
         end
      end
      assert.is_near(tonumber(all), space, 2000)
      assert.is_near(tonumber(alive), left, 2000)
   end)
end)

describe("sampled memory", function()
   -- A sum of k samples has a relative standard error of at most 1 / sqrt(k); these have 1,000.
   local function is_near(expected, value)
      assert.is_near(expected, value, expected * 0.2)
   end

   it("has the sums of exact memory, within the error of samples", function()
      local exact = rows_of(makers, "exact = true")
      local rows = rows_of(makers, 'bytes = "300"')
      for _, name in ipairs { "tables", "closures", "tail", "string.rep", "texts" } do
         is_near(exact[name].space, rows[name].space)
         is_near(exact[name].objects, rows[name].objects)
      end
      assert.is_nil(rows.id)
   end)

   it("knows a function whose first sample is in a tail call", function()
      local rows = rows_of([[
local list = {}
local function id(value) return value end
local function maker(text) return id(text .. "!") end
local text = ("z"):rep(10000000)
function work() list[1] = maker(text) end
]], 'bytes = "1K"')
      assert.same({ space = rows.maker.space, objects = 1, alive = rows.maker.space, count = 1 },
         rows.maker)
      assert.is_true(rows.maker.space >= 10000001)
      assert.is_nil(rows.id)
   end)

   it("knows what is alive at the end, and coroutines", function()
      local rows = rows_of([[
local kept, freed = {}, {}
local function keep() for i = 1, 3000 do kept[i] = { i, i } end end
local function free() for i = 1, 3000 do freed[i] = { i, i } coroutine.yield() end end
function work()
   keep()
   local co = coroutine.wrap(free)
   for _ = 1, 3001 do co() end
   freed = nil
   collectgarbage() collectgarbage()
end
]], 'bytes = "200"')
      is_near(6000, rows.keep.count)
      is_near(6000, rows.free.objects)
      assert.is_true(rows.free.count < 300)
   end)

   it("has lines if asked: that of each table, though Lua notes none when it makes one", function()
      local rows = rows_of([[
local function three(a)
   local x = { a, a }
   local y = a
   y = y + 1
   local z = { y, y, y, y }
   y = y + 2
   return x, z, y
end
function work() for i = 1, 5000 do three(i) end end
]], 'bytes = "100", lines = true')
      is_near(10000, rows["three:3"].objects)
      is_near(10000, rows["three:6"].objects)
      for _, line in ipairs { 4, 5, 7, 8 } do
         assert.is_nil(rows["three:" .. line])
      end
   end)

   it("charges a table that grows to the line that lets it grow", function()
      local rows = rows_of([[
local function fill(t, n)
   for i = 1, n do
      t[#t + 1] = i
      local _ = i + 1
   end
end
function work() for _ = 1, 20 do fill({}, 5000) end end
]], 'bytes = "100", lines = true')
      assert.is_true(rows["fill:4"].space > 20 * 5000 * 16)
      assert.is_nil(rows["fill:3"])
      assert.is_nil(rows["fill:5"])
   end)

   it("survives deep stacks, errors and finalizers with a sample at each byte", function()
      for _, way in ipairs { 'bytes = "1"', 'bytes = "1", lines = true', "exact = true" } do
         local settings = way .. ", depth = 4"
         local rows = rows_of([[
local function deep(n) if n == 0 then error({ n }) end return 1 + deep(n - 1) end
function work()
   pcall(deep, 5000)
   coroutine.wrap(function() pcall(deep, 2000) end)()
   for i = 1, 100 do setmetatable({}, { __gc = function() return { i } end }) end
   for i = 1, 100 do load("local t = { 1, 2, " .. i .. " } return t")() end
   local parts = {}
   for i = 1, 3000 do parts[i] = tostring(i) end
   table.concat(parts, ",")
   table.sort(parts, function(a, b) return #{ a } .. a < #{ b } .. b end)
   collectgarbage()
end
]], settings)
         local is_by_line = settings:find "lines" ~= nil
         assert.is_true(rows[is_by_line and "deep:2" or "deep"].objects > 0)
         assert.is_true(is_by_line or rows["table.concat"] ~= nil)
      end
   end)

   it("is there after a stack overflow", function()
      local rows = rows_of([[
local function over(n) return over({ n }) .. "" end
function work() pcall(over) end
]], 'bytes = "64K"')
      assert.is_true(rows.over.objects > 100000)
   end)

   it("leaves the hook to the program", function()
      local _, output = rows_of([[
function work()
   local n = 0
   debug.sethook(function() n = n + 1 end, "c")
   local hook = debug.gethook()
   for i = 1, 100 do tostring({ i }) end
   debug.sethook()
   print("calls", n, type(hook))
end
]], 'bytes = "100"')
      assert.matches("calls\t102\tfunction\n", output)
   end)
end)

describe("the collector", function()
   it("has a number of bytes for each cycle", function()
      local output, status = run [[
local recorder = require "profio.recorder"
recorder.start { mode = "memory" }
collectgarbage()
local text = ("x"):rep(3000000)
text = nil
collectgarbage()
local n = #recorder.stop().cycles
recorder.start { mode = "memory" }
collectgarbage() collectgarbage "stop"
text = ("x"):rep(3000000)
text = nil
collectgarbage()
local cycles = recorder.stop().cycles
print(n >= 2, #cycles, cycles[2] >= 6000000 and cycles[2] < 7000000) -- with its buffer
]]
      assert.same({ "true\t2\ttrue\n", 0 }, { output, status })
   end)
end)

describe("a recording of memory", function()
   it("is told what allocates most, and is read as pprof", function()
      command.file("prog.lua", [[
local keep = {}
local function most() for i = 1, 20000 do keep[i] = { i, i, i } end end
most()
]])
      local path = recorded.path "memory.pb.gz"
      local _, status, errors = command.run("profio record --mode memory --set bytes=4K "
         .. "-o memory.pb.gz prog.lua")
      assert.equal(0, status)
      assert.matches("the collector ended %d+ cycles? and freed [%d.]+ MiB", errors)
      assert.matches("MiB allocated in %d+ objects by %d+ functions; [%d.]+ MiB alive at the end",
         errors)
      assert.matches("alive MiB  function\n +%d.%d +%d+.%d%% +%d+ +%d.%d  most  prog.lua:2\n",
         errors)
      local trace <close> = assert(profio.open(path))
      local names = {}
      for i, metric in ipairs(trace:profile():metrics()) do
         names[i] = metric.name .. " " .. metric.unit
      end
      assert.same({ "alloc_space bytes", "alloc_objects count", "inuse_space bytes",
         "inuse_objects count" }, names)
   end)

   it("says if there is no sample", function()
      local output, status = run [[
local recorder = require "profio.recorder"
recorder.start { mode = "memory", bytes = "1G" }
print(recorder.stop().failure)
]]
      assert.same({ "no samples: it allocated less than some 1073741824 bytes; see the option "
         .. "bytes\n", 0 }, { output, status })
   end)

   it("refuses options that would change nothing", function()
      local output = run [[
local recorder = require "profio.recorder"
for _, given in ipairs { { mode = "aggregate", exact = true }, { mode = "aggregate", bytes = "1K" },
   { mode = "memory", exact = true, lines = true },
   { mode = "memory", exact = true, bytes = "1K" }, { mode = "memory", interval = "2ms" } } do
   print(select(2, pcall(recorder.start, given)))
end
]]
      for _, what in ipairs { "'exact' is for mode memory", "'bytes' is for mode memory",
         "'lines' is not for exact", "'bytes' is not for exact",
         "'interval' is not for mode memory: bytes is" } do
         assert.is_truthy(output:find(what, 1, true), what)
      end
   end)
end)
