-- Views without rows have the columns and types that they have with rows.
--
-- Tags: user, stressed.

local core = require "profio.core"
local events = require "spec.support.events"
local exports = require "profio.internal.exporting.export_list"
local profio = require "profio"
local view = require "profio.view"

local has_store = pcall(require, "profio.store")

local fields = { { "thread", "int" }, { "time", "int" }, { "x", "num" }, { "at", "addr" },
   { "handle", "handle" }, { "flag", "bool" }, { "op", "name" }, { "call", "name" },
   { "area", "area" }, { "stack", "stack" }, { "text", "bytes" } }

local rows = {
   { 1, 10, 1.5, 16, 7, true, "i", "MAIN", "f", 0, "a" },
   { 1, 20, 2.5, 32, 8, false, "O", "MAIN", "g", 1, "b" },
}

local dictionary = core.dictionary()

local function over(list)
   return view.over(function()
      return core.rows_reader(fields, list, dictionary)
   end)
end

local function double(n)
   return n * 2
end

-- Arguments for the methods that return a view, by the name of the method.
local made = {
   where = { { { time = profio.between(1, 99), call = "MAIN", x = 1.5, flag = true } },
      { { call = profio.match "^M", text = profio.no "z", area = profio.missing } } },
   filter = { { function() return true end, "time" } },
   limit = { { 1 }, { 1, 1 } },
   range = { { 0, 100 }, { nil, 5, "thread", n = 3 } },
   with_area = { {} },
   merge = { { over {} }, { over {}, "thread" } },
   join_asof = { { over(rows), { by = "call", columns = { "x", "text" } } }, { over {} } },
   sort = { { "time", "-x", "call", "text" } },
   unfilter = { {} },
   refilter = { {} },
   derive = { { { "a = time - thread", "b = x / total(time)", "c = running(at)", "d = handle < 9",
      "e = flag + 1", "g = prev(text) by call", "h = next(area)" } } },
   pivot = { { "op", "time", { "i", { name = "O", column = "out" } } } },
   group = { { "call" }, { "bucket(time, 10)", "octave(thread)", "bucket(x, 0.5)" },
      { { double, "time", name = "k", type = "int" }, { tostring, "at", type = "name" } },
      { { function(r) return r.x end, name = "r", type = "num" } } },
   aggregate = { { { "count", "n = count(x)", "s = sum(time)", "t = sum(x)", "l = min(text)",
      "m = max(call)", "mean = mean(time)", "d = stddev(x)", "f = first(area)", "z = last(stack)",
      "u = distinct(call)", "p = p50(time)", "q = p99.9(x)" } } },
}

-- Checks for the methods that return anything else, by name: of a view without rows and one with.
local answers = {
   fields = function(none, some)
      assert.same(some:fields(), none:fields())
   end,
   each = function(none)
      for _ in none:each() do
         error "a row"
      end
      for _ in none:each("text", "x") do
         error "a row"
      end
   end,
   records = function(none)
      for _ in none:records() do
         error "a row"
      end
   end,
   rows = function(none)
      assert.same({}, none:rows())
      assert.same({}, none:rows "time")
   end,
   count = function(none)
      assert.equal(0, none:count())
   end,
   write = function(none, some)
      for _, output in ipairs { "csv", "tsv" } do
         local head = none:write { output = output }
         assert.equal(head, some:write { output = output }:sub(1, #head))
      end
      assert.equal("[]\n", none:write { output = "json" })
      assert.equal("", none:write { output = "ndjson" })
      assert.is_string(none:write { output = "text" })
   end,
   export = function(none, some)
      for _, export in ipairs(exports.all()) do
         if export.takes == "rows" and (export.name ~= "sqlite" or has_store) then
            local head = assert(none:export(export.name))
            if export.name:find "sv$" then
               assert.equal(head, assert(some:export(export.name)):sub(1, #head))
            end
         end
      end
   end,
   print = function(none)
      local stdout <const> = io.stdout
      io.stdout = assert(io.tmpfile()) -- luacheck: ignore 122
      local ok, message = pcall(none.print, none)
      io.stdout:seek "set"
      local text = io.stdout:read "a"
      io.stdout:close()
      io.stdout = stdout -- luacheck: ignore 122
      assert.is_true(ok, message)
      assert.equal(none:write { output = "text" }, text)
   end,
   reader = function(none, some)
      assert.same(some:reader():fields(), none:reader():fields())
   end,
}

local function types_of(of)
   local list = {}
   for i, field in ipairs(of:fields()) do
      list[i] = field.name .. " " .. field.type
   end
   return list
end

describe("a view without rows", function()
   it("returns the same kinds of results as a view with rows", function()
      local none, some = over {}, over(rows)
      for name in pairs(view.methods) do
         assert.is_truthy(made[name] or answers[name], name .. " is not tried")
         for i, arguments in ipairs(made[name] or {}) do
            local count = arguments.n or #arguments
            local a = some[name](some, table.unpack(arguments, 1, count))
            local b = none[name](none, table.unpack(arguments, 1, count))
            assert.same({ name, i, types_of(a) }, { name, i, types_of(b) })
            assert.same(name == "aggregate" and 1 or 0, b:count())
         end
         if answers[name] then
            answers[name](none, some)
         end
      end
   end)

   it("has sums of 0 and no other aggregates", function()
      assert.same({ { count = 0, n = 0, s = 0, t = 0.0, u = 0 } },
         over {}:aggregate(made.aggregate[1][1]):rows())
   end)

   it("has keys of functions that fit all that is done with keys of values", function()
      local function key(r)
         return r.time
      end
      for _, keys in ipairs { over {}:group(key), over { {}, {} }:group(key) } do
         local count = keys:count()
         assert.same({ { s = 0, n = 2 * count } }, keys:group():aggregate { "s = sum(key)",
            "n = sum(count)" }:rows())
         for _, aggregate in ipairs { "min", "max", "mean", "stddev", "p50", "first", "distinct" }
         do
            assert.equal(1, #keys:group():aggregate { aggregate .. "(key)", "c = count" }:rows())
         end
         for _, wanted in ipairs { 5, "a", true, 2.5, { "a", "b" }, profio.between(1, 2),
            profio.between("a", "b"), profio.match "x" } do
            assert.equal(0, keys:where { key = wanted }:count())
         end
         assert.equal(count, keys:where { key = profio.missing }:count())
         assert.equal(count, keys:derive { "y = key * 2 + sqrt(key)" }:where { y = profio.missing }
            :count())
         assert.equal(count, #keys:pivot("key", "count", { "a" }):sort "-key":rows())
         local names = keys:group("key"):aggregate { "n = first(key)" }
         assert.equal(count, #names:pivot("n", "key", { "a" }):rows())
         assert.equal(count > 0 and 1 or 0, keys:group "bucket(key, 10)":count())
         assert.equal(count > 0 and 1 or 0, keys:group "octave(key)":count())
      end
   end)

   it("has the given type of a key", function()
      for _, type in ipairs { "int", "num", "bool", "name" } do
         local keys = over {}:group { double, "time", type = type }
         assert.equal("key " .. type, types_of(keys)[1])
      end
      assert.error_matches(function()
         over(rows):group { tostring, "time", type = "int" }:rows()
      end, "key 'key' is declared int, got 10")
      assert.same({ { key = 30, count = 1 }, { key = 60, count = 1 } },
         over(rows):group { function(r) return r.time + r.time * 2 end, type = "int" }:rows())
   end)
end)

describe("a trace without rows", function()
   it("has calls, statistics, a profile and exports", function()
      local none <close> = events.open ""
      local some <close> = events.open "1 enter f\n5 leave f\n"
      assert.same(types_of(some:calls()), types_of(none:calls()))
      assert.same(types_of(some:call_statistics()), types_of(none:call_statistics()))
      assert.same({ 0, 0 }, { none:calls():count(), none:call_statistics():count() })
      local profile, other = none:profile(), some:profile()
      for _, name in ipairs { "flat", "graph", "tree", "bottom_up", "lines" } do
         assert.same({ name, types_of(other[name](other)) },
            { name, types_of(profile[name](profile)) })
         assert.same({ name, {} }, { name, profile[name](profile):rows() })
      end
      for _, export in ipairs(exports.all()) do
         if export.takes ~= "rows" then
            local bytes, message = none:export(export.name)
            assert.is_string(bytes, export.name .. ": " .. tostring(message))
         end
      end
   end)
end)
