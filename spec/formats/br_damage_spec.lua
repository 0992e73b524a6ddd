local br = require "spec.support.br_builder"
local profio = require "profio"

-- Report each warning, not only the first one of each kind.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

local function open(bytes, options)
   options = options or {}
   options.format = "br"
   return profio.open({ data = type(bytes) == "string" and bytes or bytes:bytes() },
      one_by_one(options))
end

-- Returns the samples, and the codes and offsets of all warnings.
local function read(bytes, options)
   local trace <close> = assert(open(bytes, options))
   local lines, warnings = {}, {}
   for _, row in ipairs(trace.samples:rows()) do
      lines[#lines + 1] = ("%s:%d.%d %s %s %d"):format(row.module, row.line, row.clause, row.kind,
         row.spent or "-", row.depth)
   end
   trace.frames:count()
   for i, warning in ipairs(trace.warnings) do
      warnings[i] = ("%s %s %d"):format(warning.code, warning.kind, warning.offset)
   end
   return lines, warnings
end

-- Returns the code and message of the first warning, which is an error with option strict.
local function strict(bytes)
   local trace, message, code = open(bytes, { strict = true })
   if not trace then
      return code, message
   end
   local ok, words = pcall(function()
      return trace.samples:rows()
   end)
   trace:close()
   return ok and "fine" or "raised", words
end

local function a()
   return br():module(1, "A.BR")
end

local A <const> = 9 -- bytes of that mapping

describe("br, damaged:", function()
   local cases = {
      { "a group inside a group ends it",
         a():line(1, 10):time(5):line(1, 20):time(6):stop(),
         { "A.BR:10.0 unknown 5 1", "A.BR:20.0 unknown 6 1" },
         { "br-nested damage " .. A + 17 } },
      { "an end outside a group is passed over",
         a():stop():line(1, 10):stop():stop(),
         { "A.BR:10.0 unknown - 1" },
         { "br-stray damage " .. A, "br-stray damage " .. A + 10 } },
      { "times, backtraces and tags outside a group are passed over",
         a():time(1):back(1, 2):fn "F":gosub():main():line(1, 10):stop(),
         { "A.BR:10.0 unknown - 1" },
         { "br-stray damage 9", "br-stray damage 18", "br-stray damage 26", "br-stray damage 29",
            "br-stray damage 30" } },
      { "tags after a time or an end of another kind are passed over",
         a():line(1, 10):time(5):main():back(1, 20):time(1):fn "F":stop(),
         { "A.BR:10.0 unknown 6 2" },
         { "br-stray-tag damage " .. A + 17, "br-two-times damage " .. A + 26,
            "br-stray-tag damage " .. A + 35 } },
      { "the first of two tags stands",
         a():line(1, 10):main():fn "F":stop():line(1, 20):fn "F":gosub():stop(),
         { "A.BR:10.0 main - 1", "A.BR:20.0 function - 1" },
         { "br-two-tags damage " .. A + 9, "br-two-tags damage " .. A + 24 } },
      { "two times are added up",
         a():line(1, 10):time(5):time(7):stop(),
         { "A.BR:10.0 unknown 12 1" },
         { "br-two-times damage " .. A + 17 } },
      { "modules without a name",
         a():line(9, 10):back(1, 5):back(65535, 1):stop(),
         { "module#9:10.0 unknown - 3" },
         { "br-unmapped damage " .. A, "br-unmapped damage " .. A + 16 } },
      { "a mapping inside a group is used",
         a():line(1, 10):module(2, "B.BR"):back(2, 5):stop():line(2, 20):stop(),
         { "A.BR:10.0 unknown - 2", "B.BR:20.0 unknown - 1" },
         { "br-late-mapping note " .. A + 8 } },
      { "an empty name of a module",
         br():module(1, ""):line(1, 10):stop(),
         { ":10.0 unknown - 1" }, { "br-empty-name note 0" } },
      { "one warning of invalid line numbers",
         a():line(1, 0):stop():line(1, 100000):stop():line(1, 99999):stop(),
         { "A.BR:0.0 unknown - 1", "A.BR:100000.0 unknown - 1", "A.BR:99999.0 unknown - 1" },
         { "br-odd-line note " .. A } },
      { "times above 2^63 - 1 are missing",
         a():line(1, 10):time(-1):stop():line(1, 10):time(math.maxinteger):stop(),
         { "A.BR:10.0 unknown - 1", "A.BR:10.0 unknown 9223372036854775807 1" },
         { "br-time-too-large damage " .. A + 8, "br-long-time note " .. A + 26 } },
      { "times that add up to more than 2^63 - 1 are missing",
         a():line(1, 10):time(math.maxinteger):time(1):stop(),
         { "A.BR:10.0 unknown - 1" },
         { "br-long-time note " .. A + 8, "br-two-times damage " .. A + 17,
            "br-time-too-large damage " .. A + 17 } },
      { "some groups with a time, some without",
         a():line(1, 10):time(5):stop():line(1, 20):stop():line(1, 30):time(6):stop(),
         { "A.BR:10.0 unknown 5 1", "A.BR:20.0 unknown - 1", "A.BR:30.0 unknown 6 1" },
         { "br-mixed note " .. A + 18 } },
      { "zeros at the end",
         a():line(1, 10):stop():raw(("\0"):rep(100)),
         { "A.BR:10.0 unknown - 1" }, { "br-padding damage " .. A + 9 } },
      { "an unknown type",
         a():line(1, 10):stop():raw "\10\0":line(1, 20):stop(),
         { "A.BR:10.0 unknown - 1" }, { "br-bad-type damage " .. A + 9 } },
      { "an unknown type inside a group",
         a():line(1, 10):stop():line(1, 20):raw "\2",
         { "A.BR:10.0 unknown - 1" },
         { "br-bad-type damage " .. A + 17, "br-truncated damage " .. A + 9 } },
      { "a first length in the other byte order",
         "\1\1\0\4\0A.BR",
         {}, { "br-little-endian note 3", "br-truncated damage 0" } },
   }
   for _, case in ipairs(cases) do
      it(case[1], function()
         local lines, warnings = read(case[2])
         assert.same(case[3], lines)
         assert.same(case[4], warnings)
         local is_damaged = table.concat(case[4]):find " damage " ~= nil
         assert.equal(is_damaged and "refused" or "fine",
            strict(case[2]) == "fine" and "fine" or "refused")
      end)
   end

   it("names a possible cause in the message", function()
      local function message(b)
         local trace <close> = assert(open(b))
         return trace.warnings[1].message
      end
      assert.matches("0d before each 0a", message(a():line(1, 10):stop():raw "\r\n"))
      assert.matches("not documented", message(a():raw "\2"))
      assert.matches("zeros", message(a():raw "\0"))
      local trace, words, code = open "\255abc"
      assert.is_nil(trace)
      assert.equal("format", code)
      assert.matches("expected, found 255 %(byte 0%)", words)
   end)

   it("counts the frames above max_depth", function()
      local b = a():line(1, 10)
      for i = 1, 50 do
         b:back(1, i):main()
      end
      b:stop():line(1, 20):back(1, 1):stop()
      local trace <close> = assert(open(b, { max_depth = 3 }))
      local rows = trace.samples:rows("depth", "stack")
      assert.same({ 51, 2 }, { rows[1].depth, rows[2].depth })
      assert.equal(4, #trace:stack(rows[1].stack))
      assert.equal(3, trace:stack(rows[1].stack)[4].line)
      assert.same({ "br-deep" }, { trace.warnings[1].code })
      assert.equal(1, #trace.warnings)
   end)

   it("refuses an invalid max_depth", function()
      local trace, message, code = open(a(), { max_depth = 0 })
      assert.same({ nil, "unsupported" }, { trace, code })
      assert.matches("max_depth", message)
   end)

   it("adds up concatenated files", function()
      local bytes = a():line(1, 10):time(5):stop():bytes()
      local lines, warnings = read(bytes .. bytes)
      assert.same({ "A.BR:10.0 unknown 5 1", "A.BR:10.0 unknown 5 1" }, lines)
      assert.same({}, warnings)
   end)

   it("warns of damage after the first megabyte, which opening checks", function()
      local group = br():line(1, 10):time(5):stop():bytes()
      local bytes = a():raw(group:rep(70000)):bytes()
      local trace <close> = assert(open(bytes .. group:sub(1, -2)))
      assert.same({}, trace.warnings)
      assert.is_nil(trace.info.records)
      assert.equal(70000, trace.samples:count())
      assert.same("br-truncated", trace.warnings[1].code)
      assert.equal(#bytes, trace.warnings[1].offset)
      assert.equal("raised", strict(bytes .. group:sub(1, -2)))
   end)
end)

describe("br, cut", function()
   -- Every type of record.
   local parts = { br():module(1, "A.BR"), br():module(2, "LIB.BR"),
      br():line(1, 10):main():time(5):back(2, 7, 1):fn "FNA":back(2, 8):gosub():stop(),
      br():module(3, "C.BR"), br():line(3, 9):fn "":stop() }
   local bytes, ends, groups = "", { [0] = true }, {}
   for _, part in ipairs(parts) do
      bytes = bytes .. part:bytes()
      ends[#bytes] = true
      groups[#groups + 1] = part:bytes():byte(1) == 3 and #bytes or nil
   end

   it("at any byte keeps the groups before the cut and states its offset", function()
      for size = 0, #bytes - 1 do
         local lines, warnings = read(bytes:sub(1, size))
         local whole = 0
         for _, at in ipairs(groups) do
            whole = whole + (at <= size and 1 or 0)
         end
         assert.equal(whole, #lines, size)
         assert.equal(ends[size] and 0 or 1, math.min(1, #warnings), size)
         assert.equal(ends[size] and "fine" or "truncated", (strict(bytes:sub(1, size))), size)
         local trace <close> = assert(open(bytes:sub(1, size)))
         local joined = {}
         for piece in trace.raw:each "bytes" do
            joined[#joined + 1] = piece
         end
         assert.equal(bytes:sub(1, size), table.concat(joined))
      end
   end)

   it("by a length that is too large keeps the groups before it", function()
      local long = "\1\0\1\255\255A.BR"
      assert.same({ {}, { "br-truncated damage 0" } }, { read(long) })
      local name = a():line(1, 10):stop():line(1, 20):raw "\7\255FN":stop():bytes()
      assert.same({ { "A.BR:10.0 unknown - 1" }, { "br-truncated damage 26",
         "br-truncated damage 18" } }, { read(name) })
   end)
end)
