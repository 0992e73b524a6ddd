-- Tags: stressed.

local core = require "profio.core"

-- A reader over literal rows; nil is a missing value.
local function reader(fields, rows)
   return core.decoder(fields, function(put)
      for _, row in ipairs(rows) do
         put(table.unpack(row, 1, #fields))
      end
   end, core.dictionary(), "test")
end

describe("core.write_listing", function()
   local fields = { { "kind", "name" }, { "n", "int" }, { "x", "num" }, { "s", "name" },
      { "a", "addr" } }

   local function list(templates, rows)
      return (core.write_listing(reader(fields, rows), { kind = "kind", templates = templates }))
   end

   it("prints each row by the template of its kind", function()
      assert.equal("[1] main\n-- 0.50\n[2] f\n", list(
         { entry = "[{n}] {s}\n", rule = "-- {x:.2}\n" },
         { { "entry", 1, nil, "main" }, { "rule", nil, 0.5 }, { "other" },
            { "entry", 2, nil, "f" } }))
   end)

   it("pads, cuts and aligns as printf does", function()
      assert.equal("[1     ]|    1|   2.35|0x1f  |  main|main  |mai|{}",
         list({ k = "[{n:-6}]|{n:5}|{x:7.2}|{a:-6}|{s:6}|{s:-6}|{s:.3}|{{}" },
            { { "k", 1, 2.345000001, "main", 31 } }))
   end)

   it("pads whole numbers of any size as printf does", function()
      local rows, widths, expected = {}, { 1, 2, 5, 7, 8, 9, 20, 40 }, {}
      for exponent = 0, 18 do
         for step = -2, 2 do
            for sign = -1, 1, 2 do
               rows[#rows + 1] = { "k", sign * (10 ^ exponent // 1 | 0) + step }
            end
         end
      end
      rows[#rows + 1] = { "k", math.mininteger }
      rows[#rows + 1] = { "k", math.maxinteger }
      for i, row in ipairs(rows) do
         local line = {}
         for j, width in ipairs(widths) do
            line[j] = ("%" .. width .. "d"):format(row[2])
         end
         expected[i] = table.concat(line, "|")
      end
      local template = "{n:" .. table.concat(widths, "}|{n:") .. "}\n"
      assert.equal(table.concat(expected, "\n") .. "\n", list({ k = template }, rows))
   end)

   it("leaves the places of missing values blank", function()
      assert.equal("|     |       |    |\n", list({ k = "|{n:5}|{x:7.2}|{s:4}|\n" }, { { "k" } }))
   end)

   it("rounds as printf does, to the last digit", function()
      local values = { 0, -0.0, 0.005, 0.015, 0.125, 0.375, 0.5, 1.5, 2.5, -2.5, 1e15, 2 ^ 53,
         2 ^ 60, 1e22, 1e300, 5e-324, 2 ^ -63, 2 ^ -64, 0.9995, 99.995, 1 / 0, -1 / 0, 0 / 0,
         2 ^ 53 - 1, 2 ^ 52 + 0.5, 9.5, 99.5, 9.995, 999999.995, 2.5e-3, 4.9999999999999994 }
      for i = 1, 3000 do
         values[#values + 1] = -i / 16
         values[#values + 1] = i / 8
         values[#values + 1] = i * 0.005
         values[#values + 1] = (math.random() - 0.5) * 2.0 ^ math.random(-40, 60)
      end
      local rows = {}
      for i, value in ipairs(values) do
         rows[i] = { "k", nil, value }
      end
      for precision = 0, 5 do
         local i = 0
         local template = ("{x:3.P}|{x:8.P}|{x:9.P}|{x:12.P}|{x:-24.P}\n"):gsub("P", precision)
         local form = ("%3.Pf|%8.Pf|%9.Pf|%12.Pf|%-24.Pf"):gsub("P", precision)
         for line in list({ k = template }, rows):gmatch "[^\n]+" do
            i = i + 1
            local value = values[i]
            local expected = form:format(value, value, value, value, value)
            if expected ~= line then
               assert.equal(expected, line)
            end
         end
         assert.equal(#values, i)
      end
   end)

   it("copies texts of all sizes, whatever byte is no ASCII in them", function()
      local harmless = { ["\127"] = "\\x7f", ["\31"] = "\\x1f", ["\x80"] = "\\x80", [" "] = " ",
         ["~"] = "~" }
      local rows, expected = {}, {}
      for size = 0, 40 do
         local text = ("abcdefghij"):rep(4):sub(1, size)
         rows[#rows + 1] = { "k", size, nil, text }
         expected[#expected + 1] = ("%30s|%-30s|%.9s|%d\n"):format(text, text, text, size)
         for byte, shown in pairs(harmless) do
            local at = math.random(0, size)
            rows[#rows + 1] = { "k", at, nil, text:sub(1, at) .. byte .. text:sub(at + 1) }
            local seen = text:sub(1, at) .. shown .. text:sub(at + 1)
            expected[#expected + 1] = ("%30s|%-30s|%.9s|%d\n"):format(seen, seen, seen, at)
         end
      end
      assert.equal(table.concat(expected), list({ k = "{s:30}|{s:-30}|{s:.9}|{n}\n" }, rows))
   end)

   it("writes literal text of any length, between columns and alone", function()
      for size = 0, 50 do
         local text = ("0123456789abcdefg"):rep(3):sub(1, size)
         assert.equal(text .. "7" .. text .. "{" .. text .. "main" .. text .. "\n",
            list({ k = text .. "{n}" .. text .. "{{" .. text .. "{s}" .. text .. "\n" },
               { { "k", 7, nil, "main" } }))
         assert.equal(text:rep(3), list({ k = text }, { { "k" }, { "k" }, { "k" } }))
      end
   end)

   it("aligns columns with texts that are not ASCII, and escapes control characters", function()
      assert.equal("  é|é  |\\x1b|\n", list({ k = "{s:3}|{s:-3}|", l = "{s}|\n" },
         { { "k", nil, nil, "é" }, { "l", nil, nil, "\27" } }))
   end)

   it("raises for templates that make no sense", function()
      local function raises(template, words)
         assert.error_matches(function()
            list({ k = template }, {})
         end, words)
      end
      raises("{zz}", "no column 'zz'")
      raises("{n:q}", "cannot read '{n:q}'")
      raises("{n", "not closed")
      assert.error_matches(function()
         core.write_listing(reader(fields, {}), { kind = "n", templates = {} })
      end, "must hold names")
   end)
end)
