-- Tags: stressed.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local json = require "dkjson"
local reports = require "profio.reports"

-- The columns on which scripts may rely.
local promised = {
   flat = { "function", "calls", "self", "total", "self_share", "total_share", "file", "line" },
   graph = { "caller", "callee", "calls", "self", "total" },
   lines = { "file", "line", "count", "self", "self_share", "function" },
   calls = { "area", "lane", "start", "stop", "gross", "net", "call", "period", "outside", "depth",
      "caller", "flags" },
   statistics = { "area", "handle", "value", "context", "count", "net", "net_min", "net_max",
      "net_mean", "net_stddev", "net_p50", "net_p99", "gross", "gross_p99", "call", "call_min",
      "period", "period_mean", "outside", "outside_max", "net_max_at", "gross_max_at",
      "call_max_at", "period_jitter" },
}

-- Returns a report of the small trace with names, as rows.
local function rows(words)
   local text, status, errors = command.run("profio --symbols small.nm --output json " .. words)
   assert.equal("", errors)
   assert.equal(0, status)
   return (json.decode(text))
end

local function text(words)
   local printed, status = command.run("profio --symbols small.nm " .. words)
   assert.equal(0, status)
   return printed
end

local function names(list, column)
   local found = {}
   for i, row in ipairs(list) do
      found[i] = row[column or "function"]
   end
   return table.concat(found, " ")
end

describe("the list of reports", function()
   it("has the columns that scripts rely on", function()
      for name, columns in pairs(promised) do
         local known = {}
         for _, column in ipairs(reports.named(name).columns) do
            known[column.name] = true
         end
         for _, column in ipairs(columns) do
            assert.is_true(known[column], name .. " lacks " .. column)
         end
      end
   end)

   it("raises for an unknown name", function()
      assert.error_matches(function()
         reports.named "x"
      end, "no report 'x'; there are: flat, graph, tree")
   end)
end)

describe("--report flat", function()
   it("has self and total in ns, and shares", function()
      local list = rows "--report flat"
      assert.equal("work leaf main", names(list))
      assert.same({ "work", 5, 350000000, 500000000 },
         { list[1]["function"], list[1].calls, list[1].self, list[1].total })
      assert.is_true(math.abs(list[1].self_share - 35 / 60) < 1e-12)
      assert.is_true(math.abs(list[1].total_share - 50 / 60) < 1e-12)
      assert.is_nil(list[3].calls)
   end)

   it("adds up to all samples", function()
      local sum = 0
      for _, row in ipairs(rows "--report flat") do
         sum = sum + row.self
      end
      assert.equal(600000000, sum)
   end)

   it("looks like gprof's in text", function()
      assert.equal("Flat profile:\n\nEach sample counts as 0.01 seconds.\n"
         .. "  %   cumulative   self              self     total           \n"
         .. " time   seconds   seconds    calls  ms/call  ms/call  name    \n"
         .. " 58.33      0.35     0.35        5    70.00   100.00  work\n"
         .. " 25.00      0.50     0.15       20     7.50     7.50  leaf\n"
         .. " 16.67      0.60     0.10                             main\n", text "--report flat")
   end)

   it("shows the rows that --where and --top leave, in the same look", function()
      local printed = text "--report flat --where function=leaf"
      assert.matches("\n 25.00 .* leaf\n$", printed)
      assert.not_matches("work", printed)
      assert.matches("name    \n 58.33 [^\n]* work\n$", text "--report flat --top 1")
   end)

   it("is a table when other columns are asked for", function()
      assert.equal("function  self (ms)\nwork        350.000\n",
         text "--report flat --columns function,self --top 1")
      assert.equal("function  self (ms)\nwork        350.000\n",
         text "--report flat --columns function,self --top 1 --unit ms")
      assert.equal("n   t\n3  25\n", text
         "--report flat --aggregate n=count,'t=sum(calls)'")
   end)

   it("measures samples with --metric", function()
      assert.equal(35, rows("--report flat --metric samples")[1].self)
   end)

   it("is narrowed by --focus, --ignore and --hide", function()
      local focused = rows "--report flat --focus work" -- and what it calls
      assert.equal("work leaf", names(focused))
      assert.equal(0.7, focused[1].self_share)
      assert.equal("work", names(rows "--report flat --focus flat=work"))
      local ignored = rows "--report flat --ignore work"
      assert.equal("main", names(ignored)) -- without what it called, too
      assert.equal(1, ignored[1].self_share)
      assert.equal("leaf main", names(rows "--report flat --ignore flat=work"))
      local hidden = rows "--report flat --hide work"
      assert.equal("main leaf", names(hidden)) -- what it cost is its caller's
      assert.equal(0.75, hidden[1].self_share)
   end)
end)

describe("--report graph", function()
   it("has an arc in each row, and the time handed along it", function()
      local list = rows "--report graph"
      assert.equal("main work leaf", names(list, "callee"))
      assert.same({ "main", "work", 5, 350000000, 500000000 },
         { list[2].caller, list[2].callee, list[2].calls, list[2].self, list[2].total })
   end)

   it("looks like gprof's in text", function()
      local printed = text "--report graph"
      assert.equal([[
			Call graph


granularity: each sample hit covers 4 byte(s) for 1.67% of 0.60 seconds

index % time    self  children    called     name
                                                 <spontaneous>
[1]    100.0    0.10    0.50                 main [1]
                0.35    0.15       5/5           work [2]
-----------------------------------------------
]], printed:match "^.-%-%-%-+\n")
      assert.matches("\n\f\nIndex by function name\n\n +%[3%] leaf +%[1%] main +%[2%] work\n$",
         printed)
   end)

   it("leaves out calls from one function to another", function()
      local list = rows "--report graph --ignore work/leaf"
      for _, row in ipairs(list) do
         assert.is_false(row.caller == "work" and row.callee == "leaf")
      end
      assert.equal(350000000, rows("--report flat --ignore work/leaf")[1].total)
   end)

   it("shows entries of some functions, and what they call", function()
      local printed = text "--report graph --focus graph=work"
      assert.matches("\n%[%d%] [^\n]* work %[%d%]\n", printed)
      assert.not_matches("\n%[%d%] [^\n]* main %[%d%]\n", printed)
      assert.not_matches("\n%[%d%] [^\n]* leaf %[%d%]\n", text "--report graph --ignore graph=leaf")
   end)

   it("is a table with --where", function()
      assert.equal("caller  callee  calls  self (ms)  total (ms)  caller_file  callee_file\n"
         .. "main    work        5    350.000     500.000\n",
         text "--report graph --where caller=main")
   end)
end)

describe("--report blocks", function()
   it("says how often functions ran", function()
      local list = rows "--report blocks"
      assert.equal("work leaf", names(list))
      assert.equal(20, list[2].count)
   end)
end)

describe("--report compare", function()
   it("is empty where gprof is right", function()
      assert.equal("", names(rows "--report compare --where exact_self=0"))
   end)
end)

describe("reports with source lines", function()
   local programs = require "spec.support.programs"

   if not programs.has "gcc" then
      pending "gcc is not installed"
      return
   end

   local source = programs.source("lines.c", [[
int x;
void once(void) { x++; }
void
many(int n)
{
  for (volatile int i = 0; i < n; i++)
    x += i;
}
void never(void) { x--; }
int main(void)
{
  for (int i = 0; i < 300; i++)
    many(1000000);
  once();
  return x == 42 ? (never(), 1) : 0;
}
]])

   local program, files = programs.profiled("lines", source, "-no-pie -O0")

   it("has time by line, most first", function()
      local found = json.decode((programs.analyze("--report", "lines", "--output", "json", program,
         files[1])))
      assert.equal("many", found[1]["function"])
      assert.is_true(found[1].line == 6 or found[1].line == 7)
      assert.matches("lines%.c$", found[1].file)
   end)

   it("looks like gprof's option -l in text", function()
      local printed = programs.analyze("--report", "lines", program, files[1])
      assert.matches("^Flat profile:\n", printed)
      assert.matches("\n *%d+%.%d%d +%d+%.%d%d +%d+%.%d%d +many %(lines%.c:[67]%)\n", printed)
   end)

   it("annotates the source with time and calls", function()
      local printed = programs.analyze("--report", "annotate", program, files[1])
      assert.matches("%*%*%* File .*lines%.c:\n", printed)
      assert.matches("\n +1 %-> void once%(void%) { x%+%+; }\n", printed)
      assert.matches("\n +##### %-> void never", printed)
      assert.matches("\n +%d+%.%d%d +%-> +for %(volatile", printed)
      assert.matches("Top 10 Lines:", printed)
      assert.matches("\nExecution Summary:\n", printed)
   end)

   it("states the time of code without line numbers", function()
      local gmon = require "spec.support.gmon_builder"
      local function address_of(name) -- _start is of the C library
         return assert(tonumber(programs.output("nm %s", program):match("(%x+) T " .. name), 16))
      end
      local bytes = gmon.new("<", 8):header()
      for name, count in pairs { many = 5, _start = 3 } do
         local low = address_of(name)
         bytes:histogram { low = low, high = low + 4, bins = { count } }
      end
      local path = command.file("places.gmon", bytes:bytes())
      assert.matches("0%.05   Seconds in this file\n\n +0%.03   Seconds in code without line "
         .. "numbers\n$", (programs.analyze("--report", "annotate", program, path)))
   end)

   it("finds the source under a folder of --source, and says when it does not", function()
      local folder = command.folder
      os.execute(("mkdir -p %s/moved && mv %s %s/moved"):format(folder, source, folder))
      finally(function()
         os.execute(("mv %s/moved/lines.c %s"):format(folder, source))
      end)
      assert.matches("source is not found", (programs.analyze("--report", "annotate", program,
         files[1])))
      local moved = programs.analyze("--report", "annotate", "--source", folder .. "/moved",
         program, files[1])
      assert.matches("void once%(void%)", moved)
   end)

   it("names functions by file, and by file and line", function()
      local function flat(spec)
         return (programs.analyze("--report", "flat", "--output", "csv", "--columns", "function",
            "--focus", spec, program, files[1]))
      end
      assert.equal("function\nmany\n", flat "lines.c:many")
      assert.equal("function\nonce\n", flat "lines.c:2")
      assert.matches("many\n", flat "lines.c")
   end)
end)
