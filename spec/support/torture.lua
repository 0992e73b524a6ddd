-- Kills writers through a ring at random moments, for each stream with all its files, each policy
-- for full rings, and each mode of the recorder, and checks the records that are found afterwards,
-- and while a writer is alive.
--
--    lua5.4 spec/support/torture.lua FOLDER KILLS SEED [CASE]
--
-- The moment of a kill is an event and not a time: some record after the first one or after the
-- reads beside the writer, or a random number of turns of a loop after the start or after the
-- closing has begun, so that any instruction may be the last one.
--
-- Each record has its number in all columns. A writer stores the number of its records in shared
-- memory. After the kill profio.open must find all of these, or one more, each once, unchanged and
-- in order: without any loss (block), with the exact number of lost records (drop), or the last
-- ones and the exact number of the others (overwrite). A reader finds at least the records that a
-- living writer had written before the trace was opened.

local core = require "profio.core"
local lfs = require "lfs"
local processes = require "processes"
local profio = require "profio"

local torture = {}

-- Numbers that writers share: records that were given; of these dropped; 1 close begins, 2 it has
-- ended.
local GIVEN, DROPPED, CLOSING = 1, 2, 3
local shared = processes.share(3)

-- {====== Streams ======

local function params(i)
   return i % 5 == 0 and ("p"):rep(i % 40 + 1) .. i or nil
end

local function xpp_row(i)
   return 1, i * 1000000, i % 2 == 0 and "o" or "i", "FN" .. i % 7, i % 1000, params(i)
end

local function xpp_text_row(i)
   return 1, i * 1000000, i % 2 == 0 and "o" or "i", "FN" .. i % 7, i % 1000
end

local xpp_columns = { "thread", "time", "op", "call", "line", "params" }

-- The order of names differs between the parts of a recording, so handles must not depend on it.
local function named_row(i)
   return i * 100, i % 2 == 0 and "leave" or "enter", "f" .. i * i % 11
end

local function handle_row(i)
   return i * 100, i % 3 == 0 and "write" or "enter", i % 3 == 0 and 0x20000000 or 16 + i % 3,
      i % 3 == 0 and i or nil
end

-- Each stream: what is given to profio.create, the columns, the values of record i, and which
-- column is how many times its number.
local streams = {
   { name = "br", file = "a.br", given = { format = "br" },
     columns = { "spent", "module", "line" }, number = 1, step = 10,
     row = function(i) return i * 10, "M" .. i % 7 .. ".BR", i % 9000 + 1 end },
   { name = "xpp table, memo", file = "a.prf", given = { format = "xpp" },
     columns = xpp_columns, number = 2, step = 1000000, row = xpp_row },
   { name = "xpp packets, memo", file = "a.prf",
     given = { format = "xpp", packets = true, flush_every = 150 },
     columns = xpp_columns, number = 2, step = 1000000, row = xpp_row },
   { name = "xpp text", file = "a.prf",
     given = { format = "xpp", form = "deldbe", header_row = true },
     columns = { "thread", "time", "op", "call", "line" }, number = 2, step = 1000000,
     row = xpp_text_row },
   { name = "xpp text in packets", file = "a.prf",
     given = { format = "xpp", form = "deldbe", header_row = true, packets = true,
        flush_every = 150 },
     columns = { "thread", "time", "op", "call", "line" }, number = 2, step = 1000000,
     row = xpp_text_row },
   { name = "winidea text1", file = "a.txt", given = { format = "winidea", dialect = "text1" },
     columns = { "time", "event", "area" }, number = 1, step = 100, row = named_row },
   { name = "winidea .BIN", file = "a.BIN", given = { format = "winidea", dialect = "bin" },
     columns = { "time", "event", "handle", "value" }, number = 1, step = 100, row = handle_row },
   { name = "winidea text1 and .BIN", file = "a.txt",
     given = { format = "winidea", dialect = "text1", timeline_binary = true },
     columns = { "time", "event", "area" }, number = 1, step = 100, row = named_row },
}

-- }======

-- {====== The verifier ======

local function fail(form, ...)
   error(form:format(...), 0)
end

-- Warnings about the state of a ring that are not damage.
local told = { ["winidea-no-names"] = true, -- a .BIN alone, when its ring is gone
   ["ring-alive"] = true, ["ring-recovered"] = true, ["ring-lost"] = true,
   ["ring-restarted"] = true, ["winidea-version-guessed"] = true }

-- The numbers of the records of a trace, each record compared with what was given; and how many are
-- lost, or nil where no ring says so. A file that is not there, or has nothing in it, has none.
local function numbers_of(stream, path)
   local trace, message = profio.open(path)
   if not trace then
      local size = lfs.attributes(path, "size")
      if size and size > 0 then
         fail("not opened: %s", message)
      end
      return {}, nil
   end
   local numbers, columns = {}, stream.columns
   for a, b, c, d, e, f in trace:each(table.unpack(columns)) do
      local key = stream.number == 1 and a or b
      local i = key // stream.step
      local found, want = { a, b, c, d, e, f }, { stream.row(i) }
      for k = 1, #columns do
         if found[k] ~= want[k] and not (stream.blank and found[k] == 0 and want[k] == nil) then
            fail("record %d: %s is %s, given was %s", i, columns[k], tostring(found[k]),
               tostring(want[k]))
         end
      end
      numbers[#numbers + 1] = i
   end
   for _, warning in ipairs(trace.warnings) do
      if not told[warning.code] then
         fail("warning %s: %s", warning.code, warning.message)
      end
   end
   local lost = trace.info.lost
   trace:close()
   return numbers, lost
end

-- Compare numbers with how many records were given at least and at most, of which some were
-- dropped. Where no ring counts what was lost it is known only in part.
local function check(full, numbers, lost, least, most, dropped)
   local n, last = #numbers, numbers[#numbers] or 0
   for k = 2, n do
      if numbers[k] <= numbers[k - 1] then
         fail("record %d comes after %d", numbers[k], numbers[k - 1])
      end
   end
   if last > most then
      fail("record %d was never given: %d were", last, most)
   elseif full == "block" and (n ~= last or n < least or (lost or 0) ~= 0) then
      fail("%d records to %d, %d lost: %d were given", n, last, lost or 0, least)
   elseif full == "drop" and n + (lost or dropped) < least then
      fail("%d records, %d lost: %d were given", n, lost or dropped, least)
   elseif full == "overwrite" and last < least then
      fail("the last record is %d: %d were given", last, least)
   elseif lost and n + lost < least then
      fail("%d records, %d lost: %d were given", n, lost, least)
   elseif lost and full ~= "drop" and n + lost > most then
      fail("%d records, %d lost: only %d were given", n, lost, most)
   end
end

-- }======

-- {====== Writers of streams ======

-- Lets others run a random number of times.
local function rest_a_while()
   for _ = 1, math.random(0, 20) do
      processes.yield()
   end
end

-- The process that will be killed. It writes in bursts, rests, flushes and dumps now and then, and
-- after some records it closes.
local function write(stream, full, path, closes_at, first, unfinished)
   local given = { ring = { size = "64K", full = full }, unfinished = unfinished }
   for name, value in pairs(stream.given) do
      given[name] = value
   end
   local w <close> = assert(profio.create(path, given))
   local emit = w:emitter(table.unpack(stream.columns))
   local rest = math.random(20, 400)
   for i = first or 1, closes_at do
      local taken, message = emit(stream.row(i))
      assert(not message, message)
      if taken == false then
         shared:add(DROPPED, 1)
      end
      shared:set(GIVEN, i)
      if i % rest == 0 then
         rest = math.random(20, 400)
         local what = math.random(6)
         if what == 1 then
            assert(w:flush())
         elseif what == 2 then
            assert(w:dump())
         elseif what < 5 then
            rest_a_while()
         end
      end
   end
   shared:set(CLOSING, 1)
   assert(w:close())
   shared:set(CLOSING, 2)
   processes.pause()
end

-- The turns of a loop after which a process is killed that closes, or that has just begun, and the
-- records after which another one is killed, are at most so many.
local CLOSING_TURNS <const>, FIRST_TURNS <const>, RECORDS <const> = 4000, 30000, 3000

-- Makes a random number of turns of a loop, so that another process reaches a random instruction.
local function turn(most)
   for _ = 1, math.random(0, most) do
      shared:get(GIVEN)
   end
end

-- Waits until a process has given so many records, or closes, or has ended.
local function wait_for_records(child, count)
   while shared:get(GIVEN) < count and shared:get(CLOSING) == 0
      and not processes.has_ended(child) do
      processes.yield()
   end
end

-- Starts a process, and kills it at a random moment: 1 while it closes, 2 when it has just begun, 3
-- and 4 at some record. `watch` is called while it is alive, at moment 3.
local function kill_one(action, watch)
   for number = GIVEN, CLOSING do
      shared:set(number, 0)
   end
   local moment = math.random(4)
   local seed = math.random(1 << 30)
   local closes_at = moment == 1 and math.random(1500) or 1 << 40
   collectgarbage() -- readers have threads, which the new process has not
   collectgarbage()
   local child = processes.fork()
   if child == 0 then
      math.randomseed(seed)
      local done, message = xpcall(action, debug.traceback, closes_at)
      io.stderr:write(done and "" or message, "\n")
      processes.leave(1)
   end
   if moment == 1 then
      while shared:get(CLOSING) == 0 and not processes.has_ended(child) do
         processes.yield()
      end
      turn(CLOSING_TURNS)
   elseif moment == 2 then
      turn(FIRST_TURNS)
   else
      wait_for_records(child, 1)
      if moment == 3 then
         watch()
      end
      wait_for_records(child, shared:get(GIVEN) + math.random(0, RECORDS))
   end
   processes.kill(child)
   local status = processes.wait(child)
   if status ~= 137 then
      fail("the writer ended by itself, status %d", status)
   end
end

-- One round of a stream: returns the records that were found, and the number of reads of a living
-- writer.
local function kill_writer(stream, full, folder)
   local path = folder .. "/" .. stream.file
   local reads = 0
   kill_one(function(closes_at) write(stream, full, path, closes_at) end, function()
      for _ = 1, 3 do
         local least = shared:get(GIVEN)
         local numbers, lost = numbers_of(stream, path)
         check(full, numbers, lost, least, shared:get(GIVEN) + 1, shared:get(DROPPED) + 1)
         reads = reads + 1
      end
   end)
   local given = shared:get(GIVEN)
   local numbers, lost = numbers_of(stream, path)
   check(full, numbers, lost, given, given + 1, shared:get(DROPPED))
   return numbers, reads
end

-- }======

-- {====== Recorders ======

local program = [[
local shared = ...
local function f1(i) shared:set(1, i) end
local function f2(i) shared:set(1, i) end
local function f3(i) shared:set(1, i) end
local function step(i)
   f1(i * 3 + 1)
   f2(i * 3 + 2)
   f3(i * 3 + 3)
end
for i = 0, 1 << 40 do
   step(i)
end
]]

-- Each word of a cycle comes after the one before it; how many there are.
local function count_cycle(words, cycle)
   local next_of, n = {}, 0
   for k, word in ipairs(cycle) do
      next_of[word] = cycle[k % #cycle + 1]
   end
   local wanted = cycle[1]
   for _, word in ipairs(words) do
      if word ~= wanted then
         fail("%s after %d of a cycle, where %s should be", word, n, wanted)
      end
      wanted, n = next_of[word], n + 1
   end
   return n
end

local function words_of(trace, column, is_one)
   local words = {}
   for value, event in trace:each(column, is_one.event and "event" or nil) do
      local word = is_one[value]
      if word and (not is_one.event or event == is_one.event) then
         words[#words + 1] = word
      end
   end
   return words
end

-- Returns the recorded calls of f1, f2 and f3.
local function calls_of(trace)
   if trace.format == "xpp" then
      local words = {}
      for call, op in trace:each("call", "op") do
         local word = op == "i" and call:match "f[123]"
         words[#words + 1] = word or nil
      end
      return count_cycle(words, { "f1", "f2", "f3" })
   end
   return count_cycle(words_of(trace, "area", { f1 = "f1", f2 = "f2", f3 = "f3", event = "enter" }),
      { "f1", "f2", "f3" })
end

local recorders = {
   { name = "recorder timed", given = { mode = "timed" }, file = "r.br", format = "br",
     count = function(trace)
      local lines = {}
      for line in trace:each "line" do
         if line >= 6 and line <= 8 then -- a line counts each time something is called from it
            lines[#lines + 1] = lines[#lines] ~= line and line or nil
         end
      end
      return count_cycle(lines, { 6, 7, 8 }), 3
   end },
   { name = "recorder sampled", given = { mode = "sampled", interval = "100us" }, file = "r.br",
     format = "br", count = function(trace) return trace:count(), 1 << 40 end },
   { name = "recorder calls, winidea", given = { mode = "calls" }, file = "r.txt",
     count = function(trace) return calls_of(trace), 1 end },
   { name = "recorder calls, xpp", given = { mode = "calls", format = "xpp" }, file = "r.prf",
     count = function(trace) return calls_of(trace), 1 end },
   { name = "recorder aggregate", given = { mode = "aggregate" }, file = "r.pb.gz",
     aggregates = true },
}

local function record(case, path, closes_at)
   local recorder = require "profio.recorder"
   local given = { path = path, ring = { size = "64K" } }
   for name, value in pairs(case.given) do
      given[name] = value
   end
   local run = load(program) -- its text names its functions
   local stops = closes_at < 1 << 40
   local stopper = { set = function(_, number, i)
      shared:set(number, i)
      if stops and i >= closes_at then
         error "stop"
      end
   end }
   assert(recorder.start(given))
   pcall(run, stops and stopper or shared)
   shared:set(CLOSING, 1)
   recorder.stop()
   shared:set(CLOSING, 2)
   processes.pause()
end

-- Returns the calls that are found; none if nothing was recorded.
local function recorded(case, path)
   local trace, message = profio.open(path, { format = case.format })
   if not trace then
      if (lfs.attributes(path, "size") or 0) > 0 then
         fail("not opened: %s", message)
      end
      return 0, 1
   elseif case.aggregates then
      trace:close()
      return 0, 1 << 40
   end
   local n, slack = case.count(trace)
   for _, warning in ipairs(trace.warnings) do
      if not told[warning.code] then
         fail("warning %s: %s", warning.code, warning.message)
      end
   end
   trace:close()
   return n, slack
end

local function kill_recorder(case, folder)
   local path = folder .. "/" .. case.file
   local reads = 0
   kill_one(function(closes_at) record(case, path, closes_at) end, function()
      local least = shared:get(GIVEN)
      local n, slack = recorded(case, path)
      if not case.aggregates and n + slack < least then
         fail("%d calls found beside the writer, %d were made", n, least)
      end
      reads = reads + 1
   end)
   local n, slack = recorded(case, path)
   local given = shared:get(GIVEN)
   if case.aggregates and shared:get(CLOSING) < 2 then
      return 0, reads
   elseif n + slack < given or slack < 1000 and n > given + 1 then
      fail("%d calls found, %d were made", n, given)
   end
   return n, reads
end

-- }======

-- {====== Rounds ======

local function clean(folder)
   for name in lfs.dir(folder) do
      os.remove(folder .. "/" .. name)
   end
end

-- Kills a writer, then another one at the same path. The records of the first must be at the path,
-- or in the file that is kept beside it.
local function kill_two(stream, full, folder)
   local first, reads = kill_writer(stream, full, folder)
   local path = folder .. "/" .. stream.file
   local ring = core.recover(path .. ".ring")
   if #first == 0 or not ring or ring.is_closed then -- a file that is complete is replaced
      return first, reads, 1
   end
   local kept = folder .. "/" .. stream.file:gsub("%.", "-1.", 1)
   kill_one(function(closes_at) write(stream, full, path, closes_at) end, function() end)
   local again = numbers_of(stream, lfs.attributes(kept) and kept or path)
   if #again ~= #first or again[1] ~= first[1] or again[#again] ~= first[#first] then
      fail("of %d records that a killed writer left %d are left", #first, #again)
   end
   if shared:get(GIVEN) > 0 then
      local given = shared:get(GIVEN)
      local numbers, lost = numbers_of(stream, path)
      check(full, numbers, lost, given, given + 1, shared:get(DROPPED))
   end
   return first, reads, 2
end

-- Kills a writer, then another one that appends: all records of both must be at the path.
local function kill_appended(stream, _, folder)
   local path = folder .. "/" .. stream.file
   local all, reads = kill_writer(stream, "block", folder)
   local kills = 1
   repeat
      local ring = core.recover(path .. ".ring")
      if #all == 0 or not ring or ring.is_closed then
         break
      end
      kill_one(function(closes_at)
         write(stream, "block", path, closes_at + #all, #all + 1, "append")
      end, function() end)
      local given = math.max(shared:get(GIVEN), #all)
      local numbers, lost = numbers_of(stream, path)
      check("block", numbers, lost, given, given + 1, 0)
      all, kills = numbers, kills + 1
   until kills == 4
   return all, reads, kills
end

-- All cases: a name, and a function that kills: records found, live reads, kills.
local function cases()
   local list = {}
   for _, stream in ipairs(streams) do
      for _, full in ipairs { "block", "drop", "overwrite" } do
         list[#list + 1] = { name = stream.name .. ", " .. full, kill = function(folder)
            local how = math.random(4)
            if how <= 2 then
               local kill = how == 2 and full == "block" and kill_appended or kill_two
               local numbers, reads, kills = kill(stream, full, folder)
               return #numbers, reads, kills
            end
            local numbers, reads = kill_writer(stream, full, folder)
            return #numbers, reads, 1
         end }
      end
   end
   for _, case in ipairs(recorders) do
      list[#list + 1] = { name = case.name, kill = function(folder)
         local n, reads = kill_recorder(case, folder)
         return n, reads, 1
      end }
   end
   return list
end

---Kills this many writers, all cases equally often. Raises at the first wrong result and leaves the
---files.
---@param folder string
---@param kills integer
---@param seed integer
---@param only string|nil a pattern for the names of cases
function torture.run(folder, kills, seed, only)
   local chosen, sums, total = {}, {}, 0
   math.randomseed(seed)
   for _, case in ipairs(cases()) do
      if not only or case.name:find(only) then
         chosen[#chosen + 1] = case
         sums[case] = { kills = 0, records = 0, reads = 0 }
      end
   end
   while total < kills do
      for _, case in ipairs(chosen) do
         clean(folder)
         local done, n, reads, k = pcall(case.kill, folder)
         if not done then
            error(("%s: %s (seed %d, after %d kills; the files are in %s)"):format(case.name, n,
               seed, total, folder), 0)
         end
         local sum = sums[case]
         sum.kills, sum.records, sum.reads = sum.kills + k, sum.records + n, sum.reads + reads
         total = total + k
      end
   end
   clean(folder)
   for _, case in ipairs(chosen) do
      local sum = sums[case]
      print(("%-34s %6d kills %9d records found %6d live reads"):format(case.name, sum.kills,
         sum.records, sum.reads))
   end
   print(("%d kills, no record lost, doubled, moved or invented"):format(total))
end

torture.streams, torture.numbers_of = streams, numbers_of

if arg and arg[0] and arg[0]:match "torture%.lua$" then
   local done, message = pcall(torture.run, arg[1], math.tointeger(arg[2]) or 100,
      math.tointeger(arg[3]) or 1, arg[4])
   if not done then
      io.stderr:write(message, "\n")
      os.exit(1)
   end
end

return torture
