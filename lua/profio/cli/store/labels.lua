-- profio store labels: the labels of a store.

local target = require "profio.cli.store.target"

local labels = {
   name = "labels",
   of = "store",
   help = "list the labels, and how many runs have each value",
   usage = "profio store labels [options] STORE",
   options = { "--run", "--where", "--columns", "--sort", "--top", "--output", "-o" },
   more = { "--group", "--aggregate", "--wide", "--explain", "--trust-paths", "--progress",
      "--no-progress" },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store labels fleet.db", "all labels" },
      { "profio store labels --where key=host fleet.db", "the hosts" },
   },
}

function labels.prepare(given)
   target.one(given)
   given.table, given.format = "labels", "store"
end

return labels
