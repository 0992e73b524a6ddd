-- Entries with operations as enters and leaves: by hand, and compared with generated call trees.
--
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local core = require "profio.core"

local fields = { { "thread", "int" }, { "time", "int" }, { "op", "name" }, { "call", "name" },
   { "line", "int" }, { "flags", "name" } }

local function reader(rows)
   return core.rows_reader(fields, rows, core.dictionary())
end

-- "I MAIN 4" or "2 I MAIN 4 gap" per line: thread, operation, call, time, flags.
local function entries(text)
   local rows = {}
   for line in text:gmatch "[^\n]+" do
      local thread, op, call, time, flags = line:match "^%s*(%d*)%s*(%a)%s+(%S+)%s+(%d+)%s*(%a*)"
      rows[#rows + 1] = { tonumber(thread) or 1, tonumber(time), op, call, #rows + 1,
         flags ~= "" and flags or nil }
   end
   return rows
end

-- Rows as texts: "enter A 4", "leave A 9 unwound", with +overhead and c for compiled.
local function shown(rows)
   local list = {}
   for i, row in ipairs(rows) do
      local words = { row.event or row.op, row.call, row.time }
      words[#words + 1] = row.flags
      words[#words + 1] = row.overhead and "+" .. row.overhead or nil
      words[#words + 1] = row.compiled and "c" or nil
      list[i] = table.concat(words, " ")
   end
   return list
end

local function unfiltered(text)
   return shown(core.rows(core.unfilter(reader(entries(text)))))
end

describe("unfilter", function()
   it("converts the four operations of a call to an enter and a leave", function()
      assert.same({ "enter MAIN 0", "enter A 1", "leave A 9 +3 c", "leave MAIN 10 c" },
         unfiltered [[
         I MAIN 0
         i A 1
         I A 2
         O A 7
         o A 9
         O MAIN 10]])
   end)

   it("marks code that was not compiled for profiling", function()
      local rows = core.rows(core.unfilter(reader(entries [[
         i LEN 1
         o LEN 2
         I F 3
         O F 4]])))
      assert.same({ false, true }, { rows[2].compiled, rows[4].compiled })
      assert.is_nil(rows[1].compiled)
      assert.is_nil(rows[2].overhead)
   end)

   it("keeps a filtered trace", function()
      assert.same({ "enter MAIN 0", "enter A 1", "leave A 2 c", "enter A 3", "enter A 4",
         "leave A 5 c", "leave A 6 c", "leave MAIN 7 c" }, unfiltered [[
         I MAIN 0
         I A 1
         O A 2
         I A 3
         I A 4
         O A 5
         O A 6
         O MAIN 7]])
   end)

   it("distinguishes a recursive call from the second operation of a pair", function()
      assert.same({ "enter F 0", "enter F 2", "leave F 5 +2 c", "leave F 9 +4 c" }, unfiltered [[
         i F 0
         I F 1
         i F 2
         I F 3
         O F 4
         o F 5
         O F 6
         o F 9]])
   end)

   it("closes calls that a BREAK left, where the trace shows it", function()
      assert.same({ "enter MAIN 0", "enter A 1", "enter B 2", "enter C 5", "leave C 6 c",
         "leave B 6 unwound c", "leave A 6 unwound c", "leave MAIN 7 c" }, unfiltered [[
         I MAIN 0
         I A 1
         I B 2
         I C 5
         O C 6
         O MAIN 7]])
   end)

   it("keeps a leave without a call, and counts its pair once", function()
      assert.same({ "leave A 1 orphan", "enter B 3", "leave B 4 c", "leave A 5 orphan",
         "leave A 6 orphan" }, unfiltered [[
         O A 1
         o A 2
         I B 3
         O B 4
         o A 5
         o A 6]])
   end)

   it("closes open calls at the end, thread by thread", function()
      assert.same({ "enter A 1", "enter B 2", "enter C 9", "leave B 9 open c", "leave A 9 open c",
         "leave C 9 open" }, unfiltered [[
         1 I A 1
         1 I B 2
         2 i C 9]])
   end)

   it("ends a call at its O if there is no o", function()
      assert.same({ "enter MAIN 0", "enter A 1", "leave A 3 +1 c", "leave MAIN 5 c" }, unfiltered [[
         I MAIN 0
         i A 1
         I A 2
         O A 3
         O MAIN 5]])
      assert.same({ "enter A 1", "leave A 3 c" }, unfiltered "i A 1\nO A 3")
   end)

   it("starts afresh after a gap", function()
      assert.same({ "enter A 1", "enter B 2", "enter C 3", "leave C 3 gap c", "leave A 3 gap c",
         "leave B 3 gap c", "leave C 8 gap orphan", "enter A 9", "leave A 9 open c" }, unfiltered [[
         1 I A 1
         2 I B 2
         1 I C 3
         1 O C 8 gap
         1 I A 9]])
   end)

   it("begins with empty stacks in another file", function()
      local with_file = { { "op", "name" }, { "call", "name" }, { "file", "name" } }
      local function rows()
         return core.rows_reader(with_file, { { "I", "A", "x" }, { "I", "B", "x" },
            { "O", "A", "y" }, { "I", "A", "y" } }, core.dictionary())
      end
      local list = {}
      for event, call, flags, file in core.each(core.unfilter(rows()),
         { "event", "call", "flags", "file" }) do
         list[#list + 1] = table.concat({ event, call, flags or "", file or "-" }, " ")
      end
      assert.same({ "enter A  x", "enter B  x", "leave B open -", "leave A open -",
         "leave A orphan y", "enter A  y", "leave A open -" }, list)
      list = {}
      for event, area, flags in core.each(core.events(rows()), { "event", "area", "flags" }) do
         list[#list + 1] = table.concat({ event, area, flags or "" }, " ")
      end
      assert.same({ "enter A ", "enter B ", "leave A gap orphan", "enter A " }, list)
   end)

   it("does not mark as unwound the calls that ended while the trace was on hold", function()
      assert.same({ "enter MAIN 0", "enter A 1", "enter _PRFHOLD 2", "leave _PRFHOLD 2 gap",
         "leave PRFRESUME 8 gap orphan", "enter B 9", "leave B 10 c", "leave A 12 gap c",
         "leave MAIN 12 c" }, unfiltered [[
         I MAIN 0
         I A 1
         i _PRFHOLD 2
         o PRFRESUME 8
         I B 9
         O B 10
         O MAIN 12]])
   end)

   it("closes more calls than a batch has rows", function()
      local rows = {}
      for i = 1, 9000 do
         rows[i] = { 1, i, "I", "F" .. i, 0, "" }
      end
      rows[9001] = { 1, 9001, "O", "F1", 0, "" }
      local count, unwound = 0, 0
      for event, flags in core.each(core.unfilter(reader(rows)), { "event", "flags" }) do
         count = count + 1
         unwound = unwound + (event == "leave" and flags == "unwound" and 1 or 0)
      end
      assert.same({ 18000, 8999 }, { count, unwound })
   end)

   it("keeps other columns, rows of other operations, and flags", function()
      local rows = core.rows(core.unfilter(reader {
         { 1, 5, "I", "A", 12, "cut" }, { 1, 6, "x", "A", 13, "" }, { 1, 7, "o", "Z", 14, "lost" },
      }))
      assert.same({ { thread = 1, time = 5, op = "I", call = "A", line = 12, flags = "cut",
         event = "enter" },
         { thread = 1, time = 6, op = "x", call = "A", line = 13 },
         { thread = 1, time = 7, op = "o", call = "Z", line = 14, flags = "lost orphan",
            event = "leave" },
         { thread = 1, time = 7, call = "A", flags = "open", event = "leave", compiled = true },
      }, { rows[1], (function() rows[2].compiled = nil return rows[2] end)(), rows[3], rows[4] })
   end)

   it("works with columns op and call only", function()
      local two = { { "op", "name" }, { "call", "name" } }
      local rows = core.rows(core.unfilter(core.rows_reader(two,
         { { "I", "A" }, { "I", "B" }, { "O", "A" }, { "I" } }, core.dictionary())))
      assert.same({ "enter", "enter", "leave", "leave", "enter", "leave" }, (function()
         local list = {}
         for i, row in ipairs(rows) do
            list[i] = row.event
         end
         return list
      end)())
      assert.error_matches(function()
         core.unfilter(core.rows_reader({ { "op", "name" } }, {}, core.dictionary()))
      end, 'columns "op" and "call"')
      assert.error_matches(function()
         core.unfilter(core.unfilter(reader {}))
      end, 'a column "event" already')
   end)

   it("gives events with areas and lanes", function()
      local rows = core.rows(core.events(reader(entries [[
         7 I MAIN 0
         7 x MAIN 1
         7 I A 2
         7 O MAIN 3]])))
      assert.same({
         { time = 0, event = "enter", area = "MAIN", lane = 7 },
         { time = 2, event = "enter", area = "A", lane = 7 },
         { time = 2, event = "leave", area = "A", lane = 7, flags = "unwound" },
         { time = 3, event = "leave", area = "MAIN", lane = 7 },
      }, rows)
   end)

   -- The builder of calls closes calls at gaps, so events must mark gaps.
   it("marks gaps and losses in events, but not ends", function()
      local function events(text)
         local list = {}
         for event, area, time, flags in core.each(core.events(reader(entries(text))),
            { "event", "area", "time", "flags" }) do
            list[#list + 1] = ("%s %s %d %s"):format(event, area, time, flags or ""):gsub(" $", "")
         end
         return list
      end
      assert.same({ "enter A 1", "enter B 2", "enter C 8 gap", "enter D 9" },
         events "I A 1\nI B 2\nx C 7 gap\nI C 8\nI D 9")
      assert.same({ "enter MAIN 0", "enter A 1", "enter PRFHOLD 2 lost", "leave PRFHOLD 2 unwound",
         "leave PRFRESUME 8 orphan", "leave A 9 unwound", "leave MAIN 9" },
         events "I MAIN 0\nI A 1\ni PRFHOLD 2\no PRFRESUME 8\nO MAIN 9")
      assert.same({ "enter A 1", "leave A 3" }, events "i A 1\nO A 3")
   end)
end)

-- {====== Call trees ======

-- Calls of a program, run by a small simulator that writes entries: it knows which of
-- them a BREAK left. A name is not used twice among the calls that a BREAK leaves and the one that
-- it reaches: names alone could not distinguish those.
local Machine = {}
Machine.__index = Machine

local function new_machine(has_all)
   return setmetatable({ has_all = has_all, rows = {}, truth = {}, time = 0, threads = {
      { number = 1, real = {}, shown = {} }, { number = 5, real = {}, shown = {} },
   } }, Machine)
end

-- Writes an entry.
function Machine:say(thread, op, call)
   self.time = self.time + math.random(0, 3)
   self.rows[#self.rows + 1] = { thread.number, self.time, op, call.name, 0, "" }
end

-- Records the end of a call.
function Machine:tell(thread, call, flag)
   local list = self.truth[thread.number] or {}
   self.truth[thread.number] = list
   list[#list + 1] = call.name .. " " .. call.depth .. " " .. flag
end

-- The operations of an enter or a leave: the caller's, the function's own, or of a profiler that
-- filters one of them.
function Machine:letters(call, outer, inner)
   if not self.has_all then
      return call.is_compiled and { inner } or { outer }
   end
   local list = {}
   list[#list + 1] = call.has_caller and outer or nil
   list[#list + 1] = (call.is_compiled or not call.has_caller) and inner or nil
   return list
end

function Machine:enter(thread, name)
   local call = { name = name, depth = #thread.shown + 1, is_compiled = name:sub(1, 1) ~= "b",
      has_caller = #thread.real > 0 }
   for _, letter in ipairs(self:letters(call, "i", "I")) do
      self:say(thread, letter, call)
   end
   table.insert(thread.real, call)
   table.insert(thread.shown, call)
end

function Machine:leave(thread)
   local call = table.remove(thread.real)
   while thread.shown[#thread.shown] ~= call do
      self:tell(thread, table.remove(thread.shown), "unwound")
   end
   table.remove(thread.shown)
   self:tell(thread, call, "")
   local letters = self:letters(call, "o", "O")
   for i = #letters, 1, -1 do
      self:say(thread, letters[i], call)
   end
end

-- Whether no deeper call has the same name.
local function is_plain(thread, target)
   local is_above = false
   for _, call in ipairs(thread.shown) do
      if is_above and call.name == target.name then
         return false
      end
      is_above = is_above or call == target
   end
   return true
end

-- A BREAK to the call at this depth; it writes no entries.
function Machine:unwind(thread, depth)
   for d = #thread.real - 1, depth, -1 do
      if not is_plain(thread, thread.real[d]) then
         return
      end
   end
   for _ = #thread.real, depth + 1, -1 do
      table.remove(thread.real)
   end
   self.breaks = (self.breaks or 0) + 1
end

function Machine:step()
   local thread, dice = self.threads[math.random(2)], math.random(10)
   if #thread.real == 0 or (dice <= 5 and #thread.real < 12) then
      local is_builtin = math.random(3) == 1 and #thread.real > 0
      self:enter(thread, (is_builtin and "b" or "F") .. math.random(1, 9))
   elseif dice <= 9 then
      self:leave(thread)
   elseif #thread.real > 1 then
      self:unwind(thread, math.random(1, #thread.real - 1))
   end
end

-- Some calls return, the others are open at the end.
function Machine:stop()
   for _, thread in ipairs(self.threads) do
      for _ = 1, math.random(0, #thread.real) do
         self:leave(thread)
      end
      while #thread.shown > 0 do
         self:tell(thread, table.remove(thread.shown), "open")
      end
   end
end

local function run_machine(seed, has_all)
   math.randomseed(seed)
   local machine = new_machine(has_all)
   for _ = 1, math.random(10, 300) do
      machine:step()
   end
   machine:stop()
   return machine.rows, machine.truth
end

-- The result of unfilter for each call, in the form of the simulator.
local function told(rows)
   local found, depth = {}, {}
   for _, row in ipairs(rows) do
      local thread = row.thread
      depth[thread] = depth[thread] or 0
      if row.event == "enter" then
         depth[thread] = depth[thread] + 1
      else
         local list = found[thread] or {}
         found[thread] = list
         list[#list + 1] = row.call .. " " .. depth[thread] .. " " .. (row.flags or "")
         depth[thread] = depth[thread] - 1
      end
   end
   return found
end

describe("unfilter over random programs", function()
   for _, letters in ipairs { true, false } do
      it(letters and "finds the calls of a trace with all operations"
         or "finds the calls of a filtered trace", function()
         local unwound = 0
         for seed = 1, 300 do
            local rows, truth = run_machine(seed, letters)
            local got = told(core.rows(core.unfilter(reader(rows))))
            assert.same(truth, got, "seed " .. seed)
            for _, list in pairs(truth) do
               for _, word in ipairs(list) do
                  unwound = unwound + (word:find "unwound" and 1 or 0)
               end
            end
         end
         assert.is_true(unwound > 300) -- the simulator uses BREAK
      end)
   end

   -- With idle functions the kernel uses the general path for each row; a name that is not in the
   -- trace changes nothing else.
   local function same_events(rows, seed)
      local expected = core.rows(core.events(reader(rows), { idle = { "nobody" } }))
      assert.same(expected, core.rows(core.events(reader(rows))), "seed " .. seed)
      return #expected
   end

   it("gives the same negative times with functions in which a thread waits", function()
      local rows = { { 1, -9, "I", "F", 1 }, { 1, -7, "I", "G", 1 }, { 1, -4, "O", "G", 1 },
         { 2, -3, "I", "F", 1 }, { 2, -2, "O", "F", 1 }, { 1, 1, "O", "F", 1 } }
      assert.equal(6, same_events(rows, "negative"))
      local times = {}
      for i, event in ipairs(core.rows(core.events(reader(rows), { idle = { "G" } }))) do
         times[i] = event.time
      end
      assert.same({ -9, -7, -7, -3, -2, -2 }, times)
   end)

   it("gives the same events on the fast path", function()
      for seed = 1, 200 do
         same_events((run_machine(seed, seed % 2 == 0)), seed)
      end
   end)

   it("has the right time after a batch on the fast path", function()
      local rows = {}
      for i = 1, 4096 do
         rows[i] = { 1, i, i % 2 == 1 and "I" or "O", "F", i }
      end
      rows[4097] = { 1, nil, "I", "F", 1 }
      same_events(rows, "")
      local events = core.rows(core.events(reader(rows)))
      assert.same({ time = 4096, event = "enter", area = "F", lane = 1 }, events[4097])
   end)

   -- Random operations, names and threads: more rows than a batch has, some with rare features.
   it("gives the same events for random rows on the fast path", function()
      local count = 0
      for seed = 1, 60 do
         math.randomseed(seed)
         local rows, time, letters = {}, 0, ({ "IO", "iIOo", "IIOO", "iIOox" })[seed % 4 + 1]
         local odd = seed % 3 == 0 and 300 or 3000
         for i = 1, math.random(200) == 1 and 9000 or math.random(6000) do
            time = time + math.random(0, 2)
            local at = math.random(#letters)
            rows[i] = { seed % 5 == 0 and math.random(3) or 1, time, letters:sub(at, at),
               "F" .. math.random(i // 50 + 2), i, nil }
            local dice = math.random(odd)
            if dice == 1 then
               rows[i][6] = "gap"
            elseif dice == 2 then
               rows[i][4] = "prfHold"
            elseif dice == 3 then
               rows[i][dice] = nil
            elseif dice == 4 or dice == 5 then
               rows[i][({ 1, 2 })[dice - 3]] = nil
            end
         end
         count = count + same_events(rows, seed)
      end
      assert.is_true(count > 50000)
   end)

   it("finds the same calls after refilter", function()
      for seed = 1, 100 do
         local rows, truth = run_machine(seed, true)
         local kept = core.rows(core.refilter(reader(rows)))
         assert.same(truth, told(core.rows(core.unfilter(core.refilter(reader(rows))))),
            "seed " .. seed)
         assert.is_true(#kept < #rows or #rows < 3)
      end
   end)
end)

-- }======

describe("refilter", function()
   local function kept(text)
      return shown(core.rows(core.refilter(reader(entries(text)))))
   end

   it("keeps the outer operations", function()
      assert.same({ "I MAIN 0", "i A 1", "o A 9", "i LEN 9", "o LEN 9", "O MAIN 10" }, kept [[
         I MAIN 0
         i A 1
         I A 2
         O A 7
         o A 9
         i LEN 9
         o LEN 9
         O MAIN 10]])
   end)

   it("changes nothing in a filtered trace", function()
      local text = { "I MAIN 0", "I A 1", "O A 2", "i LEN 3", "o LEN 4", "O Z 5", "O MAIN 6" }
      assert.same(text, kept(table.concat(text, "\n")))
   end)

   it("keeps both leaves without a call if an open call ends between them", function()
      local text = { "I Y 0", "O X 1", "o Y 2", "o X 3" }
      assert.same(text, kept(table.concat(text, "\n")))
      assert.same({ "O X 1", "I Y 3", "o Y 4" }, kept "O X 1\no X 2\nI Y 3\no Y 4")
   end)

   it("starts afresh after a gap", function()
      assert.same({ "i A 1", "I A 5 gap", "O A 6" }, kept "i A 1\nI A 5 gap\nO A 6")
   end)
end)
