-- The rows of the reports of a profile.

local core = require "profio.core"
local disk = require "spec.support.disk"
local gprof = require "spec.support.gprof"
local profiles = require "spec.support.profiles"
local templates = require "profio.reports.gprof.headings".templates

-- main calls work twice and twice again through helper; all at 100 samples a second.
local function example(more)
   local given = {
      symbols = { { "main", 0x1000 }, { "helper", 0x1100 }, { "_Z4workv", 0x1200 },
         { "_unused", 0x1300 }, { "end", 0x1400 } },
      bins = { { 0x1100, 0x1104, 10, 100000000 }, { 0x1200, 0x1204, 30, 300000000 } },
      arcs = { { 0x1010, 0x1100, 1 }, { 0x1020, 0x1200, 2 }, { 0x1110, 0x1200, 2 } },
      sets = { { 0, 0x1000, 0x1400, 0x100, 100, "seconds", "s" } },
   }
   for name, value in pairs(more or {}) do
      given[name] = value
   end
   return assert(profiles.make(given))
end

-- Numbers to nine digits, so that they compare; "-" for what is missing.
local function plain(value)
   if math.type(value) == "float" then
      return math.floor(value * 1e9 + 0.5) / 1e9
   end
   return value == nil and "-" or value
end

local function values(reader, ...)
   local columns, result = { ... }, {}
   for i, row in ipairs(core.rows(reader, columns)) do
      result[i] = {}
      for k, name in ipairs(columns) do
         result[i][k] = plain(row[name])
      end
   end
   return result
end

describe("flat", function()
   it("lists time and calls of each function, by descending time", function()
      assert.same({
         { "_Z4workv", 4, 300000000, 300000000, 0.75, 0.75, 0 },
         { "helper", 1, 100000000, 250000000, 0.25, 0.625, 0 },
      }, values(example():flat(), "function", "calls", "self", "total", "self_share",
         "total_share", "recursive_calls"))
   end)

   it("has the values that gprof prints", function()
      assert.same({
         { 75.0, 0.3, 0.3, 75.0, 75.0 }, { 25.0, 0.4, 0.1, 100.0, 250.0 },
      }, values(example():flat(), "percent", "cumulative_seconds", "self_seconds", "self_per_call",
         "total_per_call"))
      local facts = example():facts()
      assert.same({ "m", 1000.0 }, { facts.prefix, facts.prefix_per_second })
   end)

   it("shows demangled names and unused functions on request", function()
      assert.same({ { "work()", 4 }, { "helper", 1 } },
         values(example({ demangle = true }):flat(), "function", "calls"))
      assert.same({ { "_Z4workv", 4 }, { "helper", 1 }, { "_unused", "-" }, { "end", "-" },
         { "main", "-" } }, values(example():flat { zeros = true }, "function", "calls"))
   end)

   it("finds a demangled name before any report has shown it", function()
      assert.same({ { "main", "work()", 2 }, { "helper", "work()", 2 } },
         values(example({ demangle = true }):callers "work()", "caller", "callee", "calls"))
   end)

   it("counts samples as well as time", function()
      assert.same({ { "_Z4workv", 30, 30 }, { "helper", 10, 25 } },
         values(example():flat { metric = "samples" }, "function", "self", "total"))
   end)
end)

describe("the order of a large flat profile", function()
   -- Enough functions for two threads; few weights and counts, so that names decide, and names
   -- that are alike for longer than a word or two, end inside of one, or are the same.
   local stems = { "", "_", "common_beginning_", "common_beginning_of_a_name_", "x" }

   local function large(count, seed)
      local random = seed
      local function any(n)
         random = (random * 1103515245 + 12345) & 0x7fffffff
         return (random >> 8) % n
      end
      local given, rows = { symbols = {}, bins = {}, arcs = {} }, {}
      for i = 1, count do
         local name = stems[any(#stems) + 1] .. ("f"):rep(any(3)) .. any(count // 2) .. "e"
         local address, self, calls = 0x1000 + i * 16, any(3), any(3)
         given.symbols[i] = { name, address }
         given.bins[#given.bins + 1] = self > 0 and { address, address + 4, self, self } or nil
         given.arcs[#given.arcs + 1] = calls > 0 and { 0, address, calls } or nil
         rows[i] = { name, self, calls, i }
      end
      given.symbols[count + 1] = { "last", 0x1000 + (count + 1) * 16 }
      return given, rows
   end

   local function comes_first(a, b)
      for _, column in ipairs { 2, 3 } do
         if a[column] ~= b[column] then
            return a[column] > b[column]
         end
      end
      if a[1] ~= b[1] then
         return a[1] < b[1]
      end
      return a[4] < b[4]
   end

   it("is by time, calls and name", function()
      local given, rows = large(20000, 7)
      table.sort(rows, comes_first)
      local profile = assert(profiles.make(given))
      local at = 0
      for name, self, calls in core.each(profile:flat(), { "function", "self", "calls" }) do
         at = at + 1
         local row = rows[at]
         if row[1] ~= name or row[2] ~= self or row[3] ~= (calls or 0) then
            assert.same(row, { name, self, calls or 0, at })
         end
      end
      assert.is_true(rows[at + 1][2] == 0 and rows[at + 1][3] == 0)
   end)

   it("is the same without a second thread", function()
      local given = large(20000, 11)
      local alone, both = assert(profiles.make(given)), assert(profiles.make(given))
      core.drain(alone:graph()) -- computes the flow without the order of the flat profile
      assert.same(core.rows(alone:flat { zeros = true }), core.rows(both:flat { zeros = true }))
   end)
end)


describe("graph_listing", function()
   it("has gprof's lines in gprof's order", function()
      assert.same({
         { "spontaneous", "-", "-", "-", "-", "-", "-" },
         { "function", "[1]", "main", "-", "-", 0.0, 0.4 },
         { "callee", "-", "helper", 1, 1, 0.1, 0.15 },
         { "callee", "-", "_Z4workv", 2, 4, 0.15, 0.0 },
         { "separator", "-", "-", "-", "-", "-", "-" },
         { "caller", "-", "main", 2, 4, 0.15, 0.0 }, -- equal ones as they came
         { "caller", "-", "helper", 2, 4, 0.15, 0.0 },
         { "function", "[2]", "_Z4workv", 4, "-", 0.3, 0.0 },
         { "separator", "-", "-", "-", "-", "-", "-" },
         { "caller", "-", "main", 1, 1, 0.1, 0.15 },
         { "function", "[3]", "helper", 1, "-", 0.1, 0.15 },
         { "callee", "-", "_Z4workv", 2, 4, 0.15, 0.0 },
         { "separator", "-", "-", "-", "-", "-", "-" },
      }, values(example():graph_listing(), "kind", "label", "name", "count", "of", "self_seconds",
         "children_seconds"))
   end)

   it("lists calls from outside the program", function()
      local profile = example { arcs = { { 0, 0x1100, 3 }, { 0x1010, 0x1100, 1 } } }
      assert.same({ { "caller", "main", 1 }, { "outside", "-", 3 }, { "function", "helper", 4 } },
         { table.unpack(values(profile:graph_listing(), "kind", "name", "count"), 4, 6) })
   end)

   it("has a template for each of its kinds", function()
      local profile = example { arcs = { { 0x1010, 0x1100, 1 }, { 0x1110, 0x1010, 2 },
         { 0x1110, 0x1100, 5 }, { 0x1110, 0x1200, 2 }, { 0, 0x1100, 3 }, { 0x1210, 0x1310, 1 } } }
      for _, options in ipairs { {}, { exclude_graph = { "helper" } },
         { include_graph = { "main" } } } do
         for _, kind in ipairs(profiles.column(profile:graph_listing(options), "kind")) do
            assert.is_string(templates.graph[kind], kind)
         end
      end
   end)

   it("marks in the kind an index number without an entry", function()
      local kinds = {}
      for _, row in ipairs(core.rows(example():graph_listing { exclude_graph = { "_Z4workv" } })) do
         kinds[#kinds + 1] = row.name == "_Z4workv" and row.kind or nil
      end
      assert.same({ "callee_hidden", "callee_hidden" }, kinds)
   end)

   it("gives the same rows for any selection of columns", function()
      local all = core.rows(example():graph_listing())
      for _, column in ipairs { "kind", "label", "percent", "self_seconds", "children_seconds",
         "count", "of", "name", "cycle", "reference" } do
         local some = core.rows(example():graph_listing(), { column })
         for i, row in ipairs(all) do
            assert.same(row[column], some[i][column])
         end
      end
   end)
end)

describe("index", function()
   it("lists names down three columns", function()
      local text = core.write_listing(example():index(),
         { kind = "kind", templates = templates.index })
      assert.same("   [2] _Z4workv                [3] helper\n", text)
   end)

   it("lists functions without calls only on request", function()
      local function names(options)
         return profiles.column(example():index(options), "name")
      end
      assert.same({ "_Z4workv", "helper" }, names())
      assert.same({ "_Z4workv", "end", "main", nil, "_unused", "helper" },
         names { zeros = true })
   end)
end)

describe("functions", function()
   it("lists used functions with number and address", function()
      assert.same({ { 0, "main", 0x1000, "-", false }, { 1, "helper", 0x1100, "-", false },
         { 2, "_Z4workv", 0x1200, "-", false } }, values(example():functions(), "number",
         "function", "address", "cycle", "is_pseudo"))
      assert.same(5, #core.rows(example():functions { zeros = true }))
   end)
end)

-- {====== Lines ======

local program = [[
volatile int v;
__attribute__((noinline)) int first(int a) {
   v += a;
   return v * a;
}

__attribute__((noinline)) int second(int a) {
   return first(a) + first(v);
}

int main(void) { return second(1) == 99; }
]]

describe("lines and annotations", function()
   if not gprof.has("gcc", "nm") then
      pending "gcc is not there"
      return
   end

   local function build()
      local folder = disk.temporary()
      os.remove(folder)
      assert(os.execute("mkdir " .. folder))
      local file <close> = assert(io.open(folder .. "/p.c", "w"))
      file:write(program)
      file:flush()
      assert(os.execute(("cd %s && gcc -g -O0 -no-pie -o p p.c"):format(folder)))
      local address = {}
      for line in io.popen("nm -n " .. folder .. "/p"):lines() do
         local value, name = line:match "^(%x+) %a (%S+)$"
         address[name or ""] = tonumber(value or "0", 16)
      end
      return folder, address
   end

   -- A trace: one sample in each 4 bytes from first to the end of main, 3 calls of first.
   local function trace(folder, address)
      local low, high = address.first & ~3, (address.main + 19) & ~3
      local file <close> = assert(io.open(folder .. "/gmon", "wb"))
      local count = (high - low) // 4
      file:write(("<c4I4c12BI8I8I4I4c15c1"):pack("gmon", 1, "", 0, low, high, count, 100, "seconds",
         "s"), ("\1\0"):rep(count),
         ("<BI8I8I4"):pack(1, address.second + 9, address.first + 4, 3))
      return count
   end

   it("divide samples among lines, and keep all of them", function()
      local folder, address = build()
      local count = trace(folder, address)
      local profile = assert(gprof.profile(folder .. "/p", { folder .. "/gmon" },
         { compat = false, lines = true }))
      local sum, by_function, seen = 0, {}, {}
      for _, row in ipairs(core.rows(profile:lines())) do
         sum = sum + row.count
         by_function[row["function"]] = (by_function[row["function"]] or 0) + row.self
         seen[("%s:%d"):format(row["function"], row.line or 0)] =
            row.file and row.file:match "[^/]*$"
      end
      assert.same(count, sum)
      assert.same("p.c", seen["first:3"])
      assert.same("p.c", seen["second:8"])
      local flat = profiles.flat(profile)
      for _, name in ipairs { "first", "second" } do
         assert.is_true(math.abs(by_function[name] - flat[name].self) <= 10000000, name)
         assert.same("p.c", flat[name].file:match "[^/]*$")
      end
      assert.same({ 2, 7 }, { flat.first.line, flat.second.line })
      disk.remove(folder)
   end)

   it("are those of the functions that a profile keeps", function()
      local folder, address = build()
      trace(folder, address)
      local profile = assert(gprof.profile(folder .. "/p", { folder .. "/gmon" },
         { compat = false, lines = true }))
      local marks = {}
      for _, row in ipairs(core.rows(profile:functions {}, { "number", "function" })) do
         marks[row.number] = row["function"] == "first"
      end
      local kept = {}
      for _, row in ipairs(core.rows(assert(profile:narrow("focus", marks)):lines())) do
         assert.is_true(row.count > 0)
         kept[row["function"] or "none"] = true
      end
      assert.same({ first = true }, kept) -- it calls none
      disk.remove(folder)
   end)

   it("of a hidden function get nothing of a metric that only its hidden callee has", function()
      local folder, address = build()
      local low, high = address.first & ~3, (address.main + 19) & ~3
      local count = (high - low) // 4
      -- One histogram of seconds in `first`, one of events in `second`, which calls `first`.
      local function histogram(from, to, dimension, letter)
         local bins = {}
         for i = 1, count do
            local at = low + 4 * (i - 1)
            bins[i] = at >= from and at + 4 <= to and "\5\0" or "\0\0"
         end
         return ("<BI8I8I4I4c15c1"):pack(0, low, high, count, 100, dimension, letter)
            .. table.concat(bins)
      end
      local file <close> = assert(io.open(folder .. "/gmon", "wb"))
      file:write(("<c4I4c12"):pack("gmon", 1, ""),
         histogram(address.first, address.second, "seconds", "s"),
         histogram(address.second, address.main, "events", "e"),
         ("<BI8I8I4"):pack(1, address.second + 9, address.first + 4, 3))
      file:close()
      local profile = assert(gprof.profile(folder .. "/p", { folder .. "/gmon" },
         { compat = false, lines = true }))
      local marks = {}
      for _, row in ipairs(core.rows(profile:functions {}, { "number", "function" })) do
         marks[row.number] = not row["function"]:match "^main"
      end
      local function lines_of(made)
         local sums = {}
         for _, metric in ipairs { "time", "events" } do
            for _, row in ipairs(core.rows(made:lines { metric = metric })) do
               local key = metric .. " of " .. row["function"]
               sums[key] = row.self ~= 0 and (sums[key] or 0) + row.self or sums[key]
            end
         end
         return sums
      end
      local before = lines_of(profile)
      assert.is_true(before["time of first"] > 0 and before["events of second"] > 0)
      assert.is_nil(before["time of second"])
      assert.same({ ["events of second"] = before["events of second"] },
         lines_of(assert(profile:narrow("hide", marks))))
      disk.remove(folder)
   end)

   it("put calls on the lines where functions begin", function()
      local folder, address = build()
      trace(folder, address)
      local profile = assert(gprof.profile(folder .. "/p", { folder .. "/gmon" },
         { compat = false, lines = true }))
      local calls, lines = {}, {}
      for _, row in ipairs(core.rows(profile:annotations())) do
         calls[#calls + 1] = row.calls and { row.line, row.calls }
         lines[#lines + 1] = row.file and row.line
      end
      assert.same({ { 2, 3 } }, calls)
      local sorted = table.move(lines, 1, #lines, 1, {})
      table.sort(sorted)
      assert.same(sorted, lines)
      disk.remove(folder)
   end)
end)

-- }======

-- {====== Lifetime ======

describe("a profile", function()
   it("outlives the readers that it was built from, and its readers outlive it", function()
      local reader = example():flat()
      collectgarbage()
      collectgarbage()
      assert.same(2, #core.rows(reader))
   end)

   it("cannot be used when closed, but its readers can", function()
      local profile = example()
      local reader = profile:flat()
      profile:close()
      profile:close()
      assert.error_matches(function() profile:flat() end, "profile is closed")
      assert.same(2, #core.rows(reader))
   end)

   it("raises the error that a reader raises", function()
      local dictionary = core.dictionary()
      local reader = core.filter(core.rows_reader({ { "low", "addr" }, { "high", "addr" },
         { "count", "int" } }, { { 1, 2, 3 } }, dictionary), function() error "no luck" end, {})
      assert.error_matches(function() core.profile { histogram = reader } end, "no luck")
   end)
end)

-- }======
