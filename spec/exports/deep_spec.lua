-- Deep stacks and many lanes: the output of exports and views does not grow with the square of the
-- depth, and that of a page not with the number of lanes.
--
-- Extra: inputs of hundreds of megabytes, or of thousands of files.
-- Unsanitized: limits of memory, which the sanitizers change.

local command = require "spec.support.command"
local growth_inputs = require "spec.bench.growth_inputs"
local profio = require "profio"

local DEPTH = 20000

-- Returns the files of an axis, as words of a command line.
local function made(name, size)
   for _, axis in ipairs(growth_inputs) do
      if axis.name == name then
         return table.concat(axis.make(size, command.folder .. "/" .. name), " ")
      end
   end
end

-- Returns the output of a command and its peak memory in MB.
local function run(options)
   local text, status, errors = command.run(("cd '%s' && lua5.4 %s '%s/cost' %s"):format(
      command.root, "spec/bench/growth_child.lua", command.folder, options))
   assert.equal(0, status, errors)
   return text, tonumber(command.read(command.folder .. "/cost"):match " (%d+) ") / 1024, errors
end

describe("a stack of 20,000 frames", function()
   -- Of calls, each in the one before: F1 ... F20000, which each last 2 ms longer.
   local path = made("depth", DEPTH)

   it("goes as folded stacks to a depth, below which callers are charged", function()
      local text, _, errors = run("--export folded " .. path)
      assert.is_true(#text < 200e6)
      assert.matches("frames below depth 5792 are charged to their callers: %-%-set depth=N",
         errors)
      local small = run("--set depth=3 --export folded " .. path)
      -- each lasts 2 ms longer than the next one, the last one 1 ms
      assert.equal(("F1 2000000\nF1;F2 2000000\nF1;F2;F3 %d\n"):format(
         (2 * (DEPTH - 2) - 1) * 1000000), small)
   end)

   it("goes to pprof and speedscope in the same way", function()
      local trace <close> = assert(profio.open(path))
      for _, kind in ipairs { "pprof", "speedscope" } do
         local profile = assert(trace:profile())
         assert.is_true(#assert(profile:export(kind, nil, kind == "pprof" and { packed = false }
            or nil)) < 200e6, kind)
      end
      assert.matches("frames below depth 5792", (assert(trace:profile()):export("speedscope")))
   end)

   it("is inverted to as many levels as fit into memory", function()
      local _, memory, errors = run("--report bottom-up " .. path)
      assert.matches("bottom_up shows %d+ levels of callers: %-%-set depth=N", errors)
      assert.is_true(memory < 500, memory)
      local trace <close> = assert(profio.open(path))
      local profile = assert(trace:profile())
      assert.equal(DEPTH * 2 - 1, profile:bottom_up { depth = 2 }:count())
      assert.equal(DEPTH, profile:bottom_up { depth = 1 }:count())
   end)
end)

describe("a page of 40,000 lanes", function()
   it("draws those with most events, as many as are asked for", function()
      local path = made("lanes", 40000)
      local page, memory, errors = run("--export html " .. path)
      local lane = '{"kind":"lane","name":"[^"]*","calls":2'
      local drawn = select(2, page:gsub(lane, ""))
      assert.equal(250, drawn)
      assert.matches('"few":"the 250 lanes with most events of 40000 are drawn"', page)
      assert.matches("the 250 lanes with most events of 40000 are drawn: %-%-set lanes=N", errors)
      assert.is_true(memory < 400, memory)
      page = run("--set lanes=3 --export html " .. path)
      assert.equal(3, select(2, page:gsub(lane, "")))
   end)

   it("goes to chrome in a few hundred MB", function()
      local text, memory = run("--export chrome " .. made("lanes", 40000))
      assert.equal(40000, select(2, text:gsub("thread_name", "")))
      assert.is_true(memory < 400, memory)
   end)
end)

describe("the flow of many threads", function()
   it("is that of each thread alone, one after the other", function()
      local rows = { "TID,TIME,OP,MSG,LINE\r\n" }
      for i = 1, 60 do
         rows[i + 1] = ('%d,%d,"%s","F%d",10\r\n'):format(i * 7 % 12 + 1, i,
            i <= 24 and "I" or "O", i % 5)
      end
      local path = command.file("threads.prf", table.concat(rows))
      local all = command.run("profio --report flow " .. path)
      local parts = {}
      for thread = 1, 12 do
         parts[thread] = command.run(("profio --report flow --lane %d %s"):format(thread, path))
            :gsub("^[^\n]*\n", "")
      end
      assert.equal("     TIME (ms)  enters > and leaves <\n" .. table.concat(parts, "\n"), all)
   end)

   it("shows deep calls no further right than others", function()
      assert.is_true(#(run("--report flow " .. made("depth", DEPTH))) < 20e6)
   end)
end)

describe("a page of 600 files", function()
   it("keeps the buffers of one file at a time", function()
      local _, memory = run("--export html " .. made("files", 600))
      assert.is_true(memory < 120, memory)
   end)
end)
