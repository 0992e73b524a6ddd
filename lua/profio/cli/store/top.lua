-- profio store top: the runs that differ most from all others.

local target = require "profio.cli.store.target"

local top = {
   name = "top",
   of = "store",
   help = "show which hosts, versions or runs differ most from all others",
   description = "Show which groups of runs differ most from all other runs. The distance is half "
      .. "the sum, over all functions, of the difference between the function's share of self in "
      .. "the group and its share in all other runs: 0 if all shares are equal, 1 if no function "
      .. "is in both. Each line names the function that differs most. With a FUNCTION, show its "
      .. "value in each group, by --metric also one of its calls, and mark those that stand out: "
      .. "whose modified z score, (value - median) * 0.6745 / median of absolute deviations, is "
      .. "above 3.5 or below -3.5 (Iglewicz and Hoaglin, How to detect and handle outliers, 1993).",
   usage = "profio store top [options] [FUNCTION] STORE",
   options = { { "--by", "KEY", "run, a label, hour, day, week or month (UTC), or an "
         .. "attribute with texts; default run" }, "--run", "--metric", "--top", "--columns",
      "--sort", "--output", "--unit", "-o" },
   more = { "--where", "--group", "--aggregate", "--wide", "--explain", "--export", "--trust-paths",
      "--progress", "--no-progress" },
   argument = { "FUNCTION", "the name of a function, or ~PATTERN; then a store. Without it all "
      .. "functions are compared" },
   examples = {
      { "profio store top --by host --top 5 fleet.db", "the five hosts that differ most" },
      { "profio store top Task_10ms --metric gross_p99 --by bench fleet.db",
         "which bench is odd: the 99th percentile of the times of a task on each" },
   },
}

function top.prepare(given)
   local wanted = #given.files == 2 and table.remove(given.files, 1) or nil
   target.one(given)
   target.compare(given, "top", { by = given.by, ["function"] = wanted })
end

return top
