-- Export clickhouse is understood by a server of ClickHouse.
--
-- Extra: needs clickhouse-server.

local clickhouse = require "spec.support.clickhouse"
local core = require "profio.core"
local command = require "spec.support.command"
local csv = require "spec.support.csv"
local events = require "spec.support.events"
local view = require "profio.view"

describe("export clickhouse", function()
   if not clickhouse.is_installed() or not pcall(require, "profio.store") then
      pending "clickhouse-server or profio.store is not installed"
      return
   end

   local server

   setup(function()
      server = clickhouse.servers("sink", 1)[1]
   end)

   teardown(function()
      server:close()
   end)

   -- Creates the table t and inserts the rows of a view. Returns the bytes of the rows.
   local function load(rows, options)
      options.name, options.ddl = "t", true
      server:ask "DROP TABLE IF EXISTS t"
      server:ask(assert(rows:export("clickhouse", nil, options)))
      options.ddl = nil
      local bytes = assert(rows:export("clickhouse", nil, options))
      server:ask("INSERT INTO t FORMAT RowBinary\n" .. bytes)
      return bytes
   end

   it("gives tables that return the same bytes, for all formats", function()
      local count = 0
      for rows, name, path in csv.samples(3) do
         local bytes = load(rows, { key = "" }) -- without a key the order stays
         assert.equal(bytes, server:ask "SELECT * FROM t FORMAT RowBinary", path .. ": " .. name)
         count = count + 1
      end
      assert.is_true(count > 30, count)
   end)

   it("gives tables sorted by time, with missing values, stacks and any bytes", function()
      local trace <close> = events.open
         "1 enter main\n2 enter work\n4 leave work\n5 enter -\n5 leave -\n6 leave main\n"
      load(trace:calls():sort "-start", { key = "start", columns = { "start", "area", "stack" } })
      assert.equal("1\tmain\t['main']\n2\twork\t['main','work']\n", server:ask
         "SELECT start, area, stack FROM t WHERE area IS NOT NULL")
      local odd = "q'\"`\\\n\t\0\xff" .. ("x"):rep(1 << 20)
      local rows = view.over(function()
         return core.rows_reader({ { "odd `\\\n'\" name", "name" }, { "n", "int" } },
            { { odd, math.mininteger }, {} })
      end)
      local bytes = load(rows, {})
      assert.equal(bytes, server:ask "SELECT * FROM t FORMAT RowBinary")
      assert.equal(#odd .. "\t1\n", server:ask(
         "SELECT sum(length(assumeNotNull(`odd \\`\\\\\\n'\" name`))), countIf(n IS NULL) FROM t"))
   end)

   it("is loaded by the commands of the help page", function()
      if os.execute "command -v clickhouse-client >/dev/null" == nil then
         pending "clickhouse-client is not installed"
         return
      end
      server:ask "DROP TABLE IF EXISTS arcs"
      local text, status, errors = command.run(([[
         client() { clickhouse-client --port %d --user fleet --password secret "$@"; }
         profio export clickhouse --table arcs --set ddl=true gmon.out 2>/dev/null | client &&
         profio export clickhouse --table arcs -o arcs.rowbinary gmon.out 2>/dev/null &&
         client --query "INSERT INTO arcs FORMAT RowBinary" < arcs.rowbinary &&
         client --query "SELECT from, to, count FROM arcs ORDER BY from"]]):format(server.tcp))
      assert.same({ "4112\t4356\t5\n4368\t4612\t20\n", 0, "" }, { text, status, errors })
   end)
end)
