-- Tables of many batches use two threads: the results are compared with a model in Lua.
--
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local core = require "profio.core"
local profiles = require "spec.support.profiles"
local profio = require "profio"

local ROWS <const> = 30000 -- more than the batches that are taken before a second thread starts
local SYMBOLS <const>, BASE <const>, STEP <const>, SIZE <const> = 500, 0x1000, 64, 24

-- Symbols followed by gaps that are wider than padding.
local function symbols()
   local list = {}
   for i = 1, SYMBOLS do
      list[i] = { ("f%03d"):format(i), BASE + STEP * (i - 1), size = SIZE }
   end
   return list
end

local function is_outside(address)
   return address < BASE or address >= BASE + STEP * (SYMBOLS - 1) + SIZE
end

-- The name of the function of an address: a gap between two symbols is named by its start, and
-- an address before or after all symbols by itself.
local function owner(address)
   if is_outside(address) then
      return ("0x%x"):format(address)
   end
   local i = (address - BASE) // STEP
   local start = BASE + STEP * i
   return address < start + SIZE and ("f%03d"):format(i + 1) or ("0x%x"):format(start + SIZE)
end

local function random_address()
   return BASE - 8 + math.random(0, STEP * SYMBOLS + 100)
end

-- Arcs, and the calls of each pair by name.
local function random_arcs()
   local arcs, calls = {}, {}
   for i = 1, ROWS do
      local from, to = random_address(), random_address()
      arcs[i] = { from, to, math.random(1, 9) }
      local key = (is_outside(from) and "" or owner(from)) .. ">" .. owner(to)
      calls[key] = (calls[key] or 0) + arcs[i][3]
   end
   return arcs, calls
end

local function calls_of(profile)
   local result = {}
   for _, arc in ipairs(core.rows(profile:graph { zeros = true })) do
      local key = (arc.caller or "") .. ">" .. arc.callee
      result[key] = (result[key] or 0) + arc.calls
   end
   return result
end

-- A format in Lua: names that it adds while it is read go into the same dictionary.
profio.register {
   name = "pipelined",
   score = function(bytes)
      return bytes == "RELAYED\n" and 90 or 0
   end,
   main = "arcs",
   tables = {
      arcs = { { "from", "addr" }, { "to", "addr" }, { "count", "int" }, { "word", "name" } },
      histogram = { { "low", "addr" }, { "high", "addr" }, { "count", "int" }, { "word", "name" } },
   },
   options = { { name = "stop", type = "int", default = 0, help = "raise at this row" } },
   open = function(_, options)
      local function rows(put)
         for i = 1, ROWS do
            if i == options.stop then
               error("stopped at row " .. i, 0)
            end
            put(i * 16, i * 16 + 8, i, "word " .. i)
         end
      end
      return { arcs = rows, histogram = rows }
   end,
}

-- Some notes are missing, some are too long to wait for their turn.
local function note(i)
   if i % 7 == 0 then
      return nil
   end
   return i % 9001 == 0 and ("x"):rep(300000) or ("n" .. i):rep(i % 5)
end

profio.register {
   name = "noted",
   score = function(bytes)
      return bytes == "NOTED\n" and 90 or 0
   end,
   tables = { notes = { { "word", "name" }, { "note", "bytes" } } },
   open = function()
      return { notes = function(put)
         for i = 1, ROWS do
            put("word " .. i, note(i))
         end
      end }
   end,
}

-- Areas, most of them new.
local function area(i)
   return { name = "area " .. i // 3, file = i % 2 == 0 and "a.c" or nil, line = i % 5 + 1 }
end

profio.register {
   name = "areas",
   score = function(bytes)
      return bytes == "AREAS\n" and 90 or 0
   end,
   tables = { places = { { "place", "area" }, { "around", "area" } } },
   open = function()
      return { places = function(put)
         for i = 1, ROWS do
            put(area(i), i % 4 > 0 and area(i + 1) or nil)
         end
      end }
   end,
}

describe("tables of many batches", function()
   it("are written as text while the decoder adds areas", function()
      local trace <close> = assert(profio.open { data = "AREAS\n" })
      local lines = { "place,around" }
      for i = 1, ROWS do
         lines[i + 1] = ("area %d,%s"):format(i // 3,
            i % 4 > 0 and "area " .. (i + 1) // 3 or "")
      end
      assert.is_true(trace.places:write { output = "csv" } == table.concat(lines, "\n") .. "\n")
   end)

   it("give the arcs of the model", function()
      for seed = 1, 3 do
         math.randomseed(seed)
         local arcs, calls = random_arcs()
         local given = { symbols = symbols(), arcs = arcs }
         assert.same(calls, calls_of(assert(profiles.make(given))))
      end
   end)

   -- As the C library writes them; those from outside the program are last.
   it("give the arcs of the model if they are in the order of callers", function()
      for seed = 1, 3 do
         math.randomseed(seed)
         local arcs, calls, callers = {}, {}, {}
         for i = 1, ROWS do
            local from = i % 10 > 0 and BASE + STEP * math.random(0, SYMBOLS - 1) or 0
            local to = random_address()
            arcs[i] = { from, to, math.random(1, 9) }
            local key = (from > 0 and owner(from) or "") .. ">" .. owner(to)
            calls[key] = (calls[key] or 0) + arcs[i][3]
            callers[owner(to)] = callers[owner(to)] or {}
            callers[owner(to)][from > 0 and owner(from) or ""] = true
         end
         table.sort(arcs, function(a, b)
            return (a[1] - 1) % (1 << 32) < (b[1] - 1) % (1 << 32)
         end)
         local profile = assert(profiles.make { symbols = symbols(), arcs = arcs })
         assert.same(calls, calls_of(profile))
         local found = {}
         for _, f in ipairs(core.rows(profile:functions())) do
            local name = f["function"]
            for _, arc in ipairs(core.rows(profile:callers(f.number))) do
               found[name] = found[name] or {}
               found[name][arc.caller or ""] = true
            end
         end
         assert.same(callers, found)
      end
   end)

   it("give the weights of the model", function()
      math.randomseed(7)
      local bins, weights = {}, {}
      for i = 1, ROWS do
         local low = random_address()
         bins[i] = { low, low + 1, math.random(0, 3), math.random(0, 3) }
         weights[owner(low)] = (weights[owner(low)] or 0) + bins[i][3]
      end
      local profile = assert(profiles.make { symbols = symbols(), bins = bins })
      local found = {}
      for name, row in pairs(profiles.flat(profile, { metric = "samples", zeros = true })) do
         found[name] = row.self
      end
      for name, weight in pairs(weights) do
         assert.same(weight, found[name] or 0, name)
      end
   end)

   it("have their pseudo functions in the order of the rows", function()
      local arcs = {}
      for i = 1, ROWS do
         arcs[i] = { 0, BASE + i % 1000 * 8 * 7, 1 }
      end
      local expected, seen = {}, {}
      for _, arc in ipairs(arcs) do
         if not seen[arc[2]] then
            seen[arc[2]] = true
            expected[#expected + 1] = ("0x%x"):format(arc[2])
         end
      end
      local profile = assert(profiles.make { arcs = arcs })
      assert.same(expected, profiles.column(profile:functions(), "function"))
   end)

   it("may come from a decoder in Lua that adds names meanwhile", function()
      local trace <close> = assert(profio.open { data = "RELAYED\n" })
      local profile = trace:profile()
      local flat = {}
      for name, weight in profile:flat { metric = "samples" }:each("function", "self") do
         flat[name] = weight
      end
      for i = 1, ROWS do
         assert(flat[("0x%x"):format(16 * i)] == i, i)
      end
   end)

   it("are written as text while the decoder adds names and notes", function()
      local trace <close> = assert(profio.open { data = "NOTED\n" })
      local expected = { "word,note" }
      for i = 1, ROWS do
         local text = note(i)
         expected[i + 1] = ("word %d,%s"):format(i, text == "" and '""' or text or "")
      end
      expected[#expected + 1] = ""
      local text = trace.notes:write { output = "csv" }
      assert.is_true(text == table.concat(expected, "\n"))
   end)

   -- A gmon.out whose bin i has i % 100 hits; it is read much faster than it is written.
   local function many_bins(count)
      local hits = {}
      for i = 0, count - 1 do
         hits[i + 1] = ("<I2"):pack(i % 100)
      end
      return "gmon" .. ("<I4"):pack(1) .. ("\0"):rep(13)
         .. ("<I8I8I4I4c15c1"):pack(BASE, BASE + 4 * count, count, 100, "seconds", "s")
         .. table.concat(hits)
   end

   local forms = { csv = "0x%x,%d", tsv = "0x%x\t%d", ndjson = '{"low":"0x%x","count":%d}',
      json = '{"low":"0x%x","count":%d}' }
   local first = { csv = "low,count\n", tsv = "low\tcount\n", json = "[\n" }

   it("are written as the text of the model by two threads", function()
      local count = 250000
      local trace <close> = assert(profio.open { data = many_bins(count) })
      for output, form in pairs(forms) do
         local lines = {}
         for i = 0, count - 1 do
            lines[i + 1] = form:format(BASE + 4 * i, i % 100)
         end
         local expected = (first[output] or "")
            .. table.concat(lines, output == "json" and ",\n" or "\n")
            .. (output == "json" and "\n]\n" or "\n")
         local rows = trace.histogram:where { low = profio.between(0, math.maxinteger) }
         local options = { output = output, columns = { "low", "count" } }
         assert.is_true(rows:write(options) == expected, output)
         local file <close> = assert(io.tmpfile())
         assert(core.write_rows(rows:reader(), options, file))
         file:seek "set"
         assert.is_true(file:read "a" == expected, output .. " in a file")
      end
      local long, lines = " " .. ("x"):rep(400) .. "\n", {} -- more than is written ahead
      for i = 0, 89999 do
         lines[i + 1] = i % 100 .. long
      end
      assert.is_true(core.write_listing(trace.histogram:limit(#lines):reader(),
         { template = "{count}" .. long }) == table.concat(lines))
      local full <close> = assert(io.open("/dev/full", "w"))
      assert.same({ nil, "write failed: No space left on device", "io" },
         { core.write_rows(trace.histogram:reader(), { output = "csv" }, full) })
   end)

   it("are not written after a stage has closed the trace", function()
      local bytes = "gmon" .. ("<I4"):pack(1) .. ("\0"):rep(13)
         .. ("<I8I8I4I4c15c1"):pack(BASE, BASE + 4 * ROWS, ROWS, 100, "seconds", "s")
         .. ("\1\0"):rep(ROWS)
      local trace <close> = assert(profio.open { data = bytes })
      local view = trace.histogram:filter(function(low)
         if low == BASE + 4 * 25000 then
            trace:close()
         end
         return true
      end, "low")
      assert.error_matches(function()
         view:write { output = "csv" }
      end, "trace is closed")
   end)

   it("return the error of the reader", function()
      local trace <close> = assert(profio.open({ data = "RELAYED\n" }, { stop = 25000 }))
      assert.error_matches(function()
         assert(trace:profile())
      end, "stopped at row 25000")
   end)

   it("return the error of the consumer", function()
      local bins = {}
      for i = 1, ROWS do
         bins[i] = { 2 * i, 2 * i + 2, 1, 1, set = i == 25000 and 3 or 0 }
      end
      local profile, message, code = profiles.make { symbols = { { "a", 0 }, { "b", 60000 } },
         bins = bins, compat = true, sets = { { 0, 0, 2 * ROWS, ROWS, 100, "seconds", "s" } } }
      assert.is_nil(profile)
      assert.matches("a set that table sets lacks", message)
      assert.same("unsupported", code)
   end)
end)
