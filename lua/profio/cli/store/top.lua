-- profio store top: the runs that differ most from all others.

local target = require "profio.cli.store.target"

local top = {
   name = "top",
   of = "store",
   help = "show which hosts, versions or runs differ most from all others",
   description = "Show which groups of runs differ most from all other runs. The distance is half "
      .. "the sum, over all functions, of the difference between the function's share of self in "
      .. "the group and its share in all other runs: 0 if all shares are equal, 1 if no function "
      .. "is in both. Each line names the function that differs most.",
   usage = "profio store top [options] STORE",
   options = { { "--by", "KEY", "run, a label, hour, day, week or month (UTC), or an "
         .. "attribute with texts; default run" }, "--run", "--metric", "--top", "--columns",
      "--sort", "--output", "--unit", "-o" },
   more = { "--where", "--group", "--aggregate", "--wide", "--explain", "--export", "--trust-paths",
      "--progress", "--no-progress" },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store top --by host --top 5 fleet.db", "the five hosts that differ most" },
      { "profio store top --run version=v2 fleet.db", "the runs of a version, each with the rest" },
   },
}

function top.prepare(given)
   target.one(given)
   target.compare(given, "top", { by = given.by })
end

return top
