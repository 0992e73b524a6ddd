-- Numbers of Xbase++ traces are read exactly. The slow model moves the decimal point in the digits
-- and rounds by the first digit after it.

local dbf = require "spec.support.dbf_builder"
local profio = require "profio"

-- Returns `text` (a sign, digits, a point) times 10^power, rounded with halves away from zero; nil
-- if it does not fit into 64 bits.
local function nearest(text, power)
   local sign, whole, fraction = text:match "^([-+]?)(%d*)%.?(%d*)$"
   fraction = fraction .. ("0"):rep(power + 1)
   local kept = (whole .. fraction:sub(1, power)):gsub("^0+", "")
   local digits = {}
   for digit in kept:gmatch "%d" do
      digits[#digits + 1] = tonumber(digit)
   end
   local carry = tonumber(fraction:sub(power + 1, power + 1)) >= 5 and 1 or 0
   for i = #digits, 1, -1 do
      digits[i], carry = (digits[i] + carry) % 10, (digits[i] + carry) // 10
   end
   local all = (carry > 0 and "1" or "") .. table.concat(digits)
   local limit = sign == "-" and "9223372036854775808" or "9223372036854775807"
   if #all > 19 or (#all == 19 and all > limit) then
      return nil
   end
   return math.tointeger(tonumber((sign == "-" and "-" or "") .. (all == "" and "0" or all)))
end

-- Returns texts of numbers of up to `size` characters, some with more digits than a double has.
local function texts(size, count)
   local list = { "0.5", ".5", "5.", "0.000000499999", "0.0000005", "9223372036854.775807",
      "9223372036854.7758074", "9223372036854.7758075", "1234567890123.4567897",
      "99999999999999999",
      "4503599627370.4975", "0.0000015", "00000000000000000001.5", "123456789012345678901" }
   for _ = 1, count do
      local digits = {}
      for i = 1, math.random(1, size - 2) do
         digits[i] = math.random(0, 9)
      end
      local at = math.random(0, #digits)
      list[#list + 1] = table.concat(digits, "", 1, at) .. "." .. table.concat(digits, "", at + 1)
   end
   return list
end

-- Returns the time that is read from one number in field TIME, and the code of the warning.
local function time_of(bytes, kind, decimals)
   local table_of_one = dbf { version = kind == "O" and 0x04 or 0x30, backlink = kind ~= "O" and
      ("\0"):rep(263) or nil, { "TID", "N", 4 }, { "TIME", kind, #bytes, decimals },
      { "OP", "C", 1 }, { "MSG", "C", 9 } }
   table_of_one:row { "   1", bytes, "I", "MAIN" }:row { "   1", bytes, "O", "MAIN" }
   local trace <close> = assert(profio.open({ data = table_of_one:bytes() }, { format = "xpp" }))
   local rows = trace.entries:rows()
   assert.equal(rows[1].time, rows[2].time)
   return rows[1].time, trace.warnings[1] and trace.warnings[1].code
end

describe("numbers of Xbase++", function()
   it("with decimals in a table are rounded to nanoseconds", function()
      math.randomseed(7)
      for _, text in ipairs(texts(22, 300)) do
         local expected = nearest(text, 6)
         local time, warned = time_of(("%24s"):format(text), "N", 6)
         assert.equal(expected, time, text)
         assert.equal(expected == nil and "dbf-bad-value" or nil, warned, text)
      end
   end)

   it("with an exponent are exact", function()
      assert.equal(1234567890123456789, (time_of("1.234567890123456789e12", "F", 3)))
      assert.equal(15, (time_of("  1.46e-5", "F", 3)))
      assert.equal("dbf-bad-value", select(2, time_of("  1.46e+50", "F", 3)))
   end)

   it("of any field of decimals are rounded, with a sign", function()
      for _, text in ipairs(texts(20, 100)) do
         for _, sign in ipairs { "", "-" } do
            local made = dbf { version = 0x30, backlink = ("\0"):rep(263), { "TID", "N", 4 },
               { "TIME", "N", 4 }, { "OP", "C", 1 }, { "MSG", "C", 9 }, { "LINE", "N", 24, 3 } }
            made:row { "   1", "   1", "I", "MAIN", ("%24s"):format(sign .. text) }
            local trace <close> = assert(profio.open({ data = made:bytes() }, { format = "xpp" }))
            local expected = nearest(sign .. text, 0)
            assert.equal(expected, trace.entries:rows()[1].line, sign .. text)
         end
      end
   end)

   it("in text are rounded alike", function()
      for _, text in ipairs(texts(22, 100)) do
         local lines = ("1,%s,I,MAIN\n1,%s,O,MAIN\n"):format(text, text)
         local trace <close> = assert(profio.open({ data = lines },
            { format = "xpp", map = "thread=1,time=2,op=3,call=4" }))
         assert.equal(nearest(text, 6), trace.entries:rows()[1].time, text)
      end
   end)

   it("of doubles are multiplied exactly, and rounded once", function()
      -- %.60f shows each digit of a double.
      math.randomseed(11)
      for _ = 1, 300 do
         local value = math.random() * 10 ^ math.random(-7, 12)
         assert.equal(nearest(("%.60f"):format(value), 6),
            (time_of(("<d"):pack(value), "B", 0)), ("%a"):format(value))
      end
      assert.is_nil((time_of(("<d"):pack(1e13), "B", 0)))
      assert.is_nil((time_of(("<d"):pack(0 / 0), "B", 0)))
   end)

   it("that are invalid are missing", function()
      local trace <close> = assert(profio.open({ data = "1,I,MAIN\n1,O,MAIN\n" },
         { format = "xpp", map = "thread=1,op=2,call=3" }))
      assert.same({ n = 2, sum = 0 }, trace.entries:group():aggregate { n = "count",
         sum = "sum(time)" }:rows()[1])
   end)
end)
