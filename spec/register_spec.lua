-- Costly: many commands, or reports in Lua; other specs run the same C code.
-- Tags: user, stressed.

local profio = require "profio"

-- A format of lines "time event area": what a user writes in ten minutes.
local lines = {
   name = "lines",
   score = function(bytes)
      return bytes:find("^LINES\n") and 90 or 0
   end,
   main = "events",
   tables = {
      events = { { "time", "int" }, { "event", "name" }, { "area", "name" }, { "share", "num" } },
      extra = { { "text", "bytes" }, { "flag", "bool" }, { "at", "addr" } },
   },
   options = { { name = "scale", type = "int", default = 1, help = "nanoseconds of one tick" } },
   open = function(source, options)
      if source:size() < 8 then
         return nil, "too short for LINES (byte 6)", "truncated"
      end
      return {
         events = function(put)
            for line in source:lines() do
               local time, event, area = line:match "^(%d+) (%a+) (%S+)$"
               if time then
                  put(math.tointeger(time) * (options.scale or 1), event, area, time / 2)
               end
            end
         end,
         extra = function(put)
            for i = 1, 10000 do
               put("text" .. i, i % 2 == 0, i)
            end
            put(nil, nil, nil)
         end,
         info = { creator = "spec" },
      }
   end,
}

profio.register(lines)

local data = "LINES\n5 enter main\n7 enter f\n9 leave f\r\n12 leave main\n"

describe("a registered format", function()
   it("is found by content and read like any other", function()
      local trace <close> = assert(profio.open { data = data })
      assert.equal("lines", trace.format)
      assert.same({ "events", "extra", "raw" }, trace.tables)
      assert.same({ "time", "event", "area", "share" }, trace.events.columns)
      assert.same({
         { time = 5, event = "enter", area = "main", share = 2.5 },
         { time = 7, event = "enter", area = "f", share = 3.5 },
         { time = 9, event = "leave", area = "f", share = 4.5 },
         { time = 12, event = "leave", area = "main", share = 6.0 },
      }, trace:rows())
      assert.equal("spec", trace.info.creator)
   end)

   it("crosses batches, and gives missing values", function()
      local trace <close> = assert(profio.open { data = data })
      local n, last = 0, nil
      for text, flag, at in trace.extra:each("text", "flag", "at") do
         n = n + 1
         if n <= 10000 then
            assert.equal("text" .. n, text)
            assert.equal(n % 2 == 0, flag)
            assert.equal(n, at)
         else
            last = { text, flag, at }
         end
      end
      assert.equal(10001, n)
      assert.same({ false, nil, nil }, last)
      assert.equal(10001, trace.extra:count())
   end)

   it("gets its options, checked", function()
      local trace <close> = assert(profio.open({ data = data }, { scale = 1000 }))
      local first = trace:each "time" ()
      assert.equal(5000, first)
      assert.has_error(function()
         profio.open({ data = data }, { scale = "much" })
      end, "option 'scale' must be a whole number, got much")
      assert.error_matches(function()
         profio.open({ data = data }, { colour = 1 })
      end, "no option 'colour'")
   end)

   it("passes on the error of its open", function()
      local trace, message, code = profio.open { data = "LINES\n" }
      assert.is_nil(trace)
      assert.equal("(data): lines: too short for LINES (byte 6)", message)
      assert.equal("truncated", code)
   end)

   it("passes on errors of the decoder", function()
      profio.register {
         name = "broken", score = function() return 0 end,
         tables = { t = { { "a", "int" } } },
         open = function()
            return { t = function(put)
               put(1)
               put "x"
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "broken" }))
      assert.error_matches(function() trace:rows() end, "column 'a' is of type int, got string")
   end)

   it("has a raw table that gives the file again", function()
      local trace <close> = assert(profio.open { data = data })
      local joined = {}
      for bytes in trace.raw:each "bytes" do
         joined[#joined + 1] = bytes
      end
      assert.equal(data, table.concat(joined))
   end)

   it("names the tables, and says that calls need events", function()
      local trace <close> = assert(profio.open { data = data })
      assert.error_matches(function() trace:table "nope" end,
         "no table 'nope'; there are: events, extra, raw")
      assert.is_true(trace:has "extra")
      assert.is_false(trace:has "nope")
      assert.is_false(trace:has "path")
      assert.error_matches(function() return trace.nope end,
         "this trace of lines has no field or table 'nope'; its tables are: "
         .. "events, extra, raw$")
      assert.error_matches(function() return trace.recods end, "; did you mean 'records'%?$")
      assert.error_matches(function() return trace.evnets end, "; did you mean 'events'%?$")
      assert.error_matches(function() trace:profil() end, "'profil'.*; did you mean 'profile'")
      assert.error_matches(function() ipairs(trace)(trace, 0) end, "a trace has no items")
   end)

   it("cannot take the name of one of profio's own, or miss its parts", function()
      assert.error_matches(function()
         profio.register { name = "gmon", score = print, open = print, tables = { a = { {} } } }
      end, "one of profio's own")
      assert.error_matches(function() profio.register { name = "x" } end, "score")
      assert.error_matches(function()
         profio.register { name = "x", score = print, open = print, tables = {} }
      end, "tables")
   end)

   it("is refused when its tables or options cannot be used", function()
      local function refused(message, given)
         given.name, given.score, given.open = "x", print, print
         given.tables = given.tables or { t = { { "a", "int" } } }
         assert.error_matches(function() profio.register(given) end, message)
      end
      refused("main: no table 'gone'", { main = "gone" })
      refused("table 't' has two columns 'a'",
         { tables = { t = { { "a", "int" }, { "b", "int" }, { "a", "name" } } } })
      for _, option in ipairs { "a", { type = "int" }, { name = "a" },
         { name = "a", type = "integer" }, { name = "a", type = "choice" } } do
         refused("an option must be { name =, type =", { options = { option } })
      end
   end)

   it("refuses put outside its decoder", function()
      local leaked
      profio.register {
         name = "leaky", score = function() return 0 end,
         tables = { t = { { "a", "int" } } },
         open = function()
            return { t = function(put)
               leaked = put
               put(1)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "leaky" }))
      assert.same({ { a = 1 } }, trace:rows())
      assert.error_matches(function() leaked(2) end, "outside the decoder")
   end)
end)

describe("a registered format of lines with stacks", function()
   -- Registers one with a function that reads its table `t`.
   local function register(columns, read)
      profio.register { name = "lines-of-stacks", score = function() return 0 end,
         tables = { t = columns }, open = function() return { t = read } end }
   end

   local function open()
      return assert(profio.open({ data = "x" }, { format = "lines-of-stacks" }))
   end

   local columns = { { "stack", "name" }, { "new", "int" }, { "old", "int" } }

   it("has lines split and written by put_lines", function()
      local text, found = "?a;b 5\na;b 1 2\na;c\t3 40 \r\n;d 0 6\nb 7 8\n#x;y 1 2\na;b 9 9", {}
      register(columns, function(_, put_lines)
         for _, at in ipairs { 1, 8, 34, 40, #text + 1 } do
            found[#found + 1] = { put_lines(text, at, 2) }
         end
      end)
      local trace <close> = open()
      assert.same({ { stack = "a;b", new = 2, old = 1 }, { stack = "a;c", new = 40, old = 3 },
         { stack = ";d", new = 6, old = 0 } }, trace:rows())
      assert.same({ { 1, 0, 0 }, { 34, 3, 48 }, { 34, 0, 0 }, { 40, 0, 0 }, { #text + 1, 0, 0 } },
         found)
   end)

   it("has batches filled by put_lines, beside rows of put", function()
      local text = ("a;b 1\n"):rep(10000)
      register({ columns[1], columns[2] }, function(put, put_lines)
         local at, sum = 1, 0
         while at <= #text do
            local _, weight
            at, _, weight = put_lines(text, at, 1)
            sum = sum + weight
            put("calls", 1)
         end
         put("sum", sum)
      end)
      local trace <close> = open()
      local list = trace:group("stack"):aggregate { "n = count", "w = sum(new)" }:sort("stack")
         :rows()
      assert.same({ { stack = "a;b", n = 10000, w = 10000 }, { stack = "calls", n = 3, w = 3 },
         { stack = "sum", n = 1, w = 10000 } }, list)
   end)

   it("is refused a wrong use of put_lines", function()
      for message, call in pairs {
         ["a position in the text"] = { "a;b 1\n", 8, 1 },
         ["1 to 8 numbers"] = { "a;b 1\n", 1, 9 },
         ["string expected"] = { nil, 1, 1 } } do
         register(columns, function(_, put_lines) put_lines(call[1], call[2], call[3]) end)
         local trace <close> = open()
         assert.error_matches(function() trace:rows() end, message)
      end
      register({ { "stack", "name" }, { "w", "num" } }, function(_, put_lines)
         put_lines("a;b 1\n", 1, 1)
      end)
      local trace <close> = open()
      assert.error_matches(function() trace:rows() end, "the columns are a name and integers")
   end)
end)

describe("a registered format with stacks", function()
   it("may be found by its path, and choose its metrics by what the file states", function()
      profio.register { name = "by-path", main = "t", tables = { t = { { "stack", "name" },
            { "weight", "int" } } },
         score = function(_, _, path) return path == "(data)" and 1 or 0 end,
         profile = function(part)
            return { table = "t", folded = "stack", metrics = { { name = part:fact "counted",
               unit = "count", column = "weight" } } }
         end,
         open = function()
            return { t = function(put) put("main;f", 3) end, info = { counted = "misses" } }
         end }
      local trace <close> = assert(profio.open { data = "by path" })
      assert.equal("by-path", trace.format)
      assert.equal("misses", trace:profile():metrics()[1].name)
      assert.is_nil(profio.open { data = "by path", path = "x" })
      profio.register { name = "by-path", tables = { t = { { "a", "int" } } },
         score = function() return 0 end, open = function() return nil end }
   end)

   it("has profiles of folded texts, and of functions", function()
      local function format(name, tables, profile, rows)
         profio.register { name = name, score = function() return 0 end, tables = tables,
            profile = profile, open = function()
               return { samples = function(put)
                  for _, row in ipairs(rows) do
                     put(table.unpack(row))
                  end
               end }
            end }
         local trace <close> = assert(profio.open({ data = "x" }, { format = name }))
         local totals = {}
         for func, own, total in trace:profile():flat():each("function", "self", "total") do
            totals[func] = own .. "/" .. total
         end
         return totals
      end
      assert.same({ main = "5/12", f = "7/7" }, format("folded_stacks",
         { samples = { { "stack", "name" }, { "spent", "int" } } },
         { table = "samples", folded = "stack",
            metrics = { { name = "time", unit = "ns", column = "spent" } } },
         { { "main;f", 7 }, { "main", 5 } }))
      assert.same({ f = "2/2", g = "1/1" }, format("named_functions",
         { samples = { { "name", "name" } } },
         { table = "samples", ["function"] = "name",
            metrics = { { name = "samples", unit = "count" } } }, { { "f" }, { "g" }, { "f" } }))
   end)

   it("is refused when its profile cannot be made", function()
      local function refused(message, profile)
         assert.error_matches(function()
            profio.register { name = "x", score = print, open = print, profile = profile,
               tables = { samples = { { "stack", "bytes" }, { "name", "name" } } } }
         end, message)
      end
      local metrics = { { name = "samples", unit = "count" } }
      refused("profile must be { table", "samples")
      refused("profile must be { table", { table = "gone", metrics = metrics })
      refused("metrics must be", { table = "samples", folded = "name" })
      refused("must have folded or function", { table = "samples", metrics = metrics })
      refused("has no column 'gone'", { table = "samples", metrics = metrics, folded = "gone" })
      refused("column 'stack' must be of type name", { table = "samples", metrics = metrics,
         folded = "stack" })
   end)

   it("has no columns of stacks, and says what to do", function()
      assert.error_matches(function()
         profio.register { name = "x", score = print, open = print,
            tables = { samples = { { "at", "stack" } } } }
      end, "column 'at' of table 'samples': a decoder in Lua gives no stacks; give events, or "
         .. "texts 'main;f;g' and profile = { table = \"samples\", folded = \"at\" }", 1, true)
   end)
end)

describe("a registered format that is saved in another one", function()
   it("has a note for each column that has values but no place there", function()
      profio.register { name = "arcs-too", score = function() return 0 end,
         tables = { arcs = { { "from", "addr" }, { "to", "addr" }, { "count", "int" },
            { "weight", "int" }, { "unused", "int" } } },
         open = function()
            return { arcs = function(put) put(16, 32, 1, 7) end }
         end }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "arcs-too" }))
      local saved <close> = assert(profio.open { data = assert(trace:save(nil,
         { format = "gmon" })) })
      assert.same({ { from = 16, to = 32, count = 1 } }, saved.arcs:rows("from", "to", "count"))
      assert.equal(1, #trace.warnings)
      assert.same({ "gmon-not-written", "note",
         "column 'weight' of table 'arcs' has no place in the written file" },
         { trace.warnings[1].code, trace.warnings[1].kind, trace.warnings[1].message })
   end)
end)

describe("source:warn of a registered format", function()
   profio.register {
      name = "odd", score = function(bytes) return bytes:find "^ODD" and 99 or 0 end,
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
      open = function(source)
         if source:size() > 4 then
            source:warn("more than four bytes", { kind = "note", code = "odd-long" })
         end
         return { events = function(put)
            put(1, "enter", "f")
            source:warn("the second record is odd", { offset = 7 })
            put(5, "leave", "f")
         end }
      end,
   }

   it("is a warning of the trace, once however often it is read", function()
      local trace <close> = assert(profio.open { data = "ODD!!" })
      assert.same({ { code = "odd-long", kind = "note", message = "more than four bytes",
         path = "(data)" } }, trace.warnings)
      for _ = 1, 3 do
         assert.equal(1, trace:calls():count())
      end
      assert.same({ code = "odd-warning", kind = "damage", offset = 7, path = "(data)",
         message = "the second record is odd" }, trace.warnings[2])
      assert.is_nil(trace.warnings[3])
      assert.equal(2, #trace:check())
   end)

   it("is counted if there are more than 100 of its code", function()
      profio.register { name = "many", score = function() return 0 end,
         tables = { t = { { "n", "int" } } },
         open = function(source)
            return { t = function()
               for i = 1, 130 do
                  source:warn("odd " .. i, { kind = i < 120 and "note" or "damage" })
               end
            end }
         end }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "many" }))
      trace:rows()
      trace:rows()
      assert.equal(101, #trace.warnings)
      local last = trace.warnings[101]
      assert.same({ 30, "damage", "many-warning" }, { last.count, last.kind, last.code })
      assert.matches("^further warnings of this code, the first one: odd 101$", last.message)
      assert.equal(130, #trace:check())
   end)

   it("is an error in strict mode, and status 3 of the command", function()
      local trace <close> = assert(profio.open({ data = "ODD" }, { strict = true }))
      assert.error_matches(function() trace:rows() end,
         "odd: the second record is odd %(byte 7%)")
      local command = require "spec.support.command"
      local err <close> = assert(io.tmpfile())
      assert.equal(3, require("profio.cli").main({ command.file("a.odd", "ODD"), "-o",
         command.folder .. "/odd.out" }, err))
      err:seek "set"
      assert.matches("a.odd: damage: the second record is odd %(byte 7%) %[odd%-warning%]",
         err:read "a")
   end)

   it("refuses invalid warnings", function()
      for message, more in pairs { ["the message must be a string"] = {},
         ["kind must be"] = { "x", { kind = "bad" } },
         ["offset must be an integer"] = { "x", { offset = "7" } } } do
         profio.register { name = "warns", score = function() return 0 end,
            tables = { t = { { "a", "int" } } }, open = function(source)
               source:warn(table.unpack(more, 1, 2))
               return {}
            end }
         assert.error_matches(function()
            profio.open({ data = "x" }, { format = "warns" })
         end, message)
      end
   end)
end)

describe("words of events that nobody knows", function()
   it("are warned of, each once", function()
      local trace <close> = assert(profio.open { data = "LINES\n1 enter f\n2 entry g\n3 entry g\n"
         .. "4 exit g\n5 leave f\n" })
      assert.equal(1, trace:calls():count())
      local messages = {}
      for i, warning in ipairs(trace.warnings) do
         assert.same({ "lines-event", "damage" }, { warning.code, warning.kind })
         messages[i] = warning.message:match "^event '%a+'"
      end
      assert.same({ "event 'entry'", "event 'exit'" }, messages)
   end)
end)

it("only the format of a file is loaded", function()
   local command = require "spec.support.command"
   local program = command.file("loaded.lua", [[
      local trace = assert(require("profio").open "spec/fuzz/corpus/gmon/gnu-w8-le")
      for name in pairs(package.loaded) do
         local format = name:match "^profio%.formats%.(%a+)$"
         if format then print(format) end
      end
      assert(#require("profio").formats() > 6)]])
   local out, status, errors = command.run(("cd %s && LUA_PATH='lua/?.lua;lua/?/init.lua;;' "
      .. "LUA_CPATH='%s/?.so;;' lua5.4 %s | sort | tr '\n' ' '"):format(command.root, command.build,
         program))
   assert.same({ 0, "gmon recognition " }, { status, out }, errors)
end)
