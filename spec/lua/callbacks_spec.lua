-- Lua functions that are called while a reader of the core waits for them: each combination of an
-- action, a caller and a consumer of rows must give a clear error or the right result.
--
-- Long: each combination of an action, a caller and a consumer.
-- Costly: each combination takes as long as a small spec.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local rounds = require "spec.support.rounds"

local ROWS = 4500 -- more than a batch

local folder = command.folder .. "/callbacks"
local path = folder .. "/calls.prf"

-- The rows of the trace: calls of two functions, one in the other.
local function entry(i)
   local names = { "OUTER", "INNER", "INNER", "OUTER" }
   return i * 1000000, i % 4 == 1 and "i" or i % 4 == 2 and "i" or "o", names[(i - 1) % 4 + 1],
      "p" .. i
end

-- The action of a callback, once in each reading; the combination under test sets it.
local at_row, action, row

local function act()
   row = row + 1
   if row == at_row then
      action()
   end
   return true
end

profio.register {
   name = "disturbed",
   score = function() return 0 end,
   main = "events",
   tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" },
      { "text", "bytes" } } },
   open = function(source)
      return { events = function(put)
         for i = 1, ROWS do
            local time, op, call, text = entry(i)
            act()
            put(time, op == "i" and "enter" or "leave", call, text)
            if i % 1000 == 0 then
               source:read(0, 1)
            end
         end
      end }
   end,
}

-- {====== Actions of the function ======

-- Each gets the state of the combination: the trace, and the method that was called (`again`).
local actions = {
   close = function(case) case.trace:close() end,
   error = function() error({ "mine" }, 0) end,
   yield = function() coroutine.yield "yielded" end,
   ["open another trace"] = function()
      local other <close> = assert(profio.open(path))
      assert(other.entries:filter(function() return true end, "params"):count() == ROWS)
   end,
   ["collect garbage"] = function()
      collectgarbage()
      collectgarbage()
   end,
   ["close when collected"] = function(case)
      local trace = case.trace
      setmetatable({}, { __gc = function() trace:close() end })
      collectgarbage()
   end,
   ["read again"] = function(case) case.again() end,
}

-- }======


-- {====== Callers ======

local find = string.find

-- Texts of the trace; the library of profio looks for patterns in others.
local function is_of_a_row(text)
   return text == "OUTER" or text == "INNER" or find(text, "^p%d+$") ~= nil
end

-- Each gives a view over `view`, of which `column` is a column.
local callbacks = {
   filter = function(view, column) return view:filter(act, column) end,
   ["filter of nothing"] = function(view, column)
      return view:filter(function() return not act() end, column)
   end,
   match = function(view, _, name)
      rawset(string, "find", function(text, ...)
         if is_of_a_row(text) then
            act()
         end
         return find(text, ...)
      end)
      return view:where { [name] = profio.match "." }
   end,
   ["group key"] = function(view, column)
      return view:group({ function(value) return act() and value end, column, name = "key" })
   end,
   ["group key of a record"] = function(view)
      return view:group(function(record) return act() and next(record) and 1 end)
   end,
   derive = function(view, column)
      return view:filter(act, column):derive { ("more = %s + 1"):format(column) }
   end,
   limit = function(view, column) return view:filter(act, column):limit(ROWS - 1, 1) end,
   ["two filters"] = function(view, column)
      return view:filter(act, column):where { [column] = profio.between(0, 1 << 62) }
         :filter(act, column)
   end,
}

-- }======


-- {====== Consumers of rows ======

local function collected(view, method, case)
   local list = {}
   local iterator = view[method](view)
   local column = method == "records" and view.columns[1]
   case.again = iterator
   for first, second in iterator do
      if column then
         first, second = first[column], nil
      end
      list[#list + 1] = tostring(first) .. " " .. tostring(second)
   end
   return table.concat(list, "\n")
end

local function as_text(value)
   return type(value) == "table" and #value .. " rows" or tostring(value)
end

local consumers = {
   each = function(view, case) return collected(view, "each", case) end,
   records = function(view, case) return collected(view, "records", case) end,
   rows = function(view) return as_text(view:rows()) end,
   count = function(view) return view:count() end,
   group = function(view)
      return view:group(view.columns[1]):aggregate { "n = count" }:write { output = "csv" }
   end,
   sort = function(view) return view:sort("-" .. view.columns[1]):write { output = "csv" } end,
   json = function(view) return view:write { output = "json" } end,
   file = function(view)
      local file <close> = assert(io.open(folder .. "/rows.txt", "w+b"))
      assert(view:write({ output = "ndjson" }, file))
      file:seek "set"
      return file:read "a"
   end,
}

-- Consumers that read a whole trace.
local readings = {
   calls = function(trace) return trace:calls():write { output = "csv" } end,
   statistics = function(trace) return trace:call_statistics():write { output = "csv" } end,
   profile = function(trace)
      local profile = trace:profile()
      return profile:flat():write { output = "csv" }
   end,
   grouped = function(trace)
      return trace.events:group("area"):aggregate { "n = count", "d = p50(time)" }:write {
         output = "csv" }
   end,
}

for _, kind in ipairs(require "spec.support.kinds") do
   readings["export " .. kind] = function(trace)
      assert(trace:export(kind, folder .. "/exported"))
      return command.read(folder .. "/exported")
   end
end

-- }======

local function write_trace()
   local w = assert(profio.create(path, { format = "xpp" }))
   for i = 1, ROWS do
      local time, op, call, params = entry(i)
      w:write { thread = 1, time = time, op = op, call = call, params = params }
   end
   assert(w:close())
end

-- Runs `read` in a coroutine, disturbed by action `name` at a row, or by nothing without them:
-- whether it was left by neither an error nor a yield, and what it gave.
local function run(case, name, at, read)
   at_row, row = at, 0
   action = function()
      at_row = -1
      actions[name](case)
   end
   local thread = coroutine.create(read)
   local ok, result = coroutine.resume(thread)
   if ok and coroutine.status(thread) ~= "dead" then
      ok, result = false, "yielded out of the reader"
   end
   rawset(string, "find", find)
   case.trace:close()
   collectgarbage()
   return ok, result
end

local says = {
   close = "e is closed", -- the trace, or the source of a decoder
   ["close when collected"] = "e is closed",
   yield = "attempt to yield across a C%-call boundary",
   ["read again"] = "calls the iterator that calls it",
}

-- Returns the reason why a result is wrong, or nil. `may` has the allowed results beside an error.
local function wrong(name, ok, result, right)
   if ok then
      if says[name] and name ~= "yield" and name ~= "read again" or name == "error" then
         return "no error"
      end
      return result ~= right and "another result: " .. tostring(result):sub(1, 200) or nil
   elseif name == "error" then
      return not (type(result) == "table" and result[1] == "mine") and tostring(result) or nil
   end
   return not (says[name] and find(tostring(result), says[name])) and tostring(result) or nil
end

local function sorted_names(list)
   local names = {}
   for name in pairs(list) do
      names[#names + 1] = name
   end
   table.sort(names)
   return names
end

-- Except in `make test-all`, an action at the first row is tried over one of the four bases, and
-- one in the second batch over one of the two that have it; `number` states which. So each
-- callback, action and consumer still meet.
local function is_chosen(number, at)
   return not number or rounds.all or number % (at == 1 and 4 or 2) == 0
end

-- Tries the actions, at the first row and maybe at one of the second batch. `number` is that of the
-- base, callback and consumer; nil tries all.
local function disturb(what, open, read, is_once, number)
   local bad = {}
   local function once(name, at)
      local case = { trace = open() }
      case.again = function() read(case) end
      return run(case, name, at, function() return read(case) end)
   end
   local plain, right = once()
   assert(plain, ("%s: %s"):format(what, tostring(right)))
   for i, name in ipairs(sorted_names(actions)) do
      for _, at in ipairs { 1, not is_once and ROWS - 100 or nil } do
         if is_chosen(number and number + i, at) then
            local ok, result = once(name, at)
            local why = at_row == -1 and wrong(name, ok, result, right)
            if why then
               bad[#bad + 1] = ("%s, %s at row %d: %s"):format(what, name, at, why)
            end
         end
      end
   end
   return bad
end

setup(function()
   disk.fresh(folder)
   write_trace()
end)

teardown(function()
   disk.remove(folder)
end)

local function open_file()
   return assert(profio.open(path))
end

describe("a Lua function that is called for rows", function()
   local bases = { -- those with actions in the second batch are neighbours: see is_chosen
      { "calls", "start", "area", function(trace) return trace:calls() end },
      { "entries", "time", "call", function(trace) return trace.entries end },
      { "unfiltered", "time", "call", function(trace) return trace.entries:unfilter() end },
      { "grouped", "time", "params", function(trace)
         return trace.entries:group("time", "params")
      end },
   }
   for i, one in ipairs(bases) do
      local base, number, name, view_of = table.unpack(one)
      for j, callback in ipairs(sorted_names(callbacks)) do
         it(("may do anything: %s over %s"):format(callback, base), function()
            local bad = {}
            for k, consumer in ipairs(sorted_names(consumers)) do
               local found = disturb(consumer, open_file, function(case)
                  return consumers[consumer](callbacks[callback](view_of(case.trace), number, name),
                     case)
               end, base == "calls" or base == "grouped", i + j + k)
               table.move(found, 1, #found, #bad + 1, bad)
            end
            assert.same({}, bad)
         end)
      end
   end
end)

describe("the file that rows are written into", function()
   it("cannot be closed by a function that is called for them", function()
      local trace <close> = open_file()
      local file <close> = assert(io.open(folder .. "/rows.txt", "w+b"))
      local refused = 0
      local view = trace.entries:filter(function()
         local ok, message = pcall(file.close, file)
         assert(not ok and message:find "close it afterwards")
         refused = refused + 1
         return true
      end, "time")
      assert(view:write({ output = "csv" }, file))
      assert.equal(ROWS, refused)
      assert.is_true(file:close())
      assert.equal(ROWS + 1, select(2, command.read(folder .. "/rows.txt"):gsub("\n", "")))
   end)
end)

describe("a decoder in Lua", function()
   local function open_disturbed()
      return assert(profio.open({ data = "x" }, { format = "disturbed" }))
   end

   for _, reading in ipairs(sorted_names(readings)) do
      it("may do anything: " .. reading, function()
         assert.same({}, disturb(reading, open_disturbed, function(case)
            return readings[reading](case.trace)
         end))
      end)
   end

   for _, consumer in ipairs(sorted_names(consumers)) do
      it("may do anything: " .. consumer, function()
         assert.same({}, disturb(consumer, open_disturbed, function(case)
            return consumers[consumer](case.trace.events, case)
         end))
      end)
   end
end)
