-- Several files with a clock are written as one file only if that has the same calls.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"

local function winidea(...)
   local lines = { "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%", "0,main,", "1,f,",
      "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%" }
   for _, row in ipairs { ... } do
      lines[#lines + 1] = row
   end
   return table.concat(lines, "\n") .. "\n"
end

local early = winidea("0,E,,0", "1,E,,10", "1,X,,20", "0,X,,50")
local inside = winidea("0,E,,5", "1,E,,10", "1,X,,40", "0,X,,45")
local later = winidea("0,E,,100", "1,E,,110", "1,X,,120", "0,X,,150")
local open_end = winidea("0,E,,100", "1,E,,110", "1,X,,120")
local no_begin = winidea("1,E,,200", "1,X,,320", "0,X,,450")
local other_name = (winidea("1,E,,200", "1,X,,320"):gsub("1,f,\n", "1,g,\n"))

local function opened(list)
   for i, bytes in ipairs(list) do
      list[i] = { data = bytes }
   end
   return assert(profio.open(#list == 1 and list[1] or list))
end

-- Returns the numbers of statistics that the written file must have.
local function statistics_of(trace)
   return trace:call_statistics():rows("area", "count", "net", "net_max", "gross", "gross_max",
      "gross_max_at", "call", "last_stop")
end

local function has_note(trace, code)
   for _, warning in ipairs(trace.warnings) do
      if warning.code == code then
         return true
      end
   end
   return false
end

describe("several winIDEA timelines", function()
   it("are not written as one if that has other calls", function()
      for reason, list in pairs {
         ["whose times overlap"] = { early, inside },
         ["whose times overlap,"] = { later, early },
         ["calls are open where one file ends"] = { open_end, no_begin },
         ["calls are open where one"] = { early, no_begin },
         ["area 0x00000001 has several names"] = { early, other_name },
      } do
         for _, options in ipairs { {}, { timeline_binary = true }, { dialect = "bin" } } do
            local trace <close> = opened { table.unpack(list) }
            local bytes, message, code = trace:save(nil, options)
            assert.same({ nil, "unsupported" }, { bytes, code })
            assert.matches(reason, message)
            assert.matches("; read the files together instead", message)
            assert.is_false(has_note(trace, "winidea-joined"))
         end
      end
   end)

   it("are written as one if each begins after the end of the one before", function()
      local trace <close> = opened { early, later }
      local bytes = assert(trace:save())
      local written <close> = opened { bytes }
      assert.same(statistics_of(trace), statistics_of(written))
      assert.is_true(has_note(trace, "winidea-joined"))
      assert.same({}, written:check())
      local last <close> = opened { early, open_end }
      local joined <close> = opened { (assert(last:save())) }
      assert.same(statistics_of(last), statistics_of(joined))
   end)

   it("leave no file with profio merge", function()
      command.file("early.txt", early)
      command.file("inside.txt", inside)
      for _, words in ipairs { "merge -o joined.txt", "--merge -o joined.txt", "merge" } do
         local out, status, errors = command.run("profio " .. words .. " early.txt inside.txt")
         assert.same({ "", 1 }, { out, status })
         assert.matches("the files are runs whose times overlap", errors)
         assert.is_nil(io.open(command.folder .. "/joined.txt"))
      end
   end)
end)

local function xpp(...)
   local w = assert(profio.create(nil, { format = "xpp", params = false }))
   for _, row in ipairs { ... } do
      w:write { thread = row[1], time = row[2] * 1000000, op = row[3], call = row[4] }
   end
   return (assert(w:close()))
end

describe("several Xbase++ traces", function()
   local first = xpp({ 1, 4, "I", "MAIN" }, { 1, 8, "I", "A" }, { 1, 90, "O", "A" },
      { 1, 200, "O", "MAIN" })

   it("are written as one if the next run is found by its times", function()
      local again = xpp({ 1, 7, "I", "MAIN" }, { 1, 9, "I", "A" }, { 1, 95, "O", "A" },
         { 1, 203, "O", "MAIN" })
      local trace <close> = opened { first, again }
      local written <close> = opened { (assert(trace:save())) }
      assert.same(statistics_of(trace), statistics_of(written))
      assert.is_false(has_note(trace, "xpp-joined"))
   end)

   it("are written as one run if their times ascend", function()
      local after = xpp({ 1, 307, "I", "MAIN" }, { 1, 500, "O", "MAIN" })
      local trace <close> = opened { first, after }
      local written <close> = opened { (assert(trace:save())) }
      assert.same(statistics_of(trace), statistics_of(written))
      assert.is_true(has_note(trace, "xpp-joined"))
   end)

   it("are not written as one if no reader can find the next run", function()
      local cut = xpp({ 1, 4, "I", "MAIN" }, { 1, 8, "I", "A" })
      local thread = xpp({ 2, 2, "I", "MAIN" }, { 2, 6, "O", "MAIN" }, { 1, 9, "O", "A" })
      local trace <close> = opened { cut, thread }
      local bytes, message, code = trace:save()
      assert.same({ nil, "unsupported" }, { bytes, code })
      assert.matches("a reader cannot find by the times where each begins", message)
   end)
end)
