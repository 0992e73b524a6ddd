-- Export sqlite: databases as Python's sqlite3 and the command sqlite3 read them, compared with
-- csv.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local cli = require "profio.cli"
local command = require "spec.support.command"
local core = require "profio.core"
local csv = require "spec.support.csv"
local events = require "spec.support.events"
local profio = require "profio"
local view = require "profio.view"

if not pcall(require, "profio.store") then
   pending "without libsqlite3-dev there are no databases"
   return
end

local function over(fields, rows)
   return view.over(function()
      return core.rows_reader(fields, rows)
   end)
end

local function bytes_of(hex)
   return (hex:gsub("%x%x", function(digits)
      return string.char(tonumber(digits, 16))
   end))
end

-- Reads a database by Python: its tables by name, with names and declarations of columns and with
-- rows of cells, such as "i5", "-", "tabc".
local function read(path)
   local text, status, errors = command.run(("/usr/bin/python3 '%s/spec/support/sqlite_rows.py' "
      .. "'%s'"):format(command.root, path))
   assert(status == 0, errors)
   local tables, now = { order = {} }, nil
   for line in text:gmatch "([^\n]*)\n" do
      local name = line:match "^table (%x*)$"
      if name then
         now = { rows = {} }
         tables[bytes_of(name)] = now
         table.insert(tables.order, bytes_of(name))
      elseif not now.columns then
         now.columns = {}
         for hex, type in line:gmatch "(%x*):(%a*)" do
            now.columns[#now.columns + 1] = bytes_of(hex) .. " " .. type
         end
      else
         local row = {}
         for kind, rest in line:gmatch "([-iftb])(%S*)" do
            row[#row + 1] = (kind == "t" or kind == "b") and kind .. bytes_of(rest) or kind .. rest
         end
         table.insert(now.rows, row)
      end
   end
   return tables
end

local function export(rows, options)
   local path = command.folder .. "/sink.db"
   os.remove(path)
   assert(rows:export("sqlite", path, options))
   return read(path)
end

-- Returns the csv cell of a cell, and checks its type.
local function cell_of(type, cell)
   local kind, rest = cell:sub(1, 1), cell:sub(2)
   if kind == "-" then
      return false
   elseif type == "name" or type == "area" then
      local is_text = utf8.len(rest) and not rest:find "\0"
      assert.equal(is_text and "t" or "b", kind)
      return rest
   elseif type == "bytes" then
      assert.equal("b", kind)
      return rest
   elseif type == "num" then
      assert.equal("f", kind)
      return csv.cell(type, rest == "inf" and 1 / 0 or rest == "-inf" and -1 / 0
         or tonumber((rest:gsub("%.?0*p", "p"))))
   end
   assert.equal("i", kind)
   return type == "stack" and rest or csv.cell(type, math.tointeger(tonumber(rest)))
end

local function check_as_csv(rows, made, what)
   local fields = rows:fields()
   local records = csv.parse((rows:write { output = "csv", raw = true }))
   assert.equal(#records - 1, #made.rows, what)
   for i, row in ipairs(made.rows) do
      local expected, cells = csv.typed(fields, records[i + 1]), {}
      for c, field in ipairs(fields) do
         cells[c] = cell_of(field.type, row[c])
         if expected[c] == "nan" then -- SQLite has none
            expected[c] = false
         end
      end
      assert.same(expected, cells, what)
   end
end

describe("export sqlite", function()
   it("has all tables of a trace with the values of csv, for all formats", function()
      local trace, path, made
      for rows, name, from in csv.samples(2) do
         if path ~= from then
            path = from
            trace = assert(profio.open(path))
            made = export(trace)
            assert.same(trace.tables, { table.unpack(made.order, 1, #trace.tables) })
            assert.is_table(made.info)
         end
         check_as_csv(rows, made[name], path .. ": " .. name)
      end
   end)

   it("writes all types, at their limits, and values that are missing", function()
      local made = export(over({ { "t", "int" }, { "x", "num" }, { "a", "addr" },
         { "h", "handle" }, { "b", "bool" }, { "n", "name" }, { "f", "area" }, { "y", "bytes" },
         { 'odd "name", x', "int" } }, {
         { math.mininteger, -0.0, -1, 1 << 63, true, "a\0b", "'q\" \n", "\0\xff", 1 },
         { math.maxinteger, 1 / 0, 0, (1 << 63) - 1, false, "\xff", "\u{10ffff}", "", 2 },
         { 0, 0 / 0, 1 << 62, 0, false, "\xed\xa0\x80", "", "y", 3 },
         {},
      }), { name = 'a"b' })
      assert.same({ 'a"b' }, made.order)
      local rows = made['a"b']
      assert.same({ "t INTEGER", "x REAL", "a INTEGER", "h INTEGER", "b INTEGER", "n TEXT",
         "f TEXT", "y BLOB", 'odd "name", x INTEGER' }, rows.columns)
      assert.same({
         { "i-9223372036854775808", "f0x0.0p+0", "i-1", "i-9223372036854775808", "i1", "ba\0b",
            "t'q\" \n", "b\0\xff", "i1" },
         { "i9223372036854775807", "finf", "i0", "i9223372036854775807", "i0", "b\xff",
            "t\u{10ffff}", "b", "i2" },
         { "i0", "-", "i4611686018427387904", "i0", "i0", "b\xed\xa0\x80", "t", "by", "i3" },
         { "-", "-", "-", "-", "-", "-", "-", "-", "-" },
      }, rows.rows)
   end)

   it("writes values of megabytes", function()
      local long, path = ("x"):rep(1 << 20), command.folder .. "/long.db"
      assert(over({ { "n", "name" }, { "m", "name" }, { "y", "bytes" } },
         { { long, long .. "\xc3", long } }):export("sqlite", path))
      assert.equal("text|1048576|1\nblob|1048577|1\nblob|1048576|1\n", (command.run(([[
         for c in n "substr(m, 2)" y; do sqlite3 %s "SELECT typeof($c), length($c)
            + ('$c' LIKE 'substr%%'), instr($c, 'xxx') FROM rows"; done]]):format(path))))
   end)

   it("has the stacks to which rows refer", function()
      local trace <close> = events.open
         "1 enter main\n2 enter work\n3 enter leaf\n4 leave leaf\n5 leave work\n6 leave main\n"
      local path = command.folder .. "/stacks.db"
      assert(trace:calls():export("sqlite", path,
         { name = "calls", columns = { "area", "stack" } }))
      assert.equal("leaf|main;work;leaf\nwork|main;work\nmain|main\n", (command.run([[
         sqlite3 ]] .. path .. [[ "WITH RECURSIVE path(stack, parent, names) AS (
            SELECT stack, parent, frame FROM stacks UNION ALL
            SELECT p.stack, s.parent, s.frame || ';' || p.names
            FROM path p JOIN stacks s ON s.stack = p.parent)
         SELECT area, names FROM calls JOIN path USING (stack) WHERE path.parent IS NULL
         ORDER BY calls.rowid"]])))
      assert.same({ "stack INTEGER", "parent INTEGER", "depth INTEGER", "frame TEXT", "file TEXT",
         "line INTEGER" }, read(path).stacks.columns)
   end)

   it("is a plain database without a journal, which the command sqlite3 checks", function()
      local path = command.folder .. "/big.db"
      local rows = {}
      for i = 1, 100000 do
         rows[i] = { i, "name " .. i % 1000, ("y"):rep(i % 50) }
      end
      assert(over({ { "i", "int" }, { "n", "name" }, { "y", "bytes" } }, rows):export("sqlite",
         path))
      assert.equal("ok\n100000|5000050000|2450000\ndelete\n", (command.run("sqlite3 " .. path ..
         " 'PRAGMA integrity_check' 'SELECT count(*), sum(i), sum(length(y)) FROM rows' "
         .. "'PRAGMA journal_mode'")))
      local names = command.run("ls " .. command.folder .. " | grep '^big'")
      assert.equal("big.db\n", names)
   end)

   it("is written by the command: the trace, or the rows that are selected", function()
      local lines = "1 enter f\n5 leave f\n"
      local function tables(...)
         local text = events.fine(lines, "--export", "sqlite", ...)
         return read(command.file("cli.db", text))
      end
      assert.same({ "events", "raw", "info" }, tables().order)
      assert.same({ "events" }, tables("--table", "events").order)
      assert.same({ { "i1" } }, tables("--where", "time=1", "--columns", "time").events.rows)
      assert.same({ "statistics" }, tables("--report", "statistics").order)
      assert.same({ "e" }, tables("--table", "events", "--set", "name=e").order)
      assert.equal(1, #tables("--top", "1").order)
      local path = command.file("sink.events", "EVENTS\n" .. lines)
      assert.equal(0, cli.main { "export", "-o", command.folder .. "/by.sqlite", path })
      assert.equal(3, #read(command.folder .. "/by.sqlite").order)
      for _, words in ipairs { { "--from", "1" }, { "--set", "name=x" }, { "--set", "raw=true" },
         { "--output", "csv" }, { "--focus", "f" }, { "--merge" } } do
         local text, status = events.command(lines, "--export", "sqlite", table.unpack(words))
         assert.same({ words[1], "", 2 }, { words[1], text, status })
      end
   end)

   it("gives columns whose names differ in case distinct names, with a comment", function()
      for _, case in ipairs { { { "a", "A" }, { "a", "A_2" } }, { { "A", "a" }, { "A_2", "a" } },
         { { "A", "B", "AA", "Aa" }, { "A", "B", "AA", "Aa_2" } },
         { { "X", "x", "x_2" }, { "X_3", "x", "x_2" } } } do
         local fields, row = {}, {}
         for i, name in ipairs(case[1]) do
            fields[i], row[i] = { name, "int" }, i
         end
         local made = export(over(fields, { row })).rows
         for i, name in ipairs(case[2]) do
            assert.equal(name .. " INTEGER", made.columns[i])
            assert.equal("i" .. i, made.rows[1][i])
         end
      end
   end)

   it("leaves the old file if it fails, and names what is wrong", function()
      local path = command.file("kept.db", "old")
      local function fails(rows, options)
         local done, message, code = rows:export("sqlite", path, options)
         assert.is_nil(done)
         assert.equal("old", command.read(path))
         return message, code
      end
      local wide = {}
      for i = 1, 2001 do
         wide[i] = { "c" .. i, "int" }
      end
      local message = fails(over(wide, {}))
      assert.is_truthy(message:find("too many columns", 1, true), message)
      assert.error_matches(function()
         over({ { "a", "int" } }, { { 1 } }):filter(function() error "mine" end, "a")
            :export("sqlite", path)
      end, "mine")
      assert.equal("old", command.read(path))
      local source = command.file("read.events", "EVENTS\n1 enter f\n")
      local open <close> = assert(profio.open(source))
      assert.error_matches(function() open:export("sqlite", source) end, "is read")
      local _, status, errors = command.run
         "TMPDIR=/nosuch profio export sqlite -o kept.db gmon.out"
      assert.equal(1, status)
      assert.is_truthy(errors:find("TMPDIR", 1, true), errors)
      assert.equal("old", command.read(path))
   end)

   it("leaves no temporary file and the old output when it is killed", function()
      command.file("kill.lua", [[
         local core = require "profio.core"
         local profio = require "profio"
         local rows = require("profio.view").over(function()
            local n = 0
            return core.decoder({ { "i", "int" } }, function(put)
               while true do
                  n = n + 1
                  put(n)
                  if n == 100000 then print "running" io.stdout:flush() end
               end
            end, core.dictionary(), "endless")
         end)
         assert(rows:export("sqlite", "kill.db"))
      ]])
      local said = command.run(([[rm -rf kill.tmp && mkdir kill.tmp && echo old > kill.db
         export TMPDIR=$PWD/kill.tmp
         export %s
         mkfifo kill.tmp/pipe
         for signal in KILL TERM; do
            lua5.4 kill.lua > kill.tmp/pipe & pid=$!
            read word < kill.tmp/pipe
            ls -l /proc/$pid/fd | grep -c 'kill.tmp/profio-.* (deleted)'
            kill -$signal $pid; wait $pid 2>/dev/null
            echo $word; ls kill.tmp; cat kill.db
         done; rm -rf kill.tmp]]):format(command.in_tree))
      assert.equal(("2\nrunning\npipe\nold\n"):rep(2), said)
   end)
end)
