-- trace:anonymise of formats that are text or JSON, and of pprof.
--
-- Tags: user.

local anonymised = require "spec.support.anonymised"
local command = require "spec.support.command"
local lfs = require "lfs"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local xpp = require "spec.support.xpp_builder"

local function form_of(data, format)
   local trace <close> = assert(profio.open({ data = data }, { format = format }))
   return (assert(trace:anonymise()))
end

-- Words of the formats, which stay.
local kept = {}
for word in ("[kernel.kallsyms] [unknown] process_name thread_name samples nanoseconds count "
   .. "cycles (BYTECODE_COMPILER) cycles:u cycles:ppp cpu-clock branch-misses sched:sched_switch "
   .. "cpu time seconds (program) (garbage collector) (idle) activate terminate"):gmatch "%S+"
do
   kept[word] = true
end

-- Replaces {ALIAS|NAME} by the name, or by the alias in as many bytes.
local function names(text)
   return (text:gsub("{[^|{}]*|([^{}]*)}", "%1"))
end

local function aliases(text)
   return (text:gsub("{([^|{}]*)|([^{}]*)}", function(alias, name)
      return alias .. ("_"):rep(#name - #alias)
   end))
end

-- Checks that names become aliases, in a text with {ALIAS|NAME}; `hidden` are texts of parameters,
-- and what they become.
local function check(format, text, hidden)
   local expected = aliases(text)
   for secret, mask in pairs(hidden or {}) do
      local at, last = expected:find(secret, 1, true)
      assert(at, secret)
      expected = expected:sub(1, at - 1) .. mask .. expected:sub(last + 1)
   end
   assert.equal(expected, form_of(names(text), format))
end

describe("anonymised stacks", function()
   it("of folded lines have an alias for each frame", function()
      check("folded", "{f1|main};{f2|Login::user};{f3|read} 12\n{f1|main};{f4|secret}_[k] 3\n"
         .. "# of Miller\n", { ["# of Miller"] = "# xx xxxxxx" })
      check("folded", "{f1|main};{f2|read} 5 7\nnot a stack\n", { ["not a stack"] = "xxx x xxxxx" })
      check("folded", "12 {p1|a.luau},{f1|read},7;{p2|main.luau},{f2|main},1\n"
         .. "7 {p2|main.luau},{f2|main},1;{p2|main.luau},{f2|main},2\n")
   end)

   it("of perf script have aliases for programs, symbols and modules", function()
      check("perfscript", "# cmdline : perf record ./bank\n"
         .. "{t1|bank worker} 71/73 [003] 19.212345:   1010101 cycles:u: \n"
         .. "\tffffffff8109f1b4 {f1|read_account}+0x24 (/{p1|opt/bank}/{m1|bank} (deleted))\n"
         .. "\t          1234ab {f2|vfs_read}+0x1 ([kernel.kallsyms])\n"
         .. "\t             12c {f3|add<int>(int)} (inlined)\n"
         .. "\t             12d [unknown] ({m2|[acme_drv]})\n\n"
         .. "{t1|bank worker} 71/73 [003] 19.212346:         1 {n1|probe_bank:login}: "
         .. "user=\"Miller\"\n"
         .. "\t             12d {f1|read_account}+0x9 (/{p1|opt/bank}/{m1|bank})\n\n",
         { ["cmdline : perf record ./bank"] = "xxxxxxx : xxxx xxxxxx ./xxxx",
            ['user="Miller"'] = 'xxxx="xxxxxx"' })
   end)

   it("of perf script keep events of the kernel and the hardware, and no others", function()
      local head = "{t1|bank} 71/73 [003] 19.212345:         1 "
      check("perfscript", head .. "sched:sched_switch: \n\t  12 {f1|read} (/{p1|opt}/{t1|bank})\n\n"
         .. head .. "{n1|bank_module:login}: \n\t  12 {f1|read} (/{p1|opt}/{t1|bank})\n\n"
         .. head .. "cpu/cycles/:u: \n\t  12 {f1|read} (/{p1|opt}/{t1|bank})\n\n")
   end)

   it("of callgrind have aliases for functions, files and objects", function()
      check("callgrind", "# callgrind format\nversion: 1\ncmd: ./bank --user Miller\nevents: Ir\n\n"
         .. "ob=(1) /{p1|opt/bank}/{p2|libbank}\nfl=(1) {p3|main.c}\nfn=(1) {f1|main}\n16 400\n"
         .. "cfn=(2) {f2|login}'2\ncalls=3 50\n+2 90\nfn=(2)\n1 2\nfl=???\nfn=(1)\n2 3\n",
         { ["./bank --user Miller"] = "./xxxx --xxxx xxxxxx" })
   end)

   it("of pprof keep types, units and the order of strings", function()
      local text = protobuf.texts()
      local message, number = protobuf.message, protobuf.number
      local data = message(1, number(1, text "cpu"), number(2, text "nanoseconds"))
         .. message(2, protobuf.packed(1, { 1, 2 }), protobuf.packed(2, { 30 }),
            message(3, number(1, text "user"), number(2, text "Miller")))
         .. message(3, number(1, 1), number(5, text "/opt/bank/server"), number(6, text "abc123"))
         .. message(4, number(1, 1), number(2, 1), message(4, number(1, 1)))
         .. message(4, number(1, 2), number(2, 1), message(4, number(1, 2)),
            message(9, "Extension"))
         .. message(5, number(1, 1), number(2, text "login"), number(4, text "/bank/a.go"))
         .. message(5, number(1, 2), number(2, text "main"), number(4, text "/bank/a.go"))
         .. number(13, text "of Miller") .. text.fields()
      local wrong, bytes = anonymised.wrong(data, "pprof", { kept = kept,
         secrets = { "login", "main", "bank", "Miller", "user", "server", "abc123",
            "Extension" } })
      assert.is_nil(wrong)
      assert.equal(#data, #bytes)
      assert.matches("cpu2\11nanoseconds", bytes, 1, true)
   end)
end)

describe("anonymised timelines", function()
   it("of Chrome have aliases for names, and no arguments", function()
      check("chrome", '[{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":'
         .. '"{t1|Miller}"}},\n{"ph":"X","name":"{f1|log\\u0069n}","cat":"{n1|bank}",'
         .. '"pid":1,"tid":2,"ts":1.5,"dur":3,"args":{"{v1|user}":"Miller\\n7","{v2|pin}":42.0}},\n'
         .. '{"ph":"i","name":"{f1|log\\u0069n}","ts":4},\n'
         .. '{"ph":"C","name":"{f2|heap}","pid":1,"ts":2,"args":{"{v3|used}":42}}]',
         { ["Miller\\n7"] = "xxxxxxxx0", ["42.0"] = "11.1" })
   end)

   it("of V8 have aliases for functions and paths", function()
      check("cpuprofile", '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0",'
         .. '"url":"","lineNumber":-1,"columnNumber":-1},"children":[2]},{"id":2,"callFrame":{'
         .. '"functionName":"{f1|login}","scriptId":"7","url":"{p1|file:///bank}/{p2|a.js}",'
         .. '"lineNumber":4,"columnNumber":2}}],"startTime":0,"endTime":9,"samples":[2],'
         .. '"timeDeltas":[0],"title":"Miller"}', { Miller = "xxxxxx" })
   end)

   it("of BTF have aliases for entities, which keep the number of a core", function()
      check("btf", "#version 2.2.1\n#creator Miller\n#timescale ns\n# of Mills\n"
         .. "#entityMapping 7 {t1|speed}\n0,{t2|Core_}1,0,T,{t3|Brake},0,start\n"
         .. "1,{t3|Brake},0,R,{t4|valve},0,start\n2,{t3|Brake},0,SIG,7,0,write,88\n"
         .. "3,{t3|Brake},0,R,{t4|valve},0,terminate\n",
         { Miller = "xxxxxx", ["of Mills"] = "xx xxxxx" })
   end)
end)

describe("anonymised seeds of the fuzzers", function()
   for _, format in ipairs { "br", "btf", "callgrind", "chrome", "cpuprofile", "folded", "gmon",
      "perfscript", "pprof", "winidea", "xpp" }
   do
      it("keep all but the names: " .. format, function()
         local folder = "spec/fuzz/corpus/" .. format
         for name in lfs.dir(folder) do
            -- of these a name is a word that stays, or the encoding is refused
            if not name:find "^%." and name ~= "xml-utf16.xml" and name ~= "pri"
               and name ~= "text1.txt" and lfs.attributes(folder .. "/" .. name).mode == "file"
            then
               kept["C code"] = true
               local wrong = anonymised.wrong(command.read(folder .. "/" .. name), format,
                  { kept = kept })
               assert.is_nil(wrong, name)
            end
         end
      end)
   end
end)

describe("formats that are not anonymised", function()
   local dbf = xpp.table({ { 1 } }, { fields = { { "AMOUNT", "N", 4 } } })

   it("are refused with the reason and what to do", function()
      profio.register { name = "ticks", tables = { t = { { "a", "int", "a" } } }, main = "t",
         options = {}, score = function() return 0 end,
         open = function() return { t = function(put) put(1) end } end }
      for format, words in pairs { ticks = "export the trace as folded stacks",
         dbf = "send what profio info says" }
      do
         local trace <close> = assert(profio.open({ data = format == "dbf" and dbf or "x" },
            { format = format }))
         local ok, message, code = trace:anonymise()
         assert.is_nil(ok)
         assert.equal("unsupported", code)
         assert.matches(words, message, 1, true)
      end
      command.file("stacks.folded", "main;read 3\n")
      command.run "rm -f secret.db"
      command.fine "profio store add secret.db stacks.folded"
      local _, status, errors = command.run "profio anonymise -o out.db secret.db"
      assert.equal(1, status)
      assert.matches("export those that show the fault", errors, 1, true)
   end)

   it("are packed files no more, which a note says", function()
      command.file("stacks.folded", "main;read 3\n")
      local _, _, errors = command.run("gzip -kf stacks.folded && profio anonymise -o out.folded "
         .. "stacks.folded.gz")
      assert.equal("f1__;f2__ 3\n", command.read(command.folder .. "/out.folded"))
      assert.matches("what is written is not [anonymised-unpacked]", errors, 1, true)
   end)
end)
