-- A store in ClickHouse with a million runs: a command asks the servers only for the runs that it
-- names, so neither what they answer nor the memory of the command grows with the store.
--
-- Extra: needs clickhouse-server.
-- Unsanitized: it runs commands, and measures their memory.

local clickhouse = require "spec.support.clickhouse"
local disk = require "spec.support.disk"

if not clickhouse.is_installed() then
   pending "a store of many runs in ClickHouse (needs clickhouse-server)"
   return
end

local command = require "spec.support.command"
local profio = require "profio"
local schema = require "profio.internal.store.clickhouse.schema"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-many"
local MANY <const> = 1000000
local MOST_ANSWERED <const> = 1 << 20 -- bytes
local MOST_MEMORY <const> = 64 << 10 -- KB

-- Runs the command and prints the most memory of its process, in KB, and the bytes that servers
-- have answered, as the last line.
local child = [[
   require "profio.core"
   local native, answered = require "profio.store", 0
   local open = native.http
   function native.http()
      local client = open()
      local function count(answers, ...)
         for _, answer in ipairs(answers or {}) do
            answered = answered + #answer
         end
         return answers, ...
      end
      return { exchange = function(_, requests) return count(client:exchange(requests)) end,
         send = function(_, requests) return client:send(requests) end,
         close = function() return client:close() end }
   end
   local status = require("profio.cli").main(arg, io.stderr)
   for line in io.lines "/proc/self/status" do
      local most = line:match "^VmHWM:%s*(%d+)"
      if most then io.stderr:write(("%s KB, %d bytes\n"):format(most, answered)) end
   end
   os.exit(status)
]]

local fleet, path, files

-- Inserts rows of the table runs for runs that were never added, with the details of an added one:
-- one each minute from 2017-07-14 on, of 50 versions and 1,000 hosts.
local function insert_many()
   local own = { hash = "MD5(toString(number))", attempt = "toInt64(number)",
      time = "toInt64(1500000000 + number * 60) * 1000000000",
      month = "toInt64(toYYYYMM(toDateTime(1500000000 + number * 60, 'UTC')))",
      keys = "['host', 'version']",
      values = "[concat('h', toString(number % 1000)), concat('w', toString(number % 50))]",
      path = "concat('/builds/', toString(number), '.pb.gz')" }
   local names, columns = {}, {}
   for i, column in ipairs(schema.columns) do
      names[i] = ("`%s`"):format(column[1])
      columns[i] = own[column[1]] or ("(SELECT any(`%s`) FROM runs)"):format(column[1])
   end
   fleet:ask(("INSERT INTO runs (%s) SELECT %s FROM numbers(%d)"):format(table.concat(names, ", "),
      table.concat(columns, ", "), MANY))
end

-- Runs the command; returns its output and what it has written to standard error.
local function run(line)
   local program = command.file("store-many/child.lua", child)
   local text, status, errors = command.run(("PROFIO_STORE_PASSWORD=secret %s lua5.4 %s %s")
      :format(command.in_tree, program, line))
   assert.equal(0, status, errors)
   local memory, answered = errors:match "(%d+) KB, (%d+) bytes\n$"
   assert.is_true(tonumber(memory) < MOST_MEMORY, line .. ": " .. errors)
   assert.is_true(tonumber(answered) < MOST_ANSWERED, line .. ": " .. errors)
   return text, errors
end

describe("a store with a million runs", function()
   setup(function()
      disk.fresh(folder)
      fleet = clickhouse.fleet("many", 1)
      path = fleet:address()
      math.randomseed(31)
      files = stored.files("store-many/files", 101)
      stored.add(path, { table.unpack(files, 1, 100) }, { version = "v7", host = "h7" })
      insert_many()
      assert.equal(("%d\n"):format(MANY + 100), fleet:ask("SELECT count() FROM runs")[1])
   end)

   teardown(function()
      fleet:close()
   end)

   it("gets one more", function()
      local added = ("store add --label version=v8 '%s' %s"):format(path, files[101])
      assert.matches(": 1 run added\n$", (run(added)))
      assert.matches(": 0 runs added, 1 already there\n$", (run(added)))
      assert.matches("h9", (run(("store label '%s' --run version=v8 --label host=h9 && true")
         :format(path)) .. run(("store ls --run version=v8 '%s'"):format(path))))
   end)

   it("lists the runs of a selection", function()
      local text = run(("store ls --output csv --run version=v7 '%s'"):format(path))
      assert.equal(101, select(2, text:gsub("\n", "")))
      -- One run each minute; of those of a host one each 1,000 minutes.
      for line, count in pairs { ["--run host=h5 --run version=w5"] = 1000,
         ["--run 'time=2018-01-01' "] = 1440, ["--run time=2018-01..2018-02 --run host=h4"] = 85,
         ["--run run=" .. assert(profio.store(path)):runs({ version = "v7" })[1].run] = 1 } do
         text = run(("store ls --output csv %s '%s'"):format(line, path))
         assert.equal(count + 1, select(2, text:gsub("\n", "")), line)
      end
   end)

   it("lists the latest runs, and says that there are more", function()
      local text, errors = run(("store ls --columns run,time '%s'"):format(path))
      assert.equal(1001, select(2, text:gsub("\n", "")))
      assert.matches("note: 1000 of 10001%d%d runs are shown, those with the latest times", errors)
      text, errors = run(("store ls --sort -time --top 3 --output csv --columns path '%s'"):format(
         path))
      assert.equal(4, select(2, text:gsub("\n", "")))
      assert.is_nil(errors:find "note")
      text = run(("store ls --sort time --top 2 --output csv --columns path '%s'"):format(path))
      assert.equal("path\n/builds/0.pb.gz\n/builds/1.pb.gz\n", text)
   end)

   it("lists labels", function()
      local text = run(("store labels --output csv '%s'"):format(path))
      assert.matches("\nversion,v7,100\n", text)
      assert.matches("\nversion,w49,20000\n", text)
      assert.matches("\nhost,h8,1000\n", text)
      assert.equal("key,value,runs\nhost,h7,100\nversion,v7,100\n",
         (run(("store labels --output csv --run version=v7 '%s'"):format(path))))
   end)

   it("adds up the profiles of a hundred runs", function()
      local csv = run(("report flat --output csv --run version=v7 '%s'"):format(path))
      local file = folder .. "/hundred.db"
      stored.add(file, { table.unpack(files, 1, 100) })
      assert.equal(run(("report flat --output csv '%s'"):format(file)), csv)
      assert.matches("^by,runs,[^\n]*\nv7,100,", (run(("store trend main --by version --run "
         .. "version=v7 --output csv '%s'"):format(path))))
   end)

   it("shows what it has", function()
      assert.matches("runs +10001%d%d\n", (run(("info '%s'"):format(path))))
   end)
end)
