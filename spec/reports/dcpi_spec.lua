-- Long: many commands or rows, or programs that are compiled.
-- Costly: large inputs, beside models in Lua.

local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local json = require "dkjson"
local lfs = require "lfs"

-- A folder of its own: other specs hold that theirs is no database.
local FOLDER = "../dcpi/"

lfs.mkdir(command.folder .. "/" .. FOLDER)

local function run(line)
   return command.run("cd " .. FOLDER .. " && " .. line)
end

local function write(name, bytes)
   command.file(FOLDER .. name, bytes)
end

-- Two epochs, two images, two events.
local old, new = "9805191724", "9805201724"

local function file(name, changes, counts, offset)
   write("db/" .. name, dcpi():header(changes):chunk(offset or 0x6cbb8, counts):footer()
      :bytes())
end

for _, folder in ipairs { "db", "db/" .. old, "db/" .. new, "elsewhere" } do
   lfs.mkdir(command.folder .. "/" .. FOLDER .. folder)
end
write("db/" .. old .. "/a", dcpi.golden())
file(old .. "/b", { event = "imiss", period = "4096" }, { 27, 1 })
file(new .. "/c", { epoch = new }, { 40, 1, 0, 0, 0, 0, 3 })
file(new .. "/d", { epoch = new, image = "ab", path = "/bin/ls" }, { 9 }, 0x100)
write("alpha.nm", "000000012006cb00 T Fcdr\n000000012006cbd0 T re_search\n"
   .. "000000012006cc00 T behind\n")
write("golden.dcpi", dcpi.golden())

-- Returns the output of a command that succeeds; with names and several images it warns that the
-- names are those of one image.
local function fine(line)
   local text, status, errors = run(line)
   assert.equal("", (errors:gsub("[^\n]*%[dcpi%-executable%-mismatch%]\n", "")))
   assert.equal(0, status)
   return text
end

local function rows(line)
   return assert(json.decode(fine(line .. " --output json")))
end

-- Returns some columns of some rows.
local function picked(list, ...)
   local result = {}
   for i, row in ipairs(list) do
      result[i] = {}
      for _, column in ipairs { ... } do
         result[i][column] = row[column]
      end
   end
   return result
end

local function near(want, got)
   assert.is_true(math.abs(want - got) < 1e-9 * math.max(1, math.abs(want)),
      ("%s, got %s"):format(want, got))
end

describe("dcpi's reports", function()
   it("are listed for its files, and for no others", function()
      local list = fine "profio --list-reports db"
      for _, name in ipairs { "dcpiprof", "dcpitopcounts", "dcpicat", "dcpistats", "dcpidiff",
         "dcpilist", "epochs" } do
         assert.is_truthy(list:find(name .. " ", 1, true), name)
      end
      assert.is_nil((command.run "profio --list-reports gmon.out"):find "dcpi")
      local _, status, errors = command.run "profio --report dcpiprof gmon.out"
      assert.equal(2, status)
      assert.matches("profiles of DCPI", errors)
   end)

   it("complement those of every profile", function()
      assert.same({ { ["function"] = "xemacs", self = 8960769 } },
         picked(rows "profio --report flat golden.dcpi", "function", "self"))
      assert.matches("\nxemacs", fine "profio --report flat golden.dcpi")
      local _, status, errors = run "profio --report lines golden.dcpi"
      assert.equal(2, status)
      assert.matches("no line numbers %(give one built with %-g, not packed by zstd%)", errors)
      _, status, errors = run "profio --report annotate golden.dcpi"
      assert.equal(2, status)
      assert.matches("no line numbers", errors)
   end)

   it("prof: images, a column for each event", function()
      local list = rows "profio --report prof db"
      assert.same({ { name = "xemacs", cycles = 91, imiss = 28, image = "19970328081403c0c18b" },
         { name = "ls", cycles = 9, imiss = 0, image = "ab" } },
         picked(list, "name", "cycles", "imiss", "image"))
      near(0.91, list[1].cycles_share)
      near(1.0, list[2].running_share)
      near(1.0, list[1].imiss_share)
      near(math.sqrt(91), list[1].cycles_error)
      assert.is_true(math.abs(list[1].seconds - 91 * 63488 / 333e6) < 1e-8) -- rounded to ns a row
      assert.same(list, rows "profio --report dcpiprof db")
      assert.equal("cycles,cycles_error,cycles_share,running_share,imiss,imiss_error,imiss_share,"
         .. "seconds,spent,image,name\n", fine "profio --report prof --output csv --top 0 db")
   end)

   it("prof: procedures, in the order of another event", function()
      local list = rows "profio --report prof --symbols alpha.nm --set order=imiss db"
      assert.same({ { ["function"] = "Fcdr", name = "xemacs", cycles = 70, imiss = 28 },
         { ["function"] = "re_search", name = "xemacs", cycles = 21, imiss = 0 },
         { name = "ls", cycles = 9, imiss = 0 } },
         picked(list, "function", "name", "cycles", "imiss"))
      local _, status, errors = run "profio --report prof --set order=none db"
      assert.equal(2, status)
      assert.matches("no event 'none'; there are: cycles, imiss", errors)
   end)

   it("prof: events of any length", function()
      local event = ("e"):rep(120)
      write("long.dcpi", dcpi():header({ event = event }):chunk(64, { 7 }):footer():bytes())
      local text = fine "profio --report prof long.dcpi"
      assert.matches("\n" .. event .. " +%+%- ", text)
      assert.matches("\n" .. (" "):rep(119) .. "7 +2.6 +100.00%% ", text)
   end)

   it("prof: what dcpiprof prints first", function()
      local text = fine "profio --symbols alpha.nm db"
      assert.matches("^Total samples for event type cycles = 100, imiss = 28\n", text)
      assert.is_truthy(text:find(
         "   cycles      +-       %    cum%    seconds     imiss      +-       %  procedure",
         1, true))
      assert.is_truthy(text:find(
         "\n       70     8.4  70.00%  70.00%      0.013        28     5.3 100.00%  Fcdr", 1, true))
      assert.is_truthy(fine "profio --where name=ls db":find "120000100")
      assert.is_nil(fine "profio --report prof --where name=ls db":find "xemacs")
   end)

   it("have no seconds where the clock is not known", function()
      write("listing.txt", dcpi.listing:gsub("470352", "40"):gsub("134705", "27"))
      local row = rows "profio --report prof listing.txt"[1]
      assert.same({ 40, 27 }, { row.cycles, row.imiss })
      assert.is_nil(row.seconds)
      assert.is_nil(row.spent)
      row = rows "profio --report prof --set cpuspeed=333 listing.txt"[1]
      assert.is_true(math.abs(row.seconds - 40 * 63488 / 333e6) < 1e-8)
   end)

   it("say when names of one image stand beside samples of others", function()
      local _, status, errors = run "profio --symbols alpha.nm db"
      assert.equal(0, status)
      assert.matches("samples of 2 images, the names are of one", errors)
      _, status, errors = run "profio --symbols alpha.nm --set image=xemacs db"
      assert.equal(0, status)
      assert.equal("", errors)
   end)

   it("topcounts: addresses, their running share, and --keep", function()
      local list = rows "profio --report topcounts golden.dcpi"
      assert.same({ { address = "0x12006cbb8", cycles = 29 }, { address = "0x12006cbd0",
         cycles = 10 }, { address = "0x12006cbe0", cycles = 3 } },
         picked(table.move(list, 1, 3, 1, {}), "address", "cycles"))
      assert.equal(6, #list)
      near(39 / 47, list[2].running_share)
      near(1, list[6].running_share)
      -- just enough rows: 29 of 47 are 61.7 %
      for keep, count in pairs { ["0"] = 0, ["50"] = 1, ["61"] = 1, ["62"] = 2, ["82.9%"] = 2,
         ["83"] = 3, ["100"] = 6 } do
         assert.equal(count, #rows("profio --report topcounts --keep " .. keep .. " golden.dcpi"))
      end
      assert.equal(2, #rows "profio --report topcounts --top 2 golden.dcpi")
      local _, status, errors = run "profio --report topcounts --keep most golden.dcpi"
      assert.equal(2, status)
      assert.matches("%-%-keep must be per cent", errors)
   end)

   it("topcounts: of several files the sums, with names", function()
      local list = rows "profio --report topcounts --symbols alpha.nm --top 2 db"
      assert.same({ { address = "0x12006cbb8", cycles = 69, imiss = 27, ["function"] = "Fcdr" },
         { address = "0x12006cbd0", cycles = 13, imiss = 0, ["function"] = "re_search" } },
         picked(list, "address", "cycles", "imiss", "function"))
      assert.is_truthy(fine "profio --report topcounts --symbols alpha.nm db":find(
         "69.00%  69.00%      0.013        27     5.2  96.43%  Fcdr                      0x12006cb",
         1, true))
   end)

   it("stats: over epochs", function()
      local list = rows "profio --report stats db"
      assert.same({ { name = "ls", range = 9, sum = 9, sets = 2, min = 0, max = 9 },
         { name = "xemacs", range = 3, sum = 91, sets = 2, min = 44, max = 47 } },
         picked(list, "name", "range", "sum", "sets", "min", "max"))
      near(45.5, list[2].mean)
      near(1.5, list[2].deviation)
      near(3 / 91, list[2].range_share)
      near(0.91, list[2].sum_share)
      near(math.sqrt(91), list[2].error)
      assert.matches("2 different sets %(epoch%)", fine "profio --report stats db")
   end)

   it("stats: over files, scaled, and by procedure", function()
      local list = rows("profio --report stats --symbols alpha.nm --set factors=1,0.5,3 "
         .. "--set sets=file golden.dcpi db/" .. new .. "/c db/" .. new .. "/d")
      -- 29 41 0 and 18 3 0
      local by = {}
      for _, row in ipairs(list) do
         by[row["function"] or "none"] = row
      end
      near(29 + 20.5, by.Fcdr.sum)
      near(29, by.Fcdr.range)
      local mean = (18 + 1.5) / 3
      near(mean, by.re_search.mean)
      near(math.sqrt(((18 - mean) ^ 2 + (1.5 - mean) ^ 2 + mean ^ 2) / 3), by.re_search.deviation)
      near(27, by.none.max)
      for line, words in pairs { ["--set factors=1 db"] = "one number for each of 2 sets, got 1",
         ["--set factors=1,x db"] = "got 'x'", ["golden.dcpi"] = "here is one" } do
         local _, status, errors = run("profio --report stats " .. line)
         assert.equal(2, status)
         assert.matches(words, errors)
      end
   end)

   it("stats: of many sets equal a plain model", function()
      math.randomseed(7)
      local names, values = {}, {}
      for i = 1, 9 do
         values[i] = math.random(0, 100)
         names[i] = ("set%d.dcpi"):format(i)
         write(names[i], dcpi():header():chunk(0x6cbb8, { values[i] }):chunk(0x7fff00, { 1 })
            :footer():bytes())
      end
      local row = rows("profio --report stats --symbols alpha.nm --top 1 " ..
         table.concat(names, " "))[1]
      local sum, squares = 0, 0
      for _, value in ipairs(values) do
         sum = sum + value
      end
      for _, value in ipairs(values) do
         squares = squares + (value - sum / 9) ^ 2
      end
      assert.same({ 9, sum, math.min(table.unpack(values)), math.max(table.unpack(values)) },
         { row.sets, row.sum, row.min, row.max })
      near(math.sqrt(squares / 9), row.deviation)
   end)

   it("diff: of two sets, one scaled", function()
      local list = rows "profio --report dcpidiff --set factor=2 db"
      assert.same({ { name = "xemacs", before = 47, after = 44 }, { name = "ls", before = 0,
         after = 9 } }, picked(list, "name", "before", "after"))
      near(44 - 94, list[1].change)
      near(-50 / 94, list[1].relative)
      near(math.sqrt(44 + 4 * 47), list[1].error)
      near(-50 / math.sqrt(44 + 4 * 47), list[1].significance)
      assert.is_nil(list[2].relative)
      list = rows(("profio --report dcpidiff --set old=%s --set new=%s db"):format(new, old))
      assert.same({ { name = "ls", change = -9 }, { name = "xemacs", change = 3 } },
         picked(list, "name", "change"))
      for set, words in pairs { ["old=x"] = "no set 'x'", ["factor=0"] = "above 0" } do
         local _, status, errors = run("profio --report dcpidiff --set " .. set .. " db")
         assert.equal(2, status)
         assert.matches(words, errors)
      end
   end)

   it("have epochs of 1999 before those of 2000", function()
      local list = {}
      for i, epoch in ipairs { "0001010100", "9912312300", "200001020000" } do
         lfs.mkdir(command.folder .. "/" .. FOLDER .. "y2k")
         file("../y2k/" .. i, { epoch = epoch }, { i })
         list[i] = "y2k/" .. i
      end
      file("../y2k/none", { epoch = false }, { 100 })
      for _, line in ipairs { "y2k", table.concat(list, " ") .. " y2k/none" } do
         local text = run("profio --report epochs --columns first,last,epochs,count "
            .. "--output csv " .. line)
         assert.equal("first,last,epochs,count\n9912312300,200001020000,3,106\n", text)
         assert.matches("1  9912312300\n +2  0001010100\n +3  200001020000\n",
            (run("profio --report dcpistats " .. line)))
      end
      assert.matches("after is 0001010100, before is 9912312300",
         (run "profio --report dcpidiff y2k/1 y2k/2"))
   end)

   it("epochs: all of them merged", function()
      local list = rows "profio --report epochs db"
      assert.same({
         { name = "xemacs", event = "cycles", count = 91, epochs = 2, first = old, last = new },
         { name = "xemacs", event = "imiss", count = 28, epochs = 1, first = old, last = old },
         { name = "ls", event = "cycles", count = 9, epochs = 1, first = new, last = new },
      }, picked(list, "name", "event", "count", "epochs", "first", "last"))
      assert.is_nil(list[2].seconds)
      assert.is_true(math.abs(list[1].seconds - 91 * 63488 / 333e6) < 1e-8)
   end)

   it("cat: as dcpicat prints it", function()
      local text = fine "profio --report cat golden.dcpi"
      assert.equal(fine "profio --merge --set dialect=dcpicat golden.dcpi", text)
      assert.matches("\n0x00012006cbb8      29\n", text)
      text = fine "profio --report cat db"
      local _, count = text:gsub("\nimage ", "")
      assert.equal(3, count) -- the events of one image and epoch are columns of one profile
      assert.matches("\n0x00012006cbb8      29      27\n", text)
      assert.equal(47 + 28 + 44 + 9, (function()
         local sum = 0
         for _, row in ipairs(rows "profio --report cat db") do
            sum = sum + row.count
         end
         return sum
      end)())
   end)

   it("read the database that $DCPIDB names, when no FILE is named", function()
      assert.equal(fine "profio db", fine "cd elsewhere && DCPIDB=../db profio")
      -- ./gmon.out is nearer
      assert.matches("^Flat profile", (command.run "DCPIDB=../dcpi/db profio"))
   end)

   it("choose from a database, and merge its epochs", function()
      fine(("profio --merge --set image=xemacs --set event=cycles -o merged.dcpi db"))
      assert.same({ { cycles = 91 } }, picked(rows "profio --report prof merged.dcpi", "cycles"))
      local _, status, errors = run "profio --merge -o merged.dcpi db"
      assert.equal(1, status)
      assert.matches("one image", errors)
   end)

   it("compare a set with the other one, and note samples in none", function()
      local two = ("profio --report dcpidiff db/%s/a db/%s/c"):format(old, new)
      assert.matches("after is " .. old .. ", before is " .. new, fine(two .. " --set old=" .. new))
      assert.matches("after is " .. old .. ", before is " .. new, fine(two .. " --set new=" .. old))
      assert.matches("after is " .. new .. ", before is " .. old, fine(two .. " --set new=" .. new))
      write("no-epoch.dcpi", dcpi():header { epoch = false }:chunk(0x6cbb8, { 500, 7 }):footer()
         :bytes())
      for _, report in ipairs { "dcpidiff", "dcpistats" } do
         local _, status, errors = run(("profio --report %s db/%s/a db/%s/c no-epoch.dcpi")
            :format(report, old, new))
         assert.equal(3, status) -- a header line is missing
         assert.matches("507 samples are in no set, because their files state no epoch\n", errors)
      end
   end)

   it("give samples without a function to the image, or to an unknown function", function()
      write("nameless.dcpi", dcpi():header { path = false }:chunk(0x6cbb8, { 1, 0, 2 }):footer()
         :bytes())
      write("above.nm", "000000012006cbbc T above\n")
      assert.same({ { ["function"] = "19970328081403c0c18b", self_share = 1 } }, picked(
         rows "profio --report flat nameless.dcpi", "function", "self_share"))
      assert.equal("19970328081403c0c18b 3\n",
         fine "profio --export folded --metric cycles nameless.dcpi")
      assert.equal("(unknown function) 1\nabove 2\n",
         fine "profio --export folded --metric cycles --symbols above.nm nameless.dcpi")
      assert.matches("\nfn=%(%d+%) %(unknown function%)\n",
         fine "profio --export callgrind --symbols above.nm nameless.dcpi")
   end)

   it("list: the instructions in the order of the code, by offsets in the image", function()
      local text, status, errors = run "profio report dcpilist golden.dcpi"
      assert.equal(0, status)
      assert.matches("^profio: note: the names of procedures and lines are in the image: give it "
         .. "by %-%-exe, .* offsets in the image only\n$", errors)
      assert.equal("   cycles       %  offset      pc                  image\n"
         .. "       29  61.70%  0x6cbb8     0x12006cbb8         xemacs\n", text:match "^.-\n.-\n")
      local list = json.decode((run "profio report dcpilist --output json golden.dcpi"))
      local counts = { [0] = 29, [0x18] = 10, [0x1c] = 1, [0x20] = 2, [0x28] = 3, [0x30] = 2 }
      local count = 0
      for _, row in ipairs(list) do -- as the chunks of the builder have them
         local offset = tonumber(row.offset) - 0x6cbb8
         assert.equal(counts[offset], row.cycles)
         assert.equal(0x12006cbb8 + offset, tonumber(row.address))
         near(row.cycles / 47, row.cycles_share)
         assert.is_true(count == 0 or tonumber(list[count].offset) < tonumber(row.offset))
         count = count + 1
      end
      assert.equal(6, count)
   end)

   it("list: a procedure, by its name, a pattern or an address in it", function()
      local list = rows "profio report dcpilist --symbols alpha.nm --set procedure=re_search db"
      assert.same({ { offset = "0x6cbd0", cycles = 13, imiss = 0, ["function"] = "re_search" },
         { offset = "0x6cbd4", cycles = 1, imiss = 0, ["function"] = "re_search" },
         { offset = "0x6cbd8", cycles = 2, imiss = 0, ["function"] = "re_search" },
         { offset = "0x6cbe0", cycles = 3, imiss = 0, ["function"] = "re_search" },
         { offset = "0x6cbe8", cycles = 2, imiss = 0, ["function"] = "re_search" } },
         picked(list, "offset", "cycles", "imiss", "function"))
      near(13 / 21, list[1].cycles_share)
      assert.equal(0, list[1].imiss_share)
      for _, other in ipairs { "~^re_", "0x12006cbd4" } do
         assert.same(list, rows(("profio report dcpilist --symbols alpha.nm --set 'procedure=%s' "
            .. "db"):format(other)))
      end
      assert.equal("imiss,imiss_share,cycles,cycles_share,image,name,offset,address,function,"
         .. "source_file,line\n", fine("profio report dcpilist --symbols alpha.nm --output csv "
         .. "--set order=imiss --top 0 db"))
      assert.same({ "0x6cbb8", "0x6cbbc" }, { rows("profio report dcpilist --symbols alpha.nm "
         .. "--top 1 db")[1].offset, rows("profio report dcpilist --symbols alpha.nm --where "
         .. "cycles=1 db")[1].offset })
   end)

   it("list: refuses what it does not know", function()
      for line, expected in pairs {
         ["--set procedure=re_search db"] = { 2, "procedures have names with %-%-exe IMAGE" },
         ["--set by=line db"] = { 2, "lines are known with %-%-exe IMAGE" },
         ["--symbols alpha.nm --set by=line golden.dcpi"] = { 1, "no line numbers are known" },
         ["--symbols alpha.nm --set procedure=x golden.dcpi"] = { 1, "no samples in a procedure" },
         ["--symbols alpha.nm --set procedure=0x12006cbd1 golden.dcpi"] = { 1,
            "no samples of a named procedure at 0x12006cbd1" },
         ["--symbols alpha.nm --set 'procedure=~[' golden.dcpi"] = { 2, "is no Lua pattern" },
      } do
         local _, status, errors = run("profio report dcpilist " .. line)
         assert.equal(expected[1], status, line)
         assert.matches(expected[2], errors)
      end
      write("start.dcpi", dcpi():header { tstart = "000120000100" }:chunk(0x6cbb8, { 1 }):footer()
         :bytes())
      local text, _, errors = run "profio report dcpilist --output csv golden.dcpi start.dcpi"
      assert.matches("where the code of 1 image begins is not stated, or not in one way", errors)
      assert.matches("\n1,0%.0208%d+,19970328081403c0c18b,xemacs,,0x12006ccb8\n", text)
   end)

   it("list: lines of the source, as addr2line finds them", function()
      write("listed.c", "__attribute__((aligned(16))) int work (int n) {\n  int sum = 0;\n"
         .. "  for (int i = 0; i < n; i++) {\n"
         .. "    sum += i * n;\n    sum ^= i;\n  }\n  return sum;\n}\n\n"
         .. "int main (void) {\n  return work(3);\n}\n")
      local _, status = run "gcc -g -O0 -no-pie -o listed listed.c"
      assert.equal(0, status)
      local start = tonumber((run "nm listed"):match "(%x+) T work", 16)
      local counts, of_lines, words = {}, {}, {}
      for i = 1, 12 do -- every fourth byte has i samples
         counts[i], words[i] = i, ("0x%x"):format(start + 4 * (i - 1))
      end
      local at = 0
      for line in (run("addr2line -e listed " .. table.concat(words, " "))):gmatch ":(%d+)" do
         at = at + 1
         of_lines[line] = (of_lines[line] or 0) + counts[at]
      end
      assert.equal(12, at)
      write("listed.dcpi", dcpi():header { tstart = ("%012x"):format(start & ~0xfff),
         path = "/tmp/listed" }:chunk(start & 0xfff, counts):footer():bytes())
      local found, last = {}, 0
      for _, row in ipairs(rows "profio report dcpilist --set by=line --exe listed listed.dcpi") do
         found[tostring(row.line)] = row.cycles
         assert.matches("listed%.c$", row.file)
         assert.is_true(row.line > last)
         last = row.line
      end
      assert.same(of_lines, found)
      assert.matches("work +listed +%S*listed%.c:4\n",
         fine "profio report dcpilist --exe listed --set procedure=work listed.dcpi")
   end)
end)
