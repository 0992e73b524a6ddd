-- Formats whose encoder is written in Lua.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local profio = require "profio"

-- A format of a user, decoded and encoded in Lua. A comment may follow, in a table of its own.
local source = [[
local profio = require "profio"
profio.register {
   name = "steps",
   score = function(bytes) return bytes:find "^STEPS\n" and 90 or 0 end,
   main = "events",
   tables = {
      events = { { "time", "int" }, { "event", "name" }, { "area", "area" } },
      comments = { { "text", "bytes" }, { "weight", "num" } },
   },
   open = function(source)
      return {
         events = function(put)
            for time, event, area in source:read():gmatch "(%d+) (%a+) (%S+)\n" do
               put(math.tointeger(time), event, area)
            end
            if source:read():find "damaged" then
               source:warn("damaged", { code = "steps-damaged" })
            end
         end,
         comments = function(put)
            for weight, text in source:read():gmatch "# (%S+) ([^\n]*)\n" do
               put(text, tonumber(weight))
            end
         end,
      }
   end,
   write_options = { { name = "upper", type = "bool", help = "areas in capitals" },
      { name = "fail", type = "text" } },
   encode = function(rows, options, put)
      put "STEPS\n"
      for time, event, area in rows:each("time", "event", "area") do
         if options.fail == "raise" then
            error "no more"
         elseif options.fail == "table" then
            error { message = "too many steps", code = "limit" }
         elseif options.fail == "put" then
            put(time)
         elseif options.fail == "return" then
            return nil, "a step is wrong"
         end
         put(("%d %s %s\n"):format(time or 0, event,
            options.upper and area:upper() or area or "?"))
      end
      for text, weight in rows.comments:sort "weight":each("text", "weight") do
         put("# ", tostring(weight), " ", text or "", "\n")
      end
   end,
   check = function(name, record)
      if name == "events" and record.time and record.time < 0 then
         error { message = "a time below 0" }
      end
   end,
}
]]

assert(load(source, "=steps.lua"))()

local data = "STEPS\n1 enter main\n5 enter f\n7 leave f\n9 leave main\n# 0.5 quick\n# 1.5 brown\n"

local function create(options)
   options = options or {}
   options.format = "steps"
   return assert(profio.create(nil, options))
end

describe("a format with an encoder in Lua", function()
   it("writes records, and reads them again", function()
      local w = create()
      assert.is_true(w:write { time = 1, event = "enter", area = "main" })
      w:write("comments", { text = "brown", weight = 1.5 })
      local emit = w:emitter("time", "event", "area")
      emit(5, "enter", "f")
      emit(7, "leave", "f")
      w:write { time = 9, event = "leave", area = "main" }
      w:emitter("comments", { "text", "weight" })("quick", 0.5)
      assert.is_true(w:flush())
      assert.same({ tried = 6, written = 6, lost = 0, rounded = 0 }, w:facts())
      assert.equal(data, w:close())
   end)

   it("writes traces of the format, and several files as one", function()
      local trace <close> = assert(profio.open { data = data })
      assert.equal(data, trace:save(nil))
      assert.matches("5 enter F\n", trace:save(nil, { upper = true }))
      local both <close> = assert(profio.open { { data = data }, { data = "STEPS\n10 enter g\n" } })
      assert.equal((data:gsub("#", "10 enter g\n#", 1)), both:save(nil))
   end)

   it("writes traces of other formats: columns that they lack are missing", function()
      local w = assert(profio.create(nil, { format = "br" }))
      w:write { module = "A", line = 10, spent = 7 }
      local trace <close> = assert(profio.open { data = w:close() })
      local none, message, code = trace:save(nil, { format = "steps" })
      assert.same({ nil, "unsupported" }, { none, code })
      assert.matches("no table of a trace of br has a place in a file of steps", message)
      profio.register { name = "half", score = function(b) return b == "half" and 99 or 0 end,
         tables = { events = { { "event", "name" }, { "time", "num" }, { "more", "int" } } },
         open = function()
            return { events = function(put)
               put("enter", 1.5, 3)
               put("leave", 2.5, 4)
            end }
         end }
      local half <close> = assert(profio.open { data = "half" })
      assert.equal("STEPS\n0 enter ?\n0 leave ?\n", half:save(nil, { format = "steps" }))
      local codes = {}
      for i, warning in ipairs(half.warnings) do
         codes[i] = warning.message
      end
      assert.same({ "column 'more' of table 'events' has no place in the written file" }, codes)
      assert.matches("format 'half' is not written",
         select(2, pcall(trace.save, trace, nil, { format = "half" })))
   end)

   it("refuses wrong records when they are written", function()
      local w = create()
      for _, case in ipairs {
         { { time = "x" }, "column 'time' is of type int, got string" },
         { { hour = 1 }, "table 'events' has no column 'hour'; there are: time, event, area" },
         { { time = -1 }, "a time below 0" },
      } do
         local ok, message = pcall(w.write, w, case[1])
         assert.is_false(ok)
         assert.matches(case[2], message, 1, true)
      end
      assert.matches("format 'steps' has no table 'sums' to write; there are: events, comments",
         select(2, pcall(w.write, w, "sums", {})))
      assert.equal("STEPS\n", w:close())
      assert.matches("no option 'colour'", select(2, pcall(create, { colour = 1 })))
   end)

   it("has no ring", function()
      local none, message, code = profio.create("steps.out", { format = "steps", ring = {} })
      assert.same({ nil, "unsupported" }, { none, code })
      assert.equal("steps.out: format 'steps' is written whole when it is closed: no ring serves "
         .. "it", message)
      assert.is_nil(io.open "steps.out.ring")
   end)

   it("fails with the errors of its encoder, and leaves the older file", function()
      local path = command.file("steps.out", "old")
      local trace <close> = assert(profio.open { data = data })
      local ok, message = pcall(trace.save, trace, path, { fail = "raise" })
      assert.is_false(ok)
      assert.matches("^steps.lua:33: no more$", message)
      ok, message = pcall(trace.save, trace, path, { fail = "put" })
      assert.is_false(ok)
      assert.matches("^steps.lua:37: put: bytes must be a string, got number$", message)
      for fail, wanted in pairs { table = { "too many steps", "limit" },
         ["return"] = { "a step is wrong", "unsupported" } }
      do
         local none, text, code = trace:save(path, { fail = fail })
         assert.same({ nil, path .. ": " .. wanted[1], wanted[2] }, { none, text, code })
      end
      local strict <close> = assert(profio.open({ data = data .. "damaged" }, { strict = true }))
      assert.matches("damaged", select(2, pcall(strict.save, strict, path)))
      assert.equal("old", command.read(path))
      assert.equal(#data, trace:save(path))
      assert.equal(data, command.read(path))
   end)

   it("fails with what makes an input unreadable, and its code", function()
      local counts = {}
      for i = 1, 400000 do
         counts[i] = 1
      end
      local bytes = dcpi():header():chunk(0, counts):footer(7, 7):bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
      local none, message, code = trace:save(nil)
      assert.same({ nil, "format" }, { none, code })
      assert.matches("^%(data%): dcpi: .*footer", message)
   end)

   it("is written by the command, into a file and to standard output", function()
      command.file("steps.lua", source)
      command.file("steps.in", data)
      local call = "profio --load steps.lua "
      assert.equal(data, command.run(call .. "--merge steps.in"))
      command.run(call .. "--merge --set upper=true -o steps.saved steps.in")
      assert.equal((data:gsub("main", "MAIN"):gsub(" f\n", " F\n")),
         command.read(command.folder .. "/steps.saved"))
      local _, status, errors = command.run(call .. "--merge --set fail=raise -o none steps.in")
      assert.equal(1, status)
      assert.matches("steps.lua:33: no more", errors)
      assert.is_nil(io.open(command.folder .. "/none"))
      assert.matches("writes events +time event area\n", command.run(call .. "--list-formats"))
   end)

   it("is checked when it is registered", function()
      for _, case in ipairs {
         { { encode = 5 }, "register: 'encode' must be a function" },
         { { check = 5 }, "register: 'check' must be a function" },
         { { check = print }, "are those of encode, which is missing" },
         { { write_options = {} }, "are those of encode, which is missing" },
         { { encode = print, write_options = { 5 } }, "register: an option must be" },
      } do
         local format = { name = "wrong", score = print, open = print,
            tables = { events = { { "time", "int" } } } }
         for name, value in pairs(case[1]) do
            format[name] = value
         end
         local ok, message = pcall(profio.register, format)
         assert.is_false(ok)
         assert.matches(case[2], message, 1, true)
      end
   end)
end)
