-- Traces of many gmon files: those of one program are added up while they are opened. The results
-- are those of a trace whose files are opened one by one.
--
-- Tags: stressed.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local core = require "profio.core"
local disk = require "spec.support.disk"
local profio = require "profio"
local rounds = require "spec.support.rounds"

local folder = command.folder .. "/file_sums"
disk.fresh(folder)

local LOW, BINS = 0x1000, 64

-- alpha, beta and gamma of 64 bytes each, then a gap, then delta.
local nm = command.file("file_sums.nm", "0000000000001000 T alpha\n0000000000001040 T beta\n"
   .. "0000000000001080 T gamma\n00000000000010e0 T delta\n")

local entries = { 0x1000, 0x1040, 0x1080, 0x10e0, 0x10c4 }

-- Returns the builder of a file with random counts: header, histogram, arcs.
local function usual(random, order, width, change)
   local bins = {}
   for i = 1, BINS do
      bins[i] = random(0, 4) == 0 and random(0, 0xffff) or 0
   end
   local set = { low = LOW, high = LOW + 4 * BINS, bins = bins }
   for name, value in pairs(change or {}) do
      set[name] = value
   end
   local b = builder.new(order, width):header():histogram(set)
   for _ = 1, random(0, 12) do
      b:arc(random(8) == 1 and 0 or LOW + random(0, 255), entries[random(#entries)],
         random(0, 0xffffffff))
   end
   return b
end

-- Files that are not added to others, by what is different.
local unusual = {
   function(b) return b:raw "\1\2\3":bytes() end,
   function(b) return b:raw "\9":bytes() end,
   function(b) return b:histogram { low = LOW, high = LOW + 16, bins = { 1, 2, 3, 4 } }:bytes() end,
   function(b) return b:bytes():sub(1, 60) end,
   function(_, random, order, width)
      return usual(random, order, width, { rate = 1000 }):bytes()
   end,
   function(_, random, order, width)
      return usual(random, order, width, { high = LOW + 8 * BINS }):bytes()
   end,
   function(b, _, order, width)
      return b:bytes():sub(1, 19) .. "x" .. b:bytes():sub(21), order, width
   end,
   function(b) return b:blocks { { 0x1000, 7 } }:bytes() end,
}

-- Writes `count` files, of which one in `each` is unusual; returns their paths.
local function files(random, count, each, name)
   local order, width = ({ "<", ">" })[random(2)], ({ 4, 8 })[random(2)]
   local paths = {}
   for i = 1, count do
      local b = usual(random, order, width)
      local bytes = each and random(each) == 1
         and unusual[random(#unusual)](b, random, order, width) or b:bytes()
      paths[i] = ("%s/%s.%03d"):format(folder, name, i)
      local file <close> = assert(io.open(paths[i], "wb"))
      file:write(bytes)
   end
   return paths
end

-- Calls a function while no files are added up.
local function one_by_one(f, ...)
   local real = core.file_sum
   core.file_sum = function() end
   local results = table.pack(pcall(f, ...))
   core.file_sum = real
   assert(results[1], results[2])
   return table.unpack(results, 2, results.n)
end

local function text_of(value)
   if type(value) ~= "table" then
      return tostring(value)
   end
   local parts = {}
   for key, inner in pairs(value) do
      parts[#parts + 1] = tostring(key) .. "=" .. text_of(inner)
   end
   table.sort(parts)
   return "{" .. table.concat(parts, " ") .. "}"
end

local function rows_of(view)
   local rows = {}
   for row in view:records() do
      rows[#rows + 1] = text_of(row)
   end
   assert(rows[1], "no rows")
   return table.concat(rows, "\n")
end

-- Returns all that a user sees of a trace, in order of `steps`.
local steps = {
   function(trace) return text_of(trace.info) end,
   function(trace) return text_of(trace.warnings) end,
   function(trace) return trace:row_count "arcs" .. " " .. trace:row_count "histogram" end,
   function(trace) return tostring(trace:row_count "raw") end,
   function(trace) return rows_of(assert(trace:profile()):flat()) end,
   function(trace) return rows_of(assert(trace:profile()):graph()) end,
   function(trace) return rows_of(trace.arcs) end,
   function(trace) return rows_of(trace.histogram:where { count = profio.no(0) }) end,
   function(trace) return text_of(trace:check()) end,
   function(trace) return assert(trace:save()) end,
   function(trace)
      local store <close> = assert(profio.store(folder .. "/one.db"))
      return assert(store:prepare(trace)).run
   end,
}

local function seen(paths, options, order)
   local trace <close>, message, code = profio.open(paths, options)
   if not trace then
      return { message .. " " .. code }
   end
   local list = {}
   for i, step in ipairs(order) do
      local ok, text = pcall(steps[step], trace)
      list[i] = step .. ": " .. tostring(ok) .. " " .. tostring(text)
   end
   return list
end

local function shuffled(random)
   local order = {}
   for i = 1, #steps do
      table.insert(order, random(i), i)
   end
   return order
end

it("random mixtures of usual, damaged and different files give the same results", function()
   math.randomseed(7)
   local random = math.random
   for round = 1, rounds(30) do
      local each = ({ false, 40, 12, 3 })[round % 4 + 1]
      local paths = files(random, random(17, 90), each, "mixed")
      local options = { symbols = random(3) > 1 and nm or nil, strict = random(6) == 1,
         compat = random(6) == 1 and "gprof" or nil, format = "gmon",
         rate = random(6) == 1 and 50 or nil }
      local order = shuffled(random)
      local expected = one_by_one(seen, paths, options, order)
      assert.same(expected, seen(paths, options, order), "round " .. round)
   end
end)

it("the command prints the same, wherever the executable is in the list", function()
   local off = command.file("file_sums_off.lua",
      "require('profio.core').file_sum = function() end")
   math.randomseed(11)
   local paths = files(math.random, 100, false, "command")
   for _, at in ipairs(rounds.all and { 1, 50, 101 } or { 50 }) do
      local words = table.move(paths, 1, #paths, 1, {})
      table.insert(words, at, command.build .. "/profio/core.so")
      for _, report in ipairs { "flat", "gprof", "info" } do
         local line = ("profio --load %%s --report %s %s"):format(report, table.concat(words, " "))
         local expected, status, errors = command.run(line:format(off))
         local text, other, messages = command.run(line:format("/dev/null"))
         assert.equal(expected, text)
         assert.equal(status, other)
         assert.equal(errors, messages)
      end
   end
end)

it("a file that changes before its table is read is an error that names it", function()
   math.randomseed(17)
   local paths = files(math.random, 40, false, "changed")
   local trace <close> = assert(profio.open(paths))
   local file <close> = assert(io.open(paths[30], "ab"))
   file:write "\1"
   file:close()
   assert(trace:profile())
   local ok, message = pcall(trace.arcs.count, trace.arcs)
   assert.is_false(ok)
   assert.matches("changed.030: gmon: the file has changed since it was opened", message, 1, true)
end)

it("counts beyond those of a file are added up exactly", function()
   local bytes = builder.new("<", 8):header():histogram { low = LOW, high = LOW + 4,
      bins = { 0xffff } }:arc(LOW, LOW + 64, 0xffffffff):bytes()
   local paths = {}
   for i = 1, 70 do
      paths[i] = ("%s/large.%d"):format(folder, i)
      local file <close> = assert(io.open(paths[i], "wb"))
      file:write(bytes)
   end
   local trace <close> = assert(profio.open(paths, { symbols = nm }))
   local calls, samples = 0, 0
   for row in assert(trace:profile()):flat({ metric = "samples" }):records() do
      calls, samples = calls + (row.calls or 0), samples + row.self
   end
   assert.equal(70 * 0xffffffff, calls)
   assert.equal(70 * 0xffff, samples)
end)

it("a pipe among the files is opened once, also through a link", function()
   math.randomseed(19)
   local paths = files(math.random, 60, false, "piped")
   local line = ("timeout 20 %s --report flat --symbols %s %s"):format(command.analyze, nm,
      table.concat(paths, " "))
   local expected = command.run(line)
   local names = { FILE = paths[40], COPY = folder .. "-copy", PIPE = folder .. "-pipe" }
   for _, make in ipairs { "mv FILE COPY && mkfifo FILE",
      "rm -f FILE PIPE && mkfifo PIPE && ln -s PIPE FILE"
   } do
      assert(os.execute((make:gsub("%u+", names))))
      local writer = ("{ timeout 20 cat COPY >FILE & }; "):gsub("%u+", names)
      assert.equal(expected, (command.run(writer .. line)))
   end
end)

it("a ring is found beside one of many files", function()
   math.randomseed(23)
   local paths = files(math.random, 40, false, "ringed")
   command.file("file_sums/ringed.030.ring", "no ring")
   local trace <close> = assert(profio.open(paths))
   assert.equal("ring-damaged", trace.warnings[1].code)
   assert.matches("ringed.030: ", trace.warnings[1].message, 1, true)
end)
