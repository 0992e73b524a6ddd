-- Following traces while they grow.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local core = require "profio.core"
local profio = require "profio"
local xpp = require "spec.support.xpp_builder"

local function in_folder(name)
   return command.folder .. "/" .. name
end

local function append(name, bytes)
   local file <close> = assert(io.open(in_folder(name), "ab"))
   file:write(bytes)
end

local golden = {}
for i, row in ipairs(xpp.golden) do
   golden[i] = { time = row[2] * 1000000, op = row[3], call = row[4] }
end

-- Writes a file in chunks. Returns the new rows after each chunk.
local function grow(name, bytes, steps, stage)
   command.file(name, bytes:sub(1, steps[1]))
   local trace = assert(profio.open(in_folder(name), { live = true, format = "xpp" }))
   local reader = (stage and stage(trace.entries) or trace.entries):reader()
   local list = {}
   for i = 1, #steps + 1 do
      list[i] = core.rows(reader, stage and { "event", "call", "flags" }
         or { "time", "op", "call" })
      if i <= #steps then
         append(name, bytes:sub(steps[i] + 1, steps[i + 1] or #bytes))
         trace:refresh()
      end
   end
   local warned = #trace.warnings
   trace:close()
   return list, warned
end

local function flat(list)
   local all = {}
   for _, rows in ipairs(list) do
      table.move(rows, 1, #rows, #all + 1, all)
   end
   return all
end

describe("a live trace", function()
   it("gives the complete rows of a table as they are written", function()
      local prf = xpp.table(xpp.golden, { fields = xpp.text_fields, version = 3 })
      local start = #xpp.header(xpp.text_fields, 0, 3)
      for seed = 1, 20 do
         math.randomseed(seed)
         local steps, at = {}, start
         while at < #prf do
            steps[#steps + 1] = at
            at = at + math.random(0, 150)
         end
         local list, warned = grow("grows.PRF", prf, steps)
         assert.same(golden, flat(list))
         assert.equal(0, warned)
      end
      local counts = {}
      for i, rows in ipairs((grow("grows.PRF", prf, { start, start + 42, start + 43,
         start + 43 * 3 + 7 }))) do
         counts[i] = #rows
      end
      assert.same({ 0, 0, 1, 2, 11 }, counts)
   end)

   it("gives the complete rows of text", function()
      local text = "TID,TIME,OP,MSG,LINE,PARAMS\r\n" .. xpp.text(xpp.golden)
      for seed = 1, 20 do
         math.randomseed(seed)
         local steps, at = {}, 70
         while at < #text do
            steps[#steps + 1] = at
            at = at + math.random(0, 40)
         end
         local list, warned = grow("grows.txt", text, steps)
         assert.same(golden, flat(list))
         assert.equal(0, warned)
      end
   end)

   it("waits for the end of a text in quotes", function()
      local text = 'TID,TIME,OP,MSG,PARAMS\n1,4,I,A,"x,\ny"\n1,5,O,A,""\n'
      local counts = {}
      for i, rows in ipairs((grow("quotes.txt", text, { 23, 30, 33, 34, 38 }))) do
         counts[i] = #rows
      end
      assert.same({ 0, 0, 0, 0, 1, 1 }, counts)
   end)

   it("leaves calls open until they end", function()
      local prf = xpp.table({ { 1, 0, "I", "A", 1 }, { 1, 1, "I", "B", 1 }, { 1, 2, "O", "A", 1 } },
         { fields = xpp.text_fields, version = 3 })
      local start = #xpp.header(xpp.text_fields, 0, 3)
      local list = grow("calls.PRF", prf, { start + 43, start + 86 }, function(entries)
         return entries:unfilter()
      end)
      assert.same({ { { event = "enter", call = "A" } }, { { event = "enter", call = "B" } },
         { { event = "leave", call = "B", flags = "unwound" }, { event = "leave", call = "A" } },
      }, list)
   end)

   it("finds new packets", function()
      command.run "rm -f come.PR*"
      for _, form in ipairs { "table", "text" } do
         local list = xpp.packets(xpp.golden, 3, form)
         for i = 1, 2 do
            command.file("come." .. form .. list[i].suffix, list[i].bytes)
         end
         local trace <close> = assert(profio.open(in_folder("come." .. form), { live = true,
            map = form == "text" and "thread=1,time=2,op=3,call=4,line=5,params=6" or nil }))
         local reader, rows = trace.entries:reader(), {}
         for i = 3, #list + 1 do
            table.move(core.rows(reader, { "time", "op", "call" }), 1, 9, #rows + 1, rows)
            assert.equal(math.min(3 * (i - 2), 14), #rows)
            if list[i] then
               command.file("come." .. form .. list[i].suffix, list[i].bytes)
               assert.is_true(trace:refresh())
            end
         end
         assert.is_false(trace:refresh())
         assert.same(golden, rows)
         command.run("rm -f come." .. form .. "*")
      end
   end)

   it("reads what follows in place of an end mark, or after it", function()
      local first = table.move(xpp.golden, 1, 8, 1, {})
      local second = table.move(xpp.golden, 9, 14, 1, {})
      local rest = xpp.table(second, { fields = xpp.text_fields, version = 3 })
         :sub(#xpp.header(xpp.text_fields, 0, 3) + 1)
      local names = { names = { "TID", "TIME", "OP", "MSG", "LINE", "PARAMS" } }
      for _, case in ipairs {
         { (xpp.table(first, { fields = xpp.text_fields, version = 3 })), rest },
         { xpp.text(first, names) .. "\26", xpp.text(second) .. "\26" } } do
         for replaced = 0, 1 do
            command.file("marked.PRF", case[1])
            local trace <close> = assert(profio.open(in_folder "marked.PRF", { live = true }))
            local reader = trace.entries:reader()
            local rows = core.rows(reader, { "time", "op", "call" })
            assert.equal(8, #rows)
            local file <close> = assert(io.open(in_folder "marked.PRF", "r+b"))
            file:seek("end", -replaced)
            for byte in case[2]:gmatch "." do -- in every possible state
               file:write(byte)
               file:flush()
               trace:refresh()
               local more = core.rows(reader, { "time", "op", "call" })
               table.move(more, 1, #more, #rows + 1, rows)
            end
            assert.same(golden, rows)
            local warnings = trace.warnings
            assert.equal(1 - replaced, #warnings)
            assert.equal(warnings[1] and "xpp-stray-end", warnings[1] and warnings[1].code)
         end
      end
   end)

   -- Calls a function, once, when the files beside a trace are looked for.
   local function at_next_look(run)
      local format = require "profio.formats.xpp"
      local look = format.side_files
      format.side_files = function(...)
         format.side_files = look
         run()
         return look(...)
      end
   end

   it("reads rows that a file gets just before the next one is found", function()
      command.run "rm -f late*"
      for _, form in ipairs { "table", "text" } do
         local list, name = xpp.packets(xpp.golden, 4, form), "late." .. form
         local options = { live = true,
            map = form == "text" and "thread=1,time=2,op=3,call=4,line=5,params=6" or nil }
         local function file(i)
            command.file(name .. list[i].suffix, list[i].bytes)
         end
         -- Packet 1 gets its last two rows, or its first rows, while packet 2 is created.
         local row = #list[2].bytes // 4
         local cut = form == "table" and 2 * row or #xpp.text { xpp.golden[1], xpp.golden[2] }
         file(1)
         command.file(name .. list[2].suffix, list[2].bytes:sub(1, cut))
         local trace <close> = assert(profio.open(in_folder(name), options))
         local reader = trace.entries:reader()
         local rows = core.rows(reader, { "time", "op", "call" })
         assert.equal(2, #rows)
         at_next_look(function()
            file(2)
            file(3)
         end)
         assert.is_true(trace:refresh())
         table.move(core.rows(reader, { "time", "op", "call" }), 1, 9, 3, rows)
         assert.same(table.move(golden, 1, 8, 1, {}), rows)
      end
      -- The first file of a trace gets rows while it is opened.
      command.file("late.PRF", xpp.text({ xpp.golden[1] }, { names = { "TID", "TIME", "OP", "MSG",
         "LINE", "PARAMS" } }))
      at_next_look(function()
         append("late.PRF", xpp.text { xpp.golden[2] })
         command.file("late.PRF.000001", xpp.text { xpp.golden[3] })
      end)
      local trace <close> = assert(profio.open(in_folder "late.PRF", { live = true }))
      assert.same(table.move(golden, 1, 3, 1, {}),
         core.rows(trace.entries:reader(), { "time", "op", "call" }))
   end)

   it("warns of a row that is incomplete when the next packet begins", function()
      command.run "rm -f cut.*"
      for _, form in ipairs { "table", "text" } do
         local list, name = xpp.packets(xpp.golden, 4, form), "cut." .. form
         local options = { live = true,
            map = form == "text" and "thread=1,time=2,op=3,call=4,line=5,params=6" or nil }
         command.file(name, list[1].bytes)
         command.file(name .. ".000001", list[2].bytes:sub(1, -8))
         local trace <close> = assert(profio.open(in_folder(name), options))
         local reader = trace.entries:reader()
         assert.equal(3, #core.rows(reader, { "call", "flags" }))
         command.file(name .. ".000002", list[3].bytes)
         assert.is_true(trace:refresh())
         local flags = {}
         for i, row in ipairs(core.rows(reader, { "call", "flags" })) do
            flags[i] = row.flags or ""
         end
         assert.same({ "gap", "", "", "" }, flags)
         assert.equal("xpp-partial-row", trace.warnings[#trace.warnings].code)
      end
   end)

   it("finds a new memo file, and an incomplete one", function()
      local rows, header = {}, #xpp.header(xpp.fields, 0)
      for i, row in ipairs(xpp.golden) do
         rows[i] = { row[1], row[2], row[3], row[4], row[5], i > 4 and "p" .. i or nil }
      end
      local prf, prv = xpp.table(rows)
      for _, begun in ipairs { false, "", prv:sub(1, 5) } do
         command.run "rm -f memo.PR*"
         command.file("memo.PRF", prf:sub(1, header + 4 * 38))
         if begun then
            command.file("memo.PRV", begun)
         end
         local trace <close> = assert(profio.open(in_folder "memo.PRF", { live = true }))
         local reader = trace.entries:reader()
         assert.equal(4, #core.rows(reader, { "params" }))
         append("memo.PRV", prv:sub(#(begun or "") + 1))
         append("memo.PRF", prf:sub(header + 4 * 38 + 1))
         assert.is_true(trace:refresh())
         local params = {}
         for _, row in ipairs(core.rows(reader, { "params" })) do
            params[#params + 1] = row.params
         end
         assert.equal("p5 p6 p7 p8 p9 p10 p11 p12 p13 p14", table.concat(params, " "))
         assert.same({}, trace.warnings)
      end
   end)

   it("reports a file that has become shorter, and files that cannot be followed", function()
      local prf = xpp.table(xpp.golden)
      command.file("short.PRF", prf)
      local trace <close> = assert(profio.open(in_folder "short.PRF", { live = true }))
      command.file("short.PRF", prf:sub(1, 600))
      trace:refresh()
      assert.error_matches(function()
         trace.entries:count()
      end, "shrank")
      assert.error_matches(function()
         profio.open(in_folder "gmon.out", { live = true })
      end, "cannot be followed")
      local still <close> = assert(profio.open(in_folder "short.PRF"))
      assert.error_matches(function()
         still:refresh()
      end, "live = true")
   end)
end)

describe("--follow", function()
   local prf = xpp.table(xpp.golden, { fields = xpp.text_fields, version = 3 })
   local start = #xpp.header(xpp.text_fields, 0, 3)

   it("prints entries as they are written", function()
      command.file("follow.PRF", prf:sub(1, start + 100))
      command.file("follow.rest", prf:sub(start + 101))
      local text, status, errors = command.run_in_steps(command.analyze .. " --follow --unfilter "
         .. "--output csv --columns event,call --top 14 follow.PRF",
         { { command.said "event,call", "cat follow.rest >> follow.PRF" } })
      assert.same({ 0, "" }, { status, errors })
      assert.equal("event,call\nenter,MAIN\nenter,A\nenter,B\nleave,B\nenter,C\nenter,B\nleave,B\n"
         .. "leave,C\nenter,C\nenter,B\nleave,B\nleave,C\nleave,A\nleave,MAIN\n", text)
   end)

   it("ends with Ctrl-C", function()
      command.file("follow.PRF", prf)
      local text, _, errors = command.run_in_steps(command.analyze
         .. " --follow --output csv --columns call --where call=MAIN follow.PRF",
         { { "test $(grep -c MAIN output) = 2", "kill -INT $pid" } })
      assert.same({ "call\nMAIN\nMAIN\n", "" }, { text, errors })
   end)

   it("prints rows, and refuses sums", function()
      local _, status, errors = command.run "profio --follow --group call follow.PRF"
      assert.equal(2, status)
      assert.matches("%-%-follow cannot use %-%-group", errors)
   end)
end)
