-- Numbers as pages and pictures show them: one rule in Lua and in JavaScript.
--
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local folded = require "spec.support.folded"
local json = require "dkjson"
local numbers = require "profio.internal.numbers"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local SCRIPT <const> = "lua/profio/exports/html/scripts/texts.js"

-- Returns what the functions of the script return for { name, argument, ... } each.
local function of_script(calls)
   local program = command.file("numbers.js", command.read(command.root .. "/" .. SCRIPT) .. [[
      const calls = JSON.parse(require('fs').readFileSync(0, 'utf8'));
      console.log(JSON.stringify(calls.map(([name, ...rest]) => texts[name](...rest))));]])
   local list = {}
   for i, call in ipairs(calls) do
      local words = {}
      for k, word in ipairs(call) do -- dkjson writes 14 digits of a number
         words[k] = type(word) == "number" and ("%.17g"):format(word) or json.encode(word)
      end
      list[i] = "[" .. table.concat(words, ",") .. "]"
   end
   local given = command.file("numbers.json", "[" .. table.concat(list, ",") .. "]")
   local pipe <close> = assert(io.popen(("node '%s' <'%s'"):format(program, given)))
   return assert(json.decode(pipe:read "a"))
end

-- Returns durations in ns around each limit, and random ones of each size.
local function durations()
   local list, seed = { 0, 1, 999, 1000, 0.5, 0.0004, 999.9995, 1 << 62, math.maxinteger }, 7
   for _, unit in ipairs { 1, 1e3, 1e6, 1e9, 60e9, 1200e9, 3600e9, 7200e9, 86400e9, 172800e9,
      1024, 1 << 20, 1 << 30, 1 << 40, 1 << 50, 1 << 60, 1e15, 1e18 } do
      for _, part in ipairs { 1, 0.9999994, 0.9999995, 0.9999996, 0.99949, 0.9995, 0.99951, 1.0005,
         1.5, 2, 10.5, 999.9994, 999.9995, 999.9996 } do
         list[#list + 1] = unit * part
         list[#list + 1] = math.floor(unit * part)
      end
   end
   for power = 0, 62 do
      for _ = 1, 60 do
         seed = seed * 6364136223846793005 + 1442695040888963407
         list[#list + 1] = (seed >> 1) % (2 << power)
      end
   end
   for i = 1, #list do
      list[#list + 1] = -list[i]
   end
   return list
end

describe("numbers of pages and pictures", function()
   it("of an axis have the unit of its span, and the decimals of its step", function()
      local calls, expected = {}, {}
      for _, one in ipairs { { 12500, 90000, 500, "12.5 µs" }, { 20000, 90000, 10000, "20 µs" },
         { 0, 5, 1, "0 ns" }, { 1.5e9, 1e10, 5e8, "1.5 s" }, { 5.4e12, 1.8e13, 1.8e12, "1.5 h" },
         { -250, 2000, 50, "-0.25 µs" }, { 3e6, 1.2e6, 2e5, "3 ms" } } do
         calls[#calls + 1] = { "mark", one[1], one[2], one[3] }
         expected[#expected + 1] = one[4]
      end
      assert.same(expected, of_script(calls))
   end)

   it("have the unit that suits them, and no zeros at the end", function()
      for ns, text in pairs { [0] = "0 ns", [1] = "1 ns", [999] = "999 ns", [1000] = "1 µs",
         [10500] = "10.5 µs", [999999] = "999.999 µs", [999999.4] = "999.999 µs",
         [999999.5] = "1 ms", [999999499] = "999.999 ms", [999999500] = "1 s",
         [1234567890] = "1.235 s", [8304888000000] = "2.307 h", [1199999499999] = "1199.999 s",
         [1199999500000] = "20 min", [1200000000000] = "20 min", [7199999999999] = "2 h",
         [7199000000000] = "119.983 min", [172800000000000] = "2 d", [-10500] = "-10.5 µs",
         [-1] = "-1 ns", [-0.0001] = "0 ns", [0.25] = "0.25 ns", [50000000] = "50 ms",
         [math.maxinteger] = "106751.991 d", [math.mininteger] = "-106751.991 d" } do
         assert.equal(text, numbers.time(ns))
      end
      for value, text in pairs { [0] = "0 B", [1023] = "1023 B", [1024] = "1 KiB",
         [1536] = "1.5 KiB", [1048575] = "1023.999 KiB", [1048576] = "1 MiB", [-2048] = "-2 KiB",
         [1073741823] = "1 GiB", [math.maxinteger] = "8 EiB" } do
         assert.equal(text, numbers.bytes(value))
      end
      for value, text in pairs { [0] = "0", [999] = "999", [1000] = "1,000", [-100] = "-100",
         [1234567] = "1,234,567", [-1000] = "-1,000", [0.5] = "1",
         [999999999999999] = "999,999,999,999,999",
         [1000000000000000] = "1e15", [math.maxinteger] = "9.223e18" } do
         assert.equal(text, numbers.count(value))
      end
      for text, pair in pairs { ["41.2 %"] = { 412, 1000 }, ["100 %"] = { 7, 7 },
         ["33.33 %"] = { 1, 3 }, ["0 %"] = { 0, 5 }, ["-98.33 %"] = { -590, 600 }, [""] = { 1, 0 },
         ["0.05 %"] = { 1, 2000 } } do
         assert.equal(text, numbers.percent(pair[1], pair[2]))
      end
   end)

   it("are the same texts in Lua and in JavaScript", function()
      if not viewers.has_node then
         return pending "needs node"
      end
      local calls, expected = {}, {}
      local function add(name, ...)
         calls[#calls + 1] = { name, ... }
         expected[#expected + 1] = numbers[name](...)
      end
      for i, value in ipairs(durations()) do
         add("time", value)
         add("bytes", value)
         add("count", value)
         add("percent", value, ({ 1, 7, 1e9, 0, 12345678901 })[i % 5 + 1])
         add("weight", value, ({ "ns", "bytes", "count", "", "cycles" })[i % 5 + 1])
      end
      local found = of_script(calls)
      assert.is_true(#calls > 40000)
      for i, text in ipairs(expected) do
         if text ~= found[i] then
            error(("%s(%s): '%s' in Lua, '%s' in scripts"):format(calls[i][1], calls[i][2], text,
               found[i]))
         end
      end
      assert.same({ "1 arc", "2 arcs", "0 arcs", "1,234 arcs" }, of_script {
         { "counted", 1, "arc" }, { "counted", 2, "arc" }, { "counted", 0, "arc" },
         { "counted", 1234, "arc" } })
   end)

   it_looks("are the same in the summary, the table and the flame graph of a page", function()
      for ns, text in pairs { [8304888000000] = "2.307 h", [10500] = "10.5 µs" } do
         local told = viewers.told(assert(folded.profile(("f %d\n"):format(ns)):export "html"), [[
            tell('summary', await look(() => document.querySelector('#summary dd').textContent));
            tell('table', await look(() =>
               document.querySelector('#functions tbody').rows[0].cells[1].textContent));
            tell('frame', await look(() => page.weight(page.flames.root().total, 0)));]])
         assert.same({ summary = text, table = text, frame = text }, told)
      end
   end)

   it("are those of the sentences of a comparison, too", function()
      local function write(name, weight)
         local w = assert(profio.create(command.folder .. "/" .. name, { format = "pprof" }))
         w:write { stack = w:stack { { area = "f", class = "function" } }, metric = "cpu",
            unit = "ns", weight = weight }
         assert(w:close())
      end
      write("words-1.pb.gz", 8304888000000)
      write("words-2.pb.gz", 10500)
      local page, _, errors = command.run("profio compare words-1.pb.gz --new words-2.pb.gz "
         .. "--export html")
      assert.matches("<p>The whole went from 2.307 h to 10.5 µs", page, 1, false, errors)
      assert.matches("from 8304.888 s to 10.500 us", (command.run(
         "profio compare words-1.pb.gz --new words-2.pb.gz")))
   end)

   it_looks("suit the words around them", function()
      local heads = {}
      for i, name in ipairs { "samples", "time", "cache-misses", "rss" } do
         local page = assert(folded.profile "f;g 1\n":export "html"):gsub('"name":"time"',
            ('"name":"%s"'):format(name))
         heads[i] = viewers.told(page, [[
            tell('head', await look(() => document.querySelector('#summary h3').textContent));]])
            .head
      end
      assert.same({ "Where the samples go", "Where the time goes", "Where the cache-misses go",
         "Where the rss goes" }, heads)
   end)
end)
