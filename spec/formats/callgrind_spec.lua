-- Format callgrind: files of callgrind, cachegrind and Xdebug. The oracles are callgrind_annotate,
-- which comes with Valgrind, and sums that are counted by hand.

local codes = require "spec.support.codes"
local command = require "spec.support.command"
local profiles = require "spec.support.profiles"
local profio = require "profio"

local seeds = "spec/fuzz/corpus/callgrind/"

local function open(text, given)
   return assert(profio.open({ data = text }, given))
end

local small = [[
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd: ./prog
positions: line
events: Ir Dr
summary: 160 14

ob=(1) ./prog
fl=(1) main.c
fn=(1) main
16 20 4
cob=(2) libx.so
cfi=(2) x.c
cfn=(2) work
calls=3 50
+2 120 10
fi=(3) inline.h
5 10

ob=(2)
fl=(2)
fn=(2)
51 90 10
cfn=(2)
calls=1 *
* 40 2
-1 40
totals: 160 14
]]

describe("callgrind", function()
   it("has costs by line, calls with what they cost, and all lines", function()
      local trace <close> = open(small)
      assert.equal("callgrind", trace.format)
      assert.same({ "./prog", "callgrind-3.19.0" }, { trace.info.cmd, trace.info.creator })
      assert.same({
         { ["function"] = "main", file = "main.c", object = "./prog", line = 16, Ir = 20, Dr = 4 },
         { ["function"] = "main", file = "inline.h", object = "./prog", line = 5, Ir = 10, Dr = 0 },
         { ["function"] = "work", file = "x.c", object = "libx.so", line = 51, Ir = 90, Dr = 10 },
         { ["function"] = "work", file = "x.c", object = "libx.so", line = 50, Ir = 40, Dr = 0 },
      }, trace.costs:rows())
      local calls = trace.call_costs:rows("caller", "line", "callee", "callee_file",
         "callee_object", "calls", "is_recursive", "Ir", "Dr")
      assert.same({
         { caller = "main", line = 18, callee = "work", callee_file = "x.c",
            callee_object = "libx.so", calls = 3, is_recursive = false, Ir = 120, Dr = 10 },
         { caller = "work", line = 51, callee = "work", callee_file = "x.c",
            callee_object = "libx.so", calls = 1, is_recursive = true, Ir = 40, Dr = 2 },
      }, calls)
      local text = {}
      for line in trace.raw:each "text" do
         text[#text + 1] = line .. "\n"
      end
      assert.equal(small, table.concat(text))
      assert.same({}, codes.placed(trace))
   end)

   it("has a profile: own costs, those of calls of other functions, lines and arcs", function()
      local trace <close> = open(small)
      local profile = trace:profile()
      local rows = profile:flat():where { file = "main.c" }:rows("self", "total", "calls", "line")
      assert.same({ { self = 20, total = 140, calls = 0, line = 16 } }, rows)
      assert.equal("10/10", profiles.totals(profile, "Dr").work)
      assert.same({ { caller = "main", callee = "work", calls = 3, total = 120 },
         { caller = "work", callee = "work", calls = 1, total = 40 } },
         profile:graph():rows("caller", "callee", "calls", "total"))
      assert.same({ { line = 51, self = 90, total = 90 }, { line = 50, self = 40, total = 40 },
         { line = 16, self = 20, total = 20 }, { line = 5, self = 10, total = 10 },
         { line = 18, self = 0, total = 120 } }, profile:lines():rows("line", "self", "total"))
      assert.same({ "Ir", "events", "Dr", "events" }, { profile:metrics()[1].name,
         profile:metrics()[1].unit, profile:metrics()[2].name, profile:metrics()[2].unit })
   end)

   it("has a column for each event, whatever their names are", function()
      local trace <close> = open "events: Ir_3 Ir Ir line\nfl=a.c\nfn=f\n7 1 2 3 4\n"
      assert.same({ { ["function"] = "f", file = "a.c", line = 7, Ir_3 = 1, Ir = 2, Ir_4 = 3,
         line_4 = 4 } }, trace.costs:rows())
   end)

   it("tells functions without a file apart by their object", function()
      local trace <close> = open [[
events: Ir
ob=a.so
fl=???
fn=0x10
0 1
ob=b.so
fn=0x10
0 2
]]
      assert.same({ { file = "b.so", self = 2 }, { file = "a.so", self = 1 } },
         trace:profile():flat():rows("file", "self"))
   end)

   it("reads instructions, jumps, hexadecimal numbers, parts and CR LF", function()
      local text = [[
positions: instr line
events: Ir
part: 1
fl=a.c
fn=f
0x1000 10 1
+4 +1 2
jcnd=1/2 +8 *
* *
-4 * 4
summary: 7
part: 2
events: Ir
positions: instr line
fn=f
0x1000 10 1
totals: 1
]]
      local trace <close> = open((text:gsub("\n", "\r\n")))
      assert.same({ { 0x1000, 10, 1 }, { 0x1004, 11, 2 }, { 0x1004, 11, 0 }, { 0x1000, 11, 4 },
         { 0x1000, 10, 1 } }, (function()
         local list = {}
         for instr, line, cost in trace.costs:each("instr", "line", "Ir") do
            list[#list + 1] = { instr, line, cost }
         end
         return list
      end)())
      assert.same({}, codes.placed(trace))
   end)

   it("reads Xdebug's times and bytes in their units", function()
      local trace <close> = open [[
version: 1
creator: xdebug 3.2.0 (PHP 8.2)
cmd: /srv/index.php
part: 1
positions: line

events: Time_(10ns) Memory_(bytes)

fl=(1) php:internal
fn=(1) php::strlen
2 3 0

fl=(2) /srv/index.php
fn=(2) {main}
1 20 400
cfl=(1)
cfn=(1)
calls=1 0 0
2 3 0

summary: 24 400
]]
      local profile = trace:profile()
      assert.same({ ["php::strlen"] = "30/30", ["{main}"] = "200/230" }, profiles.totals(profile))
      assert.same({ "Time", "ns", "Memory", "bytes" }, { profile:metrics()[1].name,
         profile:metrics()[1].unit, profile:metrics()[2].name, profile:metrics()[2].unit })
      assert.same({ "callgrind-sums:" }, (trace.costs:count() and codes.placed(trace)))
      assert.equal("note", trace.warnings[1].kind)
   end)

   it("warns of what it cannot read, and reads the rest", function()
      local text = [[
events: Ir
12 3
fl=a.c
fn=(9)
fn=f
1 x
1 99999999999999999999
2 5 6
what is this
key=3
calls=x
cfn=g
calls=1 2
fn=h
3 4
summary: 5
]]
      local trace <close> = open(text, { format = "callgrind", all_warnings = true })
      assert.same({ { ["function"] = "h", Ir = 4 } }, trace.costs:rows("function", "Ir"))
      local lines = {}
      for _, warning in ipairs(trace.warnings) do
         local at = warning.offset
         local _, number = text:sub(1, at or 0):gsub("\n", "")
         lines[#lines + 1] = warning.code:sub(11) .. (at and " " .. number + 1 or "")
      end
      assert.same({ "line 2", "no-name 4", "line 6", "line 7", "line 8", "line 9", "line 10",
         "line 11", "line 13", "sums" }, lines)
   end)

   it("has no call of one that began in an earlier part, but what it cost", function()
      local trace <close> = open [[
events: Ir
fl=a.c
fn=main
1 10
cfn=f
calls=0 5
2 30
fn=f
5 30
totals: 40
]]
      assert.same({ main = "10/40", f = "30/30" }, profiles.totals(trace:profile()))
      assert.same({ { calls = 0, Ir = 30 } }, trace.call_costs:rows("calls", "Ir"))
      assert.same({}, codes.placed(trace))
   end)

   it("has no profile of a damaged file in strict mode, and limits sums", function()
      local trace <close> = open((small:gsub("\n51 90 10", "\n51 x 10")), { strict = true })
      local profile, message, code = trace:profile()
      assert.is_nil(profile)
      assert.matches("not a position and counts of a function: 51 x 10", message)
      assert.equal("format", code)
      local most = open("events: Ir\nfl=a.c\nfn=f\n1 6000000000000000000\n1 6000000000000000000\n")
      assert.equal(math.maxinteger, most:profile():flat():rows("self")[1].self)
      assert.same({ "profile-overflow:" }, codes.placed(most))
   end)

   it("is stored with its own costs, and a message about the rest", function()
      command.file("stored.callgrind", small)
      local _, status, errors = command.run "rm -f c.db && profio store add c.db stored.callgrind"
      assert.equal(0, status)
      assert.matches("not the addresses, mappings, labels of samples or costs of calls", errors)
      assert.matches("\nwork,130,130\n",
         command.fine "profio report flat c.db --columns function,self,total --output csv")
   end)

   it("notes functions that call each other in a circle", function()
      local trace <close> = open [[
events: Ir
fl=a.c
fn=f
1 10
cfn=g
calls=5 2
1 80
fn=g
2 20
cfn=f
calls=5 1
2 70
]]
      assert.same({ f = "10/90", g = "20/90" }, profiles.totals(trace:profile()))
      assert.same({ "callgrind-cycle:" }, codes.placed(trace))
   end)

   it("keeps all whole lines of a file that is cut anywhere", function()
      local whole
      for size = #small, 1, -1 do
         local trace = profio.open({ data = small:sub(1, size) }, { format = "callgrind" })
         if trace then
            local count = trace.costs:count() + trace.call_costs:count()
            whole = whole or count
            assert.is_true(count <= whole)
            trace:close()
         end
      end
      assert.equal(6, whole)
      local at = small:find("51 90", 1, true)
      for cut, expected in pairs { [at - 1] = { "callgrind-sums:" },
         [at + 3] = { "callgrind-last-line:" .. at + 3, "callgrind-sums:" } } do
         local trace <close> = open(small:sub(1, cut))
         trace.costs:count()
         assert.same(expected, codes.placed(trace))
      end
   end)

   it("reads back what it exports", function()
      for _, name in ipairs { "callgrind", "cachegrind", "instr" } do
         local trace <close> = assert(profio.open(seeds .. name))
         local profile = trace:profile()
         local again <close> = open(profile:export "callgrind")
         for _, metric in ipairs(profile:metrics()) do
            assert.same(profiles.totals(profile, metric.name),
               profiles.totals(again:profile(), metric.name))
         end
      end
   end)

   it("compares exactly: only what has changed differs", function()
      local old <close> = open(small)
      local new <close> = open((small:gsub("51 90 10", "51 91 10"):gsub("160", "161")
         :gsub("120 10", "121 10")))
      local comparison = assert(profio.compare({ old }, { new }))
      local found = {}
      for _, row in ipairs(comparison:rows():rows()) do
         found[#found + 1] = row.change ~= 0 and row["function"] .. " " .. row.verdict or nil
      end
      assert.same({ "work slower" }, found)
   end)

   it("is a gate for CI: examples/counts.sh", function()
      if command.run "command -v valgrind" == "" then
         return pending "needs valgrind"
      end
      local script = ("sh '%s/examples/counts.sh'"):format(command.root)
      os.remove(command.folder .. "/base.callgrind")
      local function count(rounds)
         command.file("counted.c", ([[
int work (int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i; return s; }
int main (void) { return work(%d) == 1; }
]]):format(rounds))
         command.fine "gcc -O1 -fno-inline -g -o counted counted.c"
         return command.run(("mkdir -p bin && printf '#!/bin/sh\\nexec %%s \"$@\"\\n' '%s' "
            .. "> bin/profio && chmod +x bin/profio && PATH=$PWD/bin:$PATH && "
            .. "%s base.callgrind ./counted"):format(command.analyze, script))
      end
      assert.matches("base of the next ones", (count(10000)))
      assert.equal(0, (select(2, count(10000))))
      local _, status = count(10100)
      assert.equal(4, status)
      local function written(name)
         return command.read(command.folder .. "/" .. name)
      end
      assert.matches("<testcase[^>]*self &gt; %+0.5%%", written "counts.xml")
      assert.matches("work", written "counts.md")
   end)

   it("is exact by its format, not by the unit that other files may have, too", function()
      local function verdict(old, new)
         local comparison = assert(profio.compare({ old }, { new }))
         return comparison:rows():where { ["function"] = "work" }:rows("verdict")[1].verdict
      end
      local old <close> = open(small)
      assert.equal("unchanged", verdict(old, old))
      local stored <close> = open(old:profile():export "pprof")
      assert.equal("events", stored:profile():metrics()[1].unit)
      assert.equal("unknown", verdict(stored, stored))
   end)

   it("has the same warnings, whichever table is read", function()
      local text = "events: Ir\nfl=a.c\nfn=f\ncfn=g\ncalls=1 2\n3 4\ncalls=1 2\n3 4\n"
      for _, name in ipairs { "costs", "call_costs", "raw" } do
         local trace <close> = open(text)
         trace[name]:count()
         assert.same({ "callgrind-line:43" }, codes.placed(trace), name)
      end
      local trace <close> = open(text) -- the cost of calls that cannot be read is none of f itself
      assert.same({ f = "0/4", g = "0/0" }, profiles.totals(trace:profile()))
   end)

   it("has the costs of callgrind_annotate", function()
      if not os.execute "command -v callgrind_annotate >/dev/null" then
         return pending "needs callgrind_annotate"
      end
      for _, name in ipairs { "callgrind", "cachegrind", "instr" } do
         local path = command.root .. "/" .. seeds .. name
         local text, wanted = command.run(("cd / && callgrind_annotate --threshold=100 "
            .. "--show=Ir --sort=Ir '%s'"):format(path)), {}
         for cost, file, func in text:gmatch "\n *([%d,]+) [^\n]-%%%)  ([^\n:]+):([^\n]*)" do
            func = func:gsub(" %[[^%]]*%]$", "")
            if file ~= "???" then
               wanted[file .. ":" .. func] = tonumber((cost:gsub(",", "")))
            end
         end
         local trace <close> = assert(profio.open(path))
         local found, count = {}, 0
         for func, file, own in trace:profile():flat():each("function", "file", "self") do
            found[file .. ":" .. func] = own
         end
         for key, cost in pairs(wanted) do
            assert.equal(cost, found[key], key)
            count = count + 1
         end
         assert.is_true(count > 5)
      end
   end)
end)
