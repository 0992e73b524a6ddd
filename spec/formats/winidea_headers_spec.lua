-- Headers of Text1 that were changed in the export dialog, and names that contain the separator.

local profio = require "profio"

local codes = require("spec.support.codes").listed

local function opened(lines, options)
   return assert(profio.open({ data = table.concat(lines, "\n") .. "\n" }, options))
end

local rows = { "00000000,main,", "00000000,E,,10", "00000000,X,,40" }

local function check(trace)
   local list = {}
   for area, net in trace:calls():each("area", "net") do
      list[#list + 1] = area .. " " .. net
   end
   assert.same({ "main 30" }, list)
   assert.same({}, codes(trace))
end

describe("a changed header of a section", function()
   local formats = { handle_format = "%HANDLE%,%NAME%,%VALUE%",
      timeline_format = "%HANDLE%,%EVENT%,%VALUE%,%TIME%" }

   it("is recognised by the format of its rows", function()
      for _, titles in ipairs { { "[Functions] ", "[TIMELINE] " }, { "", "" },
         { "Area: ", "History, " } } do
         local trace <close> = opened { titles[1] .. formats.handle_format, rows[1],
            titles[2] .. formats.timeline_format, rows[2], rows[3] }
         assert.equal("winidea", trace.format)
         check(trace)
      end
   end)

   it("distinguishes contexts and statistics from areas", function()
      local trace <close> = opened { "Contexts %NAME%,%HANDLE%", "T1,0x1",
         "Functions %HANDLE%,%NAME%,%VALUE%", "00000000,main,",
         "Sums CONTEXT(T1) %HANDLE%,%COUNT%,%T.NET%", "00000000,2,70" }
      assert.same({ { name = "T1", handle = 1 } }, trace.contexts:rows())
      local row = trace.statistics:rows()[1]
      assert.same({ "main", 2, 70, "T1" }, { row.area, row.count, row.net, row.context })
   end)

   it("may state no format, if an option does", function()
      for _, titles in ipairs { { "* HANDLE(Functions)", "* TIMELINE" },
         { "[HANDLE]", "[Timeline]" }, { "== handle", "timeline:" } } do
         local options = { format = "winidea" }
         for name, format in pairs(formats) do
            options[name] = format
         end
         local trace <close> = opened({ titles[1], rows[1], titles[2], rows[2], rows[3] },
            options)
         check(trace)
      end
   end)

   it("may state another format than an option", function()
      local trace <close> = opened({ "* TIMELINE %HANDLE%;%TIME%;%EVENT%", "0,E,,10", "0,X,,40" },
         { timeline_format = formats.timeline_format })
      assert.equal(2, #trace.timeline:rows())
   end)
end)

describe("a name that ends in the separator", function()
   it("ends where all fields after it are valid", function()
      local trace <close> = opened { "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%FILE%",
         "00000000,main,,", "10000000,foo(a,,52,C:\\src\\a.c", "10000001,b);,53,C:\\src\\a.c",
         "10000002,x, 5,,54,/a.c", "10000003,,,55,/a,b.c", "10000004,{,56,a.c" }
      local list = {}
      for r in trace.areas:records() do
         list[#list + 1] = ("%s|%s|%s"):format(r.name, r.value, r.file)
      end
      assert.same({ "main|nil|nil", "foo(a,|52|C:\\src\\a.c", "b);|53|C:\\src\\a.c",
         "x, 5,|54|/a.c", ",|55|/a,b.c", "{|56|a.c" }, list)
      assert.same({}, codes(trace))
   end)

   it("does so in statistics, with a note if it may end elsewhere", function()
      local lines = { "* STATISTICS(Functions) %HANDLE%,%NAME%,%COUNT%,%CONTEXT%",
         "10000000,f(a,,137,TSK: a" }
      local trace <close> = opened(lines)
      local row = trace.statistics:rows()[1]
      assert.same({ "f(a,", 137, "TSK: a" }, { row.name, row.count, row.context })
      assert.same({}, codes(trace))
      lines[3] = "10000000,f(a,1,2,TSK"
      local other <close> = opened(lines)
      assert.same(1, other.statistics:rows()[2].count)
      assert.same({ "winidea-ambiguous-row" }, codes(other))
   end)

   it("never leaves a handle empty", function()
      local trace <close> = opened { "* HANDLE(Functions) %NAME%,%HANDLE%,%FILE%",
         "f(a,,10000001,/a.c" }
      assert.same({ "f(a,", 0x10000001 }, { trace.areas:rows()[1].name,
         trace.areas:rows()[1].handle })
   end)

   it("is found in time that grows with the row, however many separators it has", function()
      local many = ("a,"):rep(20000)
      local trace <close> = opened { "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%PATH%,%FILE%",
         "10000000," .. many .. "x" }
      assert.equal(1, #trace.areas:rows())
      assert.same({ "winidea-ambiguous-row" }, codes(trace))
   end)
end)
