-- profio store ls: the runs of a store.

local target = require "profio.cli.store.target"

local ls = {
   name = "ls",
   of = "store",
   help = "list the runs of a store with their labels",
   usage = "profio store ls [options] STORE",
   options = { "--run", "--where", "--columns", "--sort", "--top", "--output", "-o" },
   more = { "--group", "--aggregate", "--unit", "--wide", "--explain", "--trust-paths",
      "--progress", "--no-progress" },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store ls --run version=v2 --run host~^ci fleet.db",
         "the runs with this version, of hosts whose names begin with ci" },
      { "profio store ls --sort -time --top 10 --output csv fleet.db", "the last ten" },
   },
}

function ls.prepare(given)
   target.one(given)
   given.table, given.format = "runs", "store"
end

return ls
