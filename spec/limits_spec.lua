-- Tags: user.

local limits = require "profio.limits"

describe("limits.parse", function()
   local function only(text)
      local list, message = limits.parse(text)
      assert.is_nil(message)
      assert.equal(1, #list)
      return list[1]
   end

   it("reads area, column, comparison and bound", function()
      assert.same({ line = 1, text = "Db_Read gross_max <= 1.5ms", area = "Db_Read",
         is_pattern = false, column = "gross_max", operator = "<=", bound = 1500000, unit = "ms" },
         only "Db_Read gross_max <= 1.5ms")
      assert.same({ line = 1, text = "f count>12", area = "f", is_pattern = false,
         column = "count", operator = ">", bound = 12 }, only "f count>12 # at most")
      for _, operator in ipairs { "<=", "<", ">=", ">", "==", "!=" } do
         assert.equal(operator, only("f net " .. operator .. " 1").operator)
      end
      assert.equal("==", only("f count = 1").operator)
      assert.equal(2.5, only("f net_mean < 2.5").bound)
      assert.equal(2000000000, only("f net_mean < 2s").bound)
   end)

   it("reads names in quotes, patterns and contexts", function()
      assert.equal("operator new", only('"operator new" count < 3').area)
      assert.equal('"file.c"#func', only([["\"file.c\"#func" count < 3]]).area)
      assert.equal("a\\b", only([["a\\b" count < 3]]).area)
      assert.equal("file.c#f", only("file.c#f count < 3").area)
      local limit = only [[~"^Task 1" in "CORE 0" net < 3us]]
      assert.same({ "^Task 1", true, "CORE 0", "net" },
         { limit.area, limit.is_pattern, limit.context, limit.column })
      assert.equal("in", only("in count < 3").area)
      assert.equal("T", only("in in T count < 3").context)
   end)

   it("reads bounds that are relative to a base", function()
      assert.same({ factor = 1, plus = 0 }, only("f net <= base").base)
      assert.same({ factor = 1.05, plus = 0 }, only("f net <= base * 1.05").base)
      assert.same({ factor = 1, plus = 20000 }, only("f net <= base + 20us").base)
      assert.same({ factor = 1, plus = -3 }, only("f count >= base - 3").base)
      assert.is_nil(only("f net <= base * 2").bound)
      for _, text in ipairs { "base *", "base 2", "base * 2us", "base / 2", "based", "base + x" } do
         assert.is_nil(limits.parse("f net <= " .. text), text)
      end
   end)

   it("checks them with the same area and context of the base", function()
      local list = assert(limits.parse("~^f net <= base * 1.5\nf in A net <= base + 5\n"
         .. "g net <= base\nf count <= base\n"))
      assert.equal(1, limits.relative(list))
      assert.is_nil(limits.relative(assert(limits.parse "f net < 3")))
      local function row(area, net, context, count)
         return { area = area, net = net, context = context, count = count }
      end
      local results = limits.check(list, { row("f", 150, nil, 2), row("f2", 11), row("f", 26, "A"),
         row("g", 1) }, { row("f", 100, nil, 1), row("f2", 7), row("f", 20, "A") })
      local states = {}
      for i, result in ipairs(results) do
         states[i] = ("%s %s %s"):format(result.area, result.bound, result.state)
      end
      assert.same({ "f 150.0 ok", "f2 10.5 exceeded", "f 25 exceeded", "g nil missing",
         "f 1 exceeded" }, states)
   end)

   it("leaves out comments and empty lines, whatever the line ends", function()
      local list = assert(limits.parse '# head\r\n\r\nf net < 1 # why\r\n  \r\n"a # b" net < 2\n')
      assert.equal(2, #list)
      assert.same({ "f", 3, "a # b", 5 },
         { list[1].area, list[1].line, list[2].area, list[2].line })
      assert.same({}, limits.parse "")
   end)

   it("reports errors with their position", function()
      local cases = {
         ["f"] = "'area column <= bound' is expected, got 'f'",
         ["f net"] = "is expected",
         ["f net <="] = "is expected",
         ["f net <> 3"] = "no comparison '<>'",
         ["f net < much"] = "a bound is a number, a time such as 1.5ms, or a share such as 30%, "
            .. "got 'much'",
         ["f net < 1.5m"] = "a bound is a number",
         ["f net < 3 4"] = "a bound is a number",
         ['"f net < 3'] = "a name in quotes has no end",
         ['"file.c"#func net < 3'] = "a blank is expected after the quotes, got \"#func",
         ['"" net < 3'] = "the area is missing",
         ["~% net < 3"] = "'%' is no Lua pattern",
         ["~ab% net < 3"] = "'ab%' is no Lua pattern",
         ["~%a%d[ net < 3"] = "'%a%d[' is no Lua pattern: a ] is missing",
         ["f in"] = "is expected",
      }
      for text, message in pairs(cases) do
         local list, found, line = limits.parse("g net < 1\n\n" .. text .. "\n")
         assert.is_nil(list)
         assert.is_truthy(found:find(message, 1, true), text .. ": " .. found)
         assert.equal(3, line)
      end
   end)
end)

describe("limits.parse of noise", function()
   it("returns limits, or an error and its position", function()
      math.randomseed(5)
      local pieces = { "f", '"', "\\", " ", "#", "~", "in", "net", "<=", "<", "=", "1", ".5", "ms",
         "%", "\n", "\r\n", "\t", "(", "[", "\0" }
      for _ = 1, 5000 do
         local text = {}
         for i = 1, math.random(12) do
            text[i] = pieces[math.random(#pieces)]
         end
         local list, message, line = limits.parse(table.concat(text))
         if not list then
            assert.equal("string", type(message))
            assert.equal("integer", math.type(line))
         end
      end
   end)
end)

describe("limits.fit", function()
   it("expects existing columns, and units only for times", function()
      local function fit(text)
         return limits.fit(limits.parse(text), { "count", "net" })
      end
      assert.is_true(fit "f net < 1ms\nf count < 2")
      assert.same({ false, "no column 'nett'; there are: count, net", 2 },
         { fit "f net < 1\nf nett < 1" })
      assert.same({ false, "column 'count' is no time: its bound has no unit", 1 },
         { fit "f count < 1ms" })
   end)
end)

describe("limits.quantiles", function()
   it("returns the quantiles that limits need, and the default ones", function()
      assert.equal("p50,p99", limits.quantiles(limits.parse "f net_p99 < 1"))
      assert.equal("p50,p99,p99.9,p10",
         limits.quantiles(limits.parse "f net_p99.9 < 1\nf call_p10 < 1\ng net_p10 < 2"))
   end)
end)

describe("limits.check", function()
   local rows = {
      { area = "f", count = 3, net = 30, net_max = 20, net_max_at = 700 },
      { area = "f", context = "T1", count = 2, net = 5 },
      { area = "f2", count = 1, net = 9 },
   }

   -- "area column value state" of each result.
   local function told(text)
      local list = {}
      for i, r in ipairs(limits.check(limits.parse(text), rows)) do
         list[i] = ("%s %s %s %s"):format(r.area, r.column, r.value, r.state)
      end
      return list
   end

   it("compares at the bound itself", function()
      assert.same({ "f net 30 ok", "f net 30 exceeded", "f net 30 ok", "f net 30 exceeded",
         "f net 30 ok", "f net 30 exceeded" },
         told "f net <= 30\nf net < 30\nf net >= 30\nf net > 30\nf net == 30\nf net != 30")
   end)

   it("takes the row of all contexts, or of one", function()
      assert.same({ "f net 30 exceeded", "f net 5 ok" }, told "f net < 10\nf in T1 net < 10")
   end)

   it("takes each area that a pattern finds", function()
      assert.same({ "f net 30 exceeded", "f2 net 9 ok" }, told "~^f net < 10")
      assert.same({ "~^g net nil missing" }, told "~^g net < 10")
   end)

   it("fails limits on the time of areas that did not run, and counts them as 0", function()
      assert.same({ "gone net nil missing", "gone count 0 ok", "gone count 0 exceeded" },
         told "gone net < 10\ngone count < 1\ngone count > 0")
      local result = limits.check(limits.parse "f in T9 net < 1", rows)[1]
      assert.same({ "missing", "T9" }, { result.state, result.context })
   end)

   it("takes contexts that are numbers by their digits", function()
      local result = limits.check(limits.parse "f in 1 net <= base + 1",
         { { area = "f", context = 1, net = 5 } }, { { area = "f", context = 1, net = 4 } })[1]
      assert.same({ 5, 5, "ok" }, { result.value, result.bound, result.state })
   end)

   it("tells areas of one name in the base apart", function()
      local function row(parent, net)
         return { area = "OFF", value = 0, parent = parent, net = net }
      end
      local limit = limits.parse "OFF net <= base * 1.05"
      local function states(new, base)
         local list = {}
         for i, result in ipairs(limits.check(limit, new, base)) do
            list[i] = ("%s %s %s"):format(result.value, result.bound, result.state)
         end
         return list
      end
      assert.same({ "400 105.0 exceeded", "500 525.0 ok" },
         states({ row("mode", 400), row("door", 500) }, { row("door", 500), row("mode", 100) }))
      assert.same({ "400 nil missing", "500 525.0 ok" },
         states({ row("mode", 400), row("door", 500) }, { row("door", 500) }))
      assert.same({ "400 nil missing" },
         states({ row(nil, 400) }, { row(nil, 500), row(nil, 100) }))
      assert.same({ "400 105.0 exceeded", "500 525.0 ok" },
         states({ row(nil, 400), row(nil, 500) }, { row(nil, 100), row(nil, 500) }))
      assert.same({ "400 105.0 exceeded" }, states({ row("a", 400) }, { row("b", 100) }))
   end)

   it("says when the worst call was", function()
      assert.equal(700, limits.check(limits.parse "f net_max < 1us", rows)[1].at)
   end)
end)

describe("--limits", function()
   local events = require "spec.support.events"
   local lines = "0 enter main\n10 enter leaf\n20 leave leaf\n90 leave main\n"
   local path = require("spec.support.command").file("order.limits",
      "main net <= 1ms\nleaf net <= 5\nleaf count <= 9\ngone net <= 1\n")

   it("shows failures first", function()
      local text, status = events.command(lines, "--limits", path)
      assert.equal(4, status)
      assert.matches("^EXCEEDED +leaf +net [^\n]*\nMISSING +gone [^\n]*\nok +main [^\n]*\n"
         .. "ok +leaf +count [^\n]*\n4 limits: 2 kept, 1 exceeded, 1 without a value\n$", text)
   end)

   it("shows only them with --failed", function()
      local text, status = events.command(lines, "--limits", path, "--failed")
      assert.equal(4, status)
      assert.matches("^EXCEEDED[^\n]*\nMISSING[^\n]*\n4 limits: ", text)
      text = events.command(lines, "--limits", path, "--failed", "--output", "csv", "--columns",
         "line,state")
      assert.equal("line,state\n2,exceeded\n4,missing\n", text)
   end)

   it("compare a state of a variable with the same state of the base", function()
      local command = require "spec.support.command"
      -- The variables mode and door are OFF for the given times.
      local function states(name, mode, door)
         return command.file(name, table.concat({
            "* HANDLE(Data) %HANDLE%,%HANDLE.STATE%,%VALUE%,%NAME%,%NAME.PARENT%,%HANDLE.PARENT%",
            "20000005,30000009,,mode,,", "30000009,,0,OFF,mode,20000005",
            "30000009,,1,ON,mode,20000005", "20000006,3000000A,,door,,",
            "3000000A,,0,OFF,door,20000006", "3000000A,,1,ON,door,20000006",
            "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "20000005,W,00000001,100",
            "20000006,W,00000001,110", "20000005,W,00000000,300",
            "20000005,W,00000001," .. 300 + mode, "20000006,W,00000000,2000",
            "20000006,W,00000001," .. 2000 + door }, "\n") .. "\n")
      end
      states("states-old.txt", 100, 500)
      states("states-new.txt", 400, 500)
      command.file("states.limits", "mode=OFF gross_max <= base * 1.05\n"
         .. "door=OFF gross_max <= base * 1.05\n")
      local text, status = command.run("profio --output csv --columns value,bound,state "
         .. "--limits states.limits --diff states-old.txt -- states-new.txt")
      assert.same({ "value,bound,state\n400,105,exceeded\n500,525,ok\n", 4 },
         { text, status })
      command.file("states.limits", "OFF gross_max <= 450ns\n")
      text, status = command.run "profio --limits states.limits states-new.txt"
      assert.equal(4, status)
      assert.matches("^MISSING  OFF [^\n]*did you mean 'door=OFF' or 'mode=OFF'%?\n", text)
   end)
end)
