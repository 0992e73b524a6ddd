-- Stores when processes are killed, several write, disks are full, and files are damaged or of
-- another schema.
--
-- PROFIO_KILLS: how often `profio store add` is killed, and `--move` as often: 20 times by default,
-- 200 times by `make torture` or `make torture-store`. `PRAGMA integrity_check` follows each kill.
--
-- Extra: commands are killed at many of their system calls.
-- Unsanitized: it kills whole commands.

local command = require "spec.support.command"
local profio = require "profio"
local stored = require "spec.support.stored"
local traced = require "spec.support.traced"

local folder = command.folder .. "/store-torture"
local kills = tonumber(os.getenv "PROFIO_KILLS" or "20")
local tool = ("lua5.4 '%s/examples/analyze.lua'"):format(command.root)

-- Runs a line in the folder.
local function run(line)
   return command.run("cd store-torture && " .. line)
end

-- Returns what SQLite itself says of a file.
local function asked(path, sql)
   local text, status, errors = run(("sqlite3 '%s' '%s'"):format(path, sql))
   assert.equal("", errors)
   assert.equal(0, status)
   return text
end

local function read(path)
   return command.read(folder .. "/" .. path)
end

local missing = traced.missing()
local it_is_killed = missing and function(name) pending(name .. ": " .. missing) end or it

-- Runs the command with words, and kills it at one of its system calls, by chance up to `most`;
-- returns the number of its calls.
local function kill(words, most)
   local fault, number = most and "SIGKILL" or "NONE", most and math.random(most) or 0
   run(("%s %s %s %s/*.pb.gz"):format(traced.words(folder, fault, number), tool, words, folder))
   return (traced.calls())
end

describe("a store whose writer is killed", function()
   it_is_killed("is whole, and adding again completes it", function()
      math.randomseed(20)
      local files = stored.files("store-torture", 600)
      local left, previous = 0, 0
      local calls = kill "store add whole.db"
      for i = 1, kills do
         kill("store add a.db", calls)
         local exists = os.execute(("test -s '%s/a.db'"):format(folder))
         if exists and asked("a.db", "SELECT count(*) FROM sqlite_master") ~= "0\n" then
            assert.equal("ok\n", asked("a.db", "PRAGMA integrity_check"))
            local count = tonumber(asked("a.db", "SELECT count(*) FROM runs"))
            assert.is_true(count >= previous)
            assert.equal("0\n", asked("a.db", "SELECT count(*) FROM runs WHERE id NOT IN "
               .. "(SELECT run FROM cells)"))
            assert.equal("0\n", asked("a.db", "SELECT count(*) FROM cells WHERE run NOT IN "
               .. "(SELECT id FROM runs)"))
            left, previous = left + (count < #files and 1 or 0), count
            if count == #files and i < kills then
               os.execute(("rm -f '%s'/a.db*"):format(folder))
               previous = 0
            end
         end
      end
      assert.is_true(left > 0, "no writer was killed in the middle")
      local text, status = run "profio store add a.db *.pb.gz"
      assert.equal(0, status)
      assert.matches(("%d already there\n$"):format(previous), previous > 0 and text
         or text .. "0 already there\n")
      assert.same(stored.forms(files), stored.forms(folder .. "/a.db"))
   end)
end)

describe("profio store add --move that is killed", function()
   it_is_killed("loses no file", function()
      math.randomseed(30)
      local count, left = 500, 500
      stored.files("store-torture", count)
      local whole = run "profio --report flat --output csv *.pb.gz"
      run "mkdir kept && cp *.pb.gz kept"
      local calls = kill "store add --move whole.db"
      run "mv kept/* ."
      for _ = 1, kills do
         kill("store add --move v.db", calls)
         left = tonumber((run "ls | grep -c 'pb.gz$'"))
         if left == 0 then
            break
         end
      end
      local _, status = run(left > 0 and "profio store add --move v.db *.pb.gz" or "true")
      assert.equal(0, status)
      assert.equal("0\n", run "ls | grep -c 'pb.gz$'")
      assert.equal(count .. "\n", asked("v.db", "SELECT count(*) FROM runs"))
      assert.equal(whole, run "profio --report flat --output csv v.db")
   end)
end)

describe("a store with several writers", function()
   it("gets the runs of all, once", function()
      math.randomseed(21)
      local files = stored.files("store-torture", 120)
      local text, status, errors = run(
         "{ (profio store add b.db [1-9].pb.gz ??.pb.gz; echo $? > 1.status) & "
         .. "(profio store add b.db 1*.pb.gz 2*.pb.gz; echo $? > 2.status) & "
         .. "(profio store add b.db *.pb.gz; echo $? > 3.status) & "
         .. "wait; cat ?.status; }")
      assert.equal("", stored.without_notes(errors))
      assert.equal(0, status)
      assert.matches("0\n0\n0\n$", text)
      local added = 0
      for count in text:gmatch "(%d+) runs? added" do
         added = added + tonumber(count)
      end
      assert.equal(#files, added)
      assert.equal("ok\n", asked("b.db", "PRAGMA integrity_check"))
      assert.same(stored.forms(files), stored.forms(folder .. "/b.db"))
   end)

   it("keeps its locks while the same process opens it as a trace", function()
      math.randomseed(28)
      local files = stored.files("store-torture", 1)
      local path = folder .. "/l.db"
      stored.add(path, files)
      local store <close> = assert(profio.store(path))
      assert.equal(1, #store:runs())
      local inode = require("lfs").attributes(path, "ino")
      local pid = command.read "/proc/self/stat":match "^%d+"
      local function locks() -- other systems of files have files of the same number
         local own = ("%s %%x+:%%x+:%d "):format(pid, inode)
         local _, count = command.read "/proc/locks":gsub(own, "")
         return count
      end
      local before = locks()
      assert.is_true(before > 0)
      for _ = 1, 2 do
         local trace <close> = assert(profio.open(path))
         assert(trace:profile())
      end
      assert.equal(before, locks())
      local whole <close> = assert(store:profile())
      assert.equal(before, locks())
      assert.is_truthy(whole)
   end)

   it("shows a reader the runs that were there when it began", function()
      math.randomseed(22)
      local files = stored.files("store-torture", 4)
      local path = folder .. "/r.db"
      stored.add(path, { files[1] })
      local trace <close> = assert(profio.open(path))
      stored.add(path, files)
      assert.equal(1, trace.runs:count())
      local first = stored.forms { files[1] }
      assert.equal(first["flat csv"], assert(trace:profile()):flat():write { output = "csv" })
      assert.equal(1, trace.info.runs)
      assert.same(stored.forms(files), stored.forms(path))
   end)
end)

describe("a store that cannot be written", function()
   it("is read, and says why nothing is added", function()
      math.randomseed(23)
      local files = stored.files("store-torture", 2)
      stored.add(folder .. "/a.db", { files[1] })
      run "chmod 444 a.db && mkdir -p ro && cp a.db ro/ && chmod 555 ro"
      -- as an ordinary user: root may write to any file
      local is_root = run "id -u" == "0\n"
      local user = is_root and "setpriv --reuid 65534 --regid 65534 --clear-groups " or ""
      run "chmod a+rx . .. ../.."
      local flat = run "profio --report flat 1.pb.gz"
      if run(user .. tool .. " --version") ~= "" then
         for _, path in ipairs { "a.db", "ro/a.db" } do
            local text, _, errors = run(user .. tool .. " --report flat " .. path)
            assert.equal("", errors)
            assert.equal(flat, text)
            local _, status, said = run(("%s%s store add %s 2.pb.gz"):format(user, tool, path))
            assert.equal(1, status)
            assert.matches("a%.db: ", said)
         end
      end
      run "chmod 755 ro"
   end)

   it("keeps its runs when the disk is full", function()
      math.randomseed(24)
      local files = stored.files("store-torture", 300)
      stored.add(folder .. "/full.db", { files[1], files[2] })
      local _, status, errors = run(("trap '' XFSZ; ulimit -f 150; %s store add full.db "
         .. "*.pb.gz"):format(tool))
      assert.equal(1, status)
      assert.matches("full%.db: .*\n.*added before that\n", errors)
      assert.equal("ok\n", asked("full.db", "PRAGMA integrity_check"))
      local text
      text, status = run "profio store add full.db *.pb.gz"
      assert.equal(0, status)
      assert.matches("already there", text)
      assert.same(stored.forms(files), stored.forms(folder .. "/full.db"))
   end)
end)

describe("a file of another kind or version", function()
   it("is refused with the reason", function()
      math.randomseed(25)
      local files = stored.files("store-torture", 1)
      for sql, message in pairs {
         ["PRAGMA user_version = 5"] = "a newer profio has written this store %(schema 5",
         ["PRAGMA user_version = 1"] = "the schema of this store is 1, without all checksums",
         ["PRAGMA user_version = 0"] = "the schema of this store is 0",
         ["PRAGMA application_id = 7"] = "no store of profio",
         ["DROP TABLE labels"] = "no such table",
         ["DROP TABLE cells"] = "no such table",
      } do
         os.execute(("rm -f '%s'/v.db*"):format(folder))
         stored.add(folder .. "/v.db", files)
         asked("v.db", sql)
         for _, line in ipairs { "store add v.db 1.pb.gz", "--format store --report flat v.db",
            "store drop --all v.db", "store merge n.db v.db" } do
            local _, status, errors = run("profio " .. line)
            local is_read = sql:find "cells" and line:find "^store [ad]"
               or sql:find "TABLE labels" and line:find "^store d"
            if not is_read then
               assert.equal(1, status, line)
               assert.matches(message, errors)
            end
         end
      end
   end)

   it("is no store if it is a database of something else", function()
      stored.files("store-torture", 1)
      run "sqlite3 o.db 'CREATE TABLE t(a)'"
      local _, status, errors = run "profio store add o.db 1.pb.gz"
      assert.equal(1, status)
      assert.matches("no store of profio: name another file", errors)
      _, status = run "profio o.db"
      assert.equal(1, status)
   end)
end)

describe("a damaged store", function()
   it("is reported or read, wherever it is damaged", function()
      math.randomseed(26)
      local files = stored.files("store-torture", 12)
      table.move(stored.traces(folder, "winidea", 6), 1, 6, #files + 1, files)
      stored.add(folder .. "/w.db", files, { v = "1" })
      asked("w.db", "PRAGMA wal_checkpoint(TRUNCATE)")
      local bytes, whole = read "w.db", stored.forms(folder .. "/w.db")
      for round = 1, 150 do
         local at = math.random(#bytes)
         local damaged = round % 5 == 0 and bytes:sub(1, at)
            or bytes:sub(1, at - 1) .. string.char(math.random(0, 255)) .. bytes:sub(at + 1)
         os.execute(("rm -f '%s'/d.db*"):format(folder))
         command.file("store-torture/d.db", damaged)
         local trace <close>, message, code = profio.open(folder .. "/d.db", { format = "store" })
         local profile
         if trace then
            profile, message, code = trace:profile()
            for _, name in ipairs(trace.tables) do
               local ok, raised = pcall(trace[name].count, trace[name])
               assert.is_true(ok or type(raised) == "string", raised)
            end
            local ok, raised = pcall(stored.statistics, trace)
            assert.is_true(ok or type(raised) == "string", raised)
         end
         if profile then
            assert.is_table(profile:flat():rows "self")
         else
            assert.matches("d%.db", message)
            assert.is_truthy(({ format = true, truncated = true, io = true,
               unsupported = true, limit = true })[code])
         end
      end
      assert.same(whole, stored.forms(folder .. "/w.db"))
   end)

   it("names the run whose cells are damaged, and check reads the others", function()
      math.randomseed(27)
      local files = stored.files("store-torture", 3)
      stored.add(folder .. "/c.db", files)
      asked("c.db", "UPDATE cells SET data = substr(data, 1, length(data) - 1) WHERE run = 2")
      local _, status, errors = run "profio --report flat c.db"
      assert.equal(1, status)
      local run_id = asked("c.db", "SELECT lower(hex(hash)) FROM runs WHERE id = 2"):sub(1, -2)
      assert.equal(32, #run_id)
      assert.matches("c%.db: .*run " .. run_id, errors)
      local text
      text, status = run "profio check c.db"
      assert.equal(3, status)
      assert.matches("c%.db: damage: .*run " .. run_id .. ".*store%-damaged", text)
      asked("c.db", "UPDATE runs SET details = substr(details, 2) WHERE id = 1")
      _, status, errors = run "profio --report flat c.db"
      assert.equal(1, status)
      assert.matches("the details of run %x+", errors)
   end)
end)
