-- The command profio store.
--
-- Tags: user.
-- Long: many commands.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local lfs = require "lfs"
local programs = require "spec.support.programs"
local stored = require "spec.support.stored"
local traced = require "spec.support.traced"

local folder = command.folder .. "/store-cli"
lfs.mkdir(folder)

-- Empties the folder and writes files 1.pb.gz ... into it.
local function fresh(count)
   math.randomseed(count)
   return stored.files("store-cli", count)
end

-- Runs a line in the folder; returns what it prints.
local function fine(line)
   local text, status, errors = command.run("cd store-cli && " .. line)
   assert.equal("", stored.without_notes(errors))
   assert.equal(0, status)
   return text
end

local function wrong(line, status, message)
   local _, found, errors = command.run("cd store-cli && " .. line)
   assert.matches(message, errors)
   assert.equal(status, found)
end

describe("profio store add", function()
   it("adds files once, and says so", function()
      fresh(5)
      assert.equal("a.db: 3 runs added\n", fine "profio store add a.db 1.pb.gz 2.pb.gz 3.pb.gz")
      assert.equal("a.db: 2 runs added, 3 already there\n", fine "profio store add a.db *.pb.gz")
      assert.equal("a.db: 0 runs added, 1 already there\n", fine "profio store add a.db 1.pb.gz")
   end)

   it("adds labels, in which --run finds the runs", function()
      fresh(4)
      fine "profio store add a.db --label version=v1 --label 'h=a=b c' 1.pb.gz 2.pb.gz"
      fine "profio store add a.db --label version=v2 3.pb.gz 4.pb.gz"
      assert.equal("path\n1.pb.gz\n2.pb.gz\n", (fine("profio store ls --run version=v1 "
         .. "--columns path --sort path --output csv a.db"):gsub("\r", "")))
      for _, kind in ipairs { "--report flat --output csv", "--report tree --output json",
         "--export pprof --set packed=false", "--export svg --set title=x", "--export folded" } do
         assert.equal(fine("profio " .. kind .. " 3.pb.gz 4.pb.gz"),
            fine("profio " .. kind .. " --run version!=v1 a.db"))
      end
      assert.equal(fine("profio --report diff --output csv --diff=1.pb.gz --diff=2.pb.gz 3.pb.gz "
         .. "4.pb.gz"), fine("profio --report diff --output csv --diff a.db --diff-run version=v1 "
         .. "--run version=v2 a.db"))
      assert.equal(fine "profio --report flat --output csv --focus f1 1.pb.gz 2.pb.gz",
         fine "profio --report flat --output csv --focus f1 --run 'h~^a=b' a.db")
   end)

   it("makes one run of all files with --one-run, in any order", function()
      fresh(3)
      assert.equal("a.db: 1 run added\n", fine "profio store add --one-run a.db 1.pb.gz 2.pb.gz")
      assert.equal("a.db: 0 runs added, 1 already there\n",
         fine "profio store add --one-run a.db 2.pb.gz 1.pb.gz")
      assert.equal(fine "profio --report flat 1.pb.gz 2.pb.gz", fine "profio --report flat a.db")
   end)

   it("removes files with --move, when they are in the store", function()
      fresh(3)
      command.file("store-cli/bad.pb.gz", "nonsense")
      wrong("profio store add --move a.db *.pb.gz", 1, "bad%.pb%.gz: not a trace")
      assert.is_nil(lfs.attributes(folder .. "/1.pb.gz"))
      assert.is_nil(lfs.attributes(folder .. "/3.pb.gz"))
      assert.is_table(lfs.attributes(folder .. "/bad.pb.gz"))
      assert.matches("^runs\r?\n3", fine("profio --table runs --aggregate runs=count --output csv "
         .. "a.db"))
   end)

   it("keeps damaged files with --move, each time", function()
      fresh(1)
      local bytes = require("spec.support.br_builder")():module(1, "A.BR"):line(1, 100, 0):main()
         :time(1500):line(1, 101, 0):stop():bytes()
      for _ = 1, 2 do
         command.file("store-cli/x.br", bytes)
         command.file("store-cli/1.br", (require("spec.support.br_builder")():module(1, "A.BR")
            :line(1, 100, 0):main():stop():bytes()))
         local _, status, errors = command.run("cd store-cli && profio store add --format br "
            .. "--move a.db x.br 1.br")
         assert.equal(3, status)
         assert.matches("x%.br: kept, because it is damaged\n", errors)
         assert.is_table(lfs.attributes(folder .. "/x.br"))
         assert.is_nil(lfs.attributes(folder .. "/1.br"))
      end
   end)

   it("adds what can be read, with its losses", function()
      fresh(2)
      command.file("store-cli/x.br", require("spec.support.br_builder")():module(1, "A.BR")
         :line(1, 100, 0):main():time(1500):line(1, 101, 0):stop():bytes())
      wrong("profio store add --format br a.db x.br", 3, "br%-nested")
      wrong("profio --report flat a.db", 3, "x%.br: damage: .*br%-nested")
      wrong("profio check a.db", 3, "^$")
      wrong("profio --strict --report flat a.db", 1, "x%.br: store: .* %(byte 27%)")
      assert.matches("damaged_runs +1\n", fine "profio info a.db")
      assert.matches("\n1\r?\n$", fine("profio store ls --run 'losses>=1' --columns losses "
         .. "--output csv a.db"))
      local text = command.run "cd store-cli && profio check a.db"
      assert.matches("x%.br: damage: .*br%-nested", text)
      local bytes, status = command.run("cd store-cli && profio --export pprof "
         .. "--set packed=false a.db")
      assert.equal(3, status)
      assert.matches("x%.br: .*br%-nested", bytes)
      assert.equal(command.run("cd store-cli && profio --format br --export pprof "
         .. "--set packed=false x.br"), bytes)
   end)

   it("keeps the losses in order of the paths", function()
      fresh(1)
      for i = 1, 3 do
         command.file(("store-cli/x%d.br"):format(i), require("spec.support.br_builder")()
            :module(1, "A.BR"):line(1, 100, 0):main():time(1500 + i):line(1, 101, 0):back(1, 9, 0)
            :line(1, 102, 0):stop():bytes())
      end
      command.run "cd store-cli && profio store add --format br a.db x3.br x1.br x2.br"
      local bytes = command.run "cd store-cli && profio --export pprof --set packed=false a.db"
      local _, count = bytes:gsub("br%-nested", "")
      assert.is_true(count >= 3)
      assert.equal(command.run("cd store-cli && profio --format br --export pprof "
         .. "--set packed=false x1.br x2.br x3.br"), bytes)
   end)

   it("ends at Ctrl-C with a message, and keeps what was added", function()
      if traced.missing() then
         return pending(traced.missing())
      end
      fresh(150)
      local here = command.folder .. "/store-cli"
      local function add(store, fault, number)
         local text, _, errors = command.run(("cd store-cli && %s %s store add %s '%s'/*.pb.gz")
            :format(traced.words(here, fault, number), command.analyze, store, here))
         return text, errors, (traced.calls())
      end
      local _, _, calls = add("whole.db", "NONE", 0)
      local said = 0
      for part = 1, 3 do
         os.execute(("rm -f '%s'/a.db*"):format(here))
         local text, errors = add("a.db", "SIGINT", calls * part // 6)
         assert.equal("", text)
         assert.matches("interrupted", errors)
         local told = errors:match "(%d+) runs? added" or "0"
         local kept = command.run "cd store-cli && profio store ls --columns kind --output csv a.db"
         assert.equal(tonumber(told), math.max(select(2, kept:gsub("\n", "")) - 1, 0), errors)
         said = said + (errors:find "interrupted: %d+ runs? added to a%.db; the other files"
            and 1 or 0)
      end
      assert.is_true(said > 0)
      assert.matches("runs? added", fine "profio store add a.db *.pb.gz")
      assert.equal("150", fine("profio store ls --aggregate n=count --output csv a.db"):match "%d+")
   end)

   it("shows how many files are read, if that is wanted", function()
      fresh(3)
      local _, status, errors = command.run("cd store-cli && profio store add --progress a.db "
         .. "*.pb.gz")
      assert.equal(0, status)
      assert.matches("\rprofio: 3 of 3 files\n$", errors)
   end)

   it("keeps histograms and arcs by address, and names with --exe", function()
      fresh(1)
      local program, files = programs.profiled("store-cli", "spec/data/gmon/cycle.c", "", 2)
      local paths = table.concat(files, " ")
      fine(("profio store add a.db %s %s"):format(program, paths))
      fine(("profio store add b.db %s"):format(paths))
      for _, report in ipairs { "flat", "graph", "annotate", "blocks", "lines" } do
         local want = fine(("profio report %s %s %s"):format(report, program, paths))
         assert.equal(want, fine(("profio report %s a.db"):format(report)))
         assert.equal(want, fine(("profio report %s --exe %s b.db"):format(report, program)))
      end
      assert.equal(fine(("profio report flat --compat gprof %s %s"):format(program, paths)),
         fine(("profio report flat --compat gprof --exe %s a.db"):format(program)))
      wrong("profio report flat --compat gprof a.db", 1, "give the executable %(%-%-exe%)")
      wrong("profio report tree a.db", 2, "tree")
      assert.matches("\n%S+ +2 .*%%", fine "profio store trend leaf a.db")
      fine "profio store add c.db 1.pb.gz"
      wrong(("profio report flat --exe %s c.db"):format(program), 2, "no addresses")
      fine(("profio export pprof -o m.pb.gz %s %s"):format(program, paths))
      wrong("profio store export -o runs a.db", 0, "the .gmon files have no names of functions")
      assert.matches("0 runs dropped; profio store ls", (command.run
         "cd store-cli && profio store drop --run format=pprof a.db"))
      wrong("profio store add m.db m.pb.gz 1.pb.gz", 0, "weights of 1 run, but not the addresses, "
         .. "mappings, labels")
      assert.matches("kind\ngraph\n", fine "profio store ls --columns kind a.db")
   end)

   it("reports what cannot be added", function()
      fresh(2)
      wrong("profio store add a.db none", 1, "none: ")
      wrong("profio store add a.db", 2, "expects a STORE and the files")
      wrong("profio store add", 2, "expects a STORE and the files")
      wrong("profio store add a.db --label x 1.pb.gz", 2, "KEY=VALUE, got 'x'")
      wrong("profio store add a.db --label x=1 --label x=2 1.pb.gz", 2, "given twice")
      wrong("profio store add a.db --label time=1 1.pb.gz", 2, "attribute of this name")
      wrong("profio store add 1.pb.gz 1.pb.gz", 2, "it is read, so it cannot be the output")
      wrong("profio store add 1.pb.gz 2.pb.gz", 1, "1%.pb%.gz: it is not a database")
      fine "profio store add a.db --label v=1 1.pb.gz"
      wrong("profio store add a.db --label v=2 1.pb.gz 2.pb.gz", 1, "with the labels v=1, not with "
         .. "v=2: profio store label changes those of run %x+")
      assert.equal("key  value  runs\nv    1         1\nv    2         1\n",
         fine "profio store labels a.db")
   end)
end)

describe("profio store label", function()
   it("sets, changes and removes labels", function()
      fresh(3)
      fine "profio store add a.db --label v=1 --label old=x 1.pb.gz 2.pb.gz"
      fine "profio store add a.db --label v=2 3.pb.gz"
      assert.equal("a.db: 2 runs labelled\n",
         fine "profio store label --run v=1 --label v=3 --label h='a=b c' --remove old a.db")
      assert.equal("key,value,runs\nh,a=b c,2\nv,2,1\nv,3,2\n",
         fine "profio store labels --output csv a.db")
      assert.equal("a.db: 3 runs labelled\n", fine "profio store label a.db --all --remove v")
      assert.equal("key,value,runs\nh,a=b c,2\n", fine "profio store labels --output csv a.db")
   end)

   it("reports wrong use", function()
      fresh(1)
      fine "profio store add a.db --label v=1 1.pb.gz"
      wrong("profio store label --run v=1 a.db", 2, "expects %-%-label KEY=VALUE or %-%-remove KEY")
      wrong("profio store label --label v=2 a.db", 2, "expects %-%-run COND or %-%-all")
      wrong("profio store label --all --label v=2 --remove v a.db", 2, "'v' is set and removed")
      wrong("profio store label --all --label time=2 a.db", 2, "attribute of this name")
      wrong("profio store label --all --remove time a.db", 2, "attribute of this name")
      wrong("profio store label --all --remove v=1 a.db", 2, "the name of a label, got 'v=1'")
      wrong("profio store label --all --label v a.db", 2, "KEY=VALUE, got 'v'")
      wrong("profio store label --run v=7 --label v=2 a.db", 1, "^$")
      wrong("profio store label --all --label v=2 none.db", 1, "none.db")
      assert.equal("key,value,runs\nv,1,1\n", fine "profio store labels --output csv a.db")
   end)
end)

describe("profio store", function()
   it("lists runs in all forms of rows", function()
      fresh(2)
      fine "profio store add a.db --label v='a b' 1.pb.gz"
      for _, form in ipairs { "text", "csv", "tsv", "json", "ndjson" } do
         assert.matches("1%.pb%.gz.*v=.*a b", fine("profio store ls --output " .. form .. " a.db"))
      end
      assert.matches("runs +1\n.*schema +4\n", fine "profio info a.db")
   end)

   it("removes runs", function()
      fresh(4)
      fine "profio store add a.db --label v=1 1.pb.gz 2.pb.gz"
      fine "profio store add a.db --label v=2 3.pb.gz 4.pb.gz"
      wrong("profio store drop a.db", 2, "expects %-%-run COND, %-%-keep AGE or %-%-all")
      wrong("profio store drop --run v=3 a.db", 1, "^$")
      assert.equal("a.db: 2 runs dropped\n", fine "profio store drop --run v=1 a.db")
      assert.equal(fine "profio --report flat 3.pb.gz 4.pb.gz", fine "profio --report flat a.db")
      assert.equal("a.db: 2 runs dropped\n", fine "profio store drop --all a.db")
      wrong("profio --report flat a.db", 1, "no run of the store is selected")
   end)

   it("merges stores", function()
      fresh(4)
      fine "profio store add a.db 1.pb.gz 2.pb.gz"
      fine "profio store add b.db --label x=y 3.pb.gz"
      fine "profio store add c.db 4.pb.gz 1.pb.gz"
      assert.equal("m.db: 2 runs added from a.db\nm.db: 1 run added from b.db\n"
         .. "m.db: 1 run added from c.db\n", fine "profio store merge m.db a.db b.db c.db")
      assert.equal(fine "profio --report flat *.pb.gz", fine "profio --report flat m.db")
      assert.equal("n.db: 1 run added from m.db\n", fine "profio store merge --run x=y n.db m.db")
      wrong("profio store merge m.db none.db", 1, "none%.db: ")
      wrong("profio store merge m.db", 2, "expects a STORE and the stores")
   end)

   it("has commands, and help for each", function()
      wrong("profio store", 2, "the command is missing; there are: add, ls")
      wrong("profio store frob", 2, "no command 'frob'; there are: add")
      wrong("profio store ls", 2, "expects one STORE, got none")
      wrong("profio store ls --move a.db", 2, "unknown option '%-%-move'")
      assert.equal(fine "profio store add --help", fine "profio help store add")
      assert.matches("Stores: the profiles", fine "profio help store")
   end)

   it("refuses --run without a store, and several stores", function()
      fresh(1)
      fine "profio store add a.db 1.pb.gz"
      fine "cp a.db b.db"
      wrong("profio --report flat --run v=1 1.pb.gz", 2, "%-%-run picks runs of a store; these "
         .. "files are traces of format 'pprof'")
      wrong("cat a.db | profio --report flat -", 1, "cannot be read from a pipe or from data")
      wrong("profio --report flat --run v=1 a.db", 2, "no label 'v'; there are: run, time")
      wrong("profio --report flat a.db b.db", 2, "profio store merge A B")
      wrong("profio --diff-run v=1 a.db", 2, "%-%-diff%-run is for the files of %-%-diff")
   end)
end)
