-- profio store add with several processes: the store, the messages and the status are those of one.
--
-- Extra: many stores beside many files.

local command = require "spec.support.command"
local programs = require "spec.support.programs"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-jobs"

-- Makes the folder, empty.
local function begin()
   os.execute(("rm -rf '%s' && mkdir '%s'"):format(folder, folder))
end

-- Runs a line in the folder: output, status, messages.
local function run(line)
   return command.run("cd store-jobs && " .. line)
end

-- Returns what the tables of a store contain, without the times of adding and the checksums of the
-- details, which cover them.
local function dump(path)
   local text, status, errors = run(([[cp %s copy && sqlite3 copy "UPDATE runs SET added = 0,
      details = substr(details, 1, length(details) - 8)" .dump && rm copy]]):format(path))
   assert.equal("", errors)
   assert.equal(0, status)
   return text
end

-- Adds with one and with three processes; `before` is run before each. Compares the results.
local function compare(words, before)
   local results = {}
   for i, jobs in ipairs { 1, 3 } do
      run(before or "true")
      local text, status, errors = run(("rm -f a.db*; profio store add --jobs %d a.db %s"):format(
         jobs, words))
      results[i] = { text, status, errors, (run "ls"), dump "a.db" }
   end
   assert.same(results[1], results[2])
   return table.unpack(results[1])
end

-- Writes a file that registers a format: a trace begins with "do ", and the rest of it is run by a
-- shell, whose parent is the process that reads the trace.
local function register(name)
   command.file("store-jobs/" .. name, [[
      require("profio").register {
         name = "doing", score = function(bytes) return bytes:find "^do " and 100 or 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function(source)
            return { events = function(put)
               os.execute(source:read():sub(4))
               put(1, "enter", "f")
               put(2, "leave", "f")
            end }
         end,
      }
   ]])
end

-- Writes pprof files, and one among them whose reading runs a command, once.
local function files_with(words)
   math.randomseed(61)
   stored.files("store-jobs", 90)
   register "doing.lua"
   command.file("store-jobs/45-do.pb.gz", "do mkdir done || exit; " .. words)
end

-- Adds the files again and compares the store with them.
local function complete(path)
   run "printf 'do true' > 45-do.pb.gz"
   local _, status = run(("profio store add --load doing.lua --jobs 2 %s *.pb.gz"):format(path))
   assert.equal(0, status)
   assert.equal("ok\n", (run(("sqlite3 %s 'PRAGMA integrity_check'"):format(path))))
   assert.equal(run("profio --report flat --output csv $(ls | grep '^[0-9]*.pb.gz')"),
      (run("profio --report flat --output csv --run format=pprof " .. path)))
end

describe("adding runs with several processes", function()
   it("gives the same store", function()
      math.randomseed(60)
      stored.files("store-jobs", 40)
      stored.traces(folder, "xpp", 5)
      stored.traces(folder, "winidea", 5)
      local text = compare "--label version=v1 *.pb.gz xpp-* winidea-*"
      assert.equal("a.db: 50 runs added\n", text)
   end)

   it("adds a run once that several of them read", function()
      math.randomseed(62)
      stored.files("store-jobs", 7)
      run "for i in 1 2 3 4 5 6 7; do cp $i.pb.gz 9$i.pb.gz; cp $i.pb.gz 8$i.pb.gz; done"
      local text = compare "8?.pb.gz *.pb.gz 1.pb.gz 2.pb.gz"
      assert.equal("a.db: 7 runs added, 14 already there\n", text)
      text = run "profio store add --jobs 3 a.db *.pb.gz"
      assert.equal("a.db: 0 runs added, 21 already there\n", text)
      local _, status, errors = run "profio store add --jobs 2 --label a=b a.db 1.pb.gz 2.pb.gz"
      assert.equal(1, status)
      assert.matches("1%.pb%.gz: the store has this run .*\n.*2%.pb%.gz: the store has", errors)
   end)

   it("gives the same messages, losses and status", function()
      math.randomseed(63)
      stored.files("store-jobs", 9)
      command.file("store-jobs/4b.pb.gz", "nonsense")
      command.file("store-jobs/6b.pb.gz", "nonsense")
      for i = 1, 3 do
         command.file(("store-jobs/%dx.br"):format(i), require("spec.support.br_builder")()
            :module(1, "A.BR"):line(1, 100, 0):main():time(1500 + i):line(1, 101, 0):stop()
            :bytes())
      end
      local _, status, errors = compare "?.pb.gz ?b.pb.gz"
      assert.equal(1, status)
      assert.matches("4b%.pb%.gz: .*6b%.pb%.gz: ", errors)
      _, status, errors = compare "--format br ?x.br"
      assert.equal(3, status)
      assert.matches("1x%.br: damage: .*2x%.br: damage: .*3x%.br: damage: ", errors)
      _, status, errors = run "profio store add --jobs 3 --set nothing=1 b.db *.pb.gz"
      assert.equal(2, status)
      assert.matches("%-%-set: no option 'nothing'", errors)
   end)

   it("takes the files beside a trace with it", function()
      begin()
      for i = 1, 4 do
         local writer = assert(require("profio").create(("%s/w%d.txt"):format(folder, i), {
            format = "winidea", dialect = "text1", timeline_binary = true }))
         writer:write { time = 0, event = "enter", area = "A" }
         writer:write { time = i, event = "leave", area = "A" }
         assert(writer:close())
      end
      assert.equal("a.db: 4 runs added\n", (compare "w*"))
   end)

   it("stores programs once, and the labels of folders", function()
      begin()
      local program, files = programs.profiled("jobs", "spec/data/gmon/cycle.c", "")
      run(("cp '%s' prog; cp '%s' g1"):format(program, files[1]))
      for i = 2, 5 do
         run(("profio --merge -o g%d %s"):format(i, ("g1 "):rep(i)))
      end
      assert.equal(0, (select(2, compare "--label a=b prog g?")))
      run "rm -rf runs; profio store export -o runs a.db"
      assert.equal(0, (select(2, compare "runs")))
   end)

   it("removes files with --move", function()
      math.randomseed(64)
      stored.files("store-jobs", 20)
      command.file("store-jobs/bad.pb.gz", "nonsense")
      run "mkdir kept && cp *.pb.gz kept"
      local _, status, _, names = compare("--move *.pb.gz", "cp kept/* .")
      assert.equal(1, status)
      assert.equal("a.db\nbad.pb.gz\nkept\n", names)
   end)

   it("keeps its runs when the disk is full", function()
      math.randomseed(65)
      stored.files("store-jobs", 300)
      register "doing.lua"
      local tool = ("lua5.4 '%s/examples/analyze.lua'"):format(command.root)
      run(("%s store add f.db 1.pb.gz 2.pb.gz"):format(tool))
      local _, status, errors = run(("trap '' XFSZ; ulimit -f 150; %s store add --jobs 2 f.db "
         .. "*.pb.gz"):format(tool))
      assert.equal(1, status)
      assert.matches("f%.db: .*\n.*added before that\n", errors)
      complete "f.db"
   end)

   it("reports a process that was killed", function()
      files_with "kill -KILL $PPID"
      local text, status, errors = run "profio store add --load doing.lua --jobs 2 k.db *.pb.gz"
      assert.equal("", text)
      assert.equal(1, status)
      assert.matches("45%-do%.pb%.gz: the process that reads it was killed by signal 9", errors)
      complete "k.db"
   end)

   it("ends its processes when it is killed", function()
      files_with [[
         ps -o pid= --ppid $(ps -o ppid= -p $PPID) > workers
         kill -KILL $(ps -o ppid= -p $PPID)
      ]]
      local _, status = run "profio store add --load doing.lua --jobs 3 k.db *.pb.gz"
      assert.not_equal(0, status)
      local pids = {}
      for pid in command.read(folder .. "/workers"):gmatch "%d+" do
         pids[#pids + 1] = pid
      end
      assert.equal(3, #pids)
      assert.equal("ended\n", (run(("p=%s; wait_until '! ps -p $p -o stat= | grep -qv Z' && "
         .. "echo ended"):format(table.concat(pids, ",")))))
      complete "k.db"
   end)

   it("ends by Ctrl-C with what it has added", function()
      files_with "kill -INT $(ps -o ppid= -p $PPID)"
      local _, status, errors = run "profio store add --load doing.lua --jobs 2 k.db *.pb.gz"
      assert.equal(1, status)
      assert.matches("interrupted: %d+ runs added to k%.db; the other files can be added later",
         errors)
      complete "k.db"
   end)

   it("expects a number of processes", function()
      for _, jobs in ipairs { "0", "-1", "1.5", "x", "1000" } do
         local _, status, errors = run(("profio store add --jobs %s a.db 1.pb.gz"):format(jobs))
         assert.equal(2, status)
         assert.matches("%-%-jobs", errors)
      end
   end)
end)
