-- profio store trend: a function, or a metric of its calls, over time or by label.

local failure = require "profio.internal.command.failure"
local target = require "profio.cli.store.target"

local trend = {
   name = "trend",
   of = "store",
   help = "show a function, or a metric of its calls, over time, or by label",
   description = "Show the weight of a function in the runs of each period of time, or of each "
      .. "value of a label: its sums, its share of the whole, and the shares of single runs: a "
      .. "tenth of the runs have at most p10, half of them p50, nine tenths p90. All shares count "
      .. "what the function calls. With --metric one of its calls, as gross_p99, gross_max, "
      .. "call_mean or count: the metric of all calls in these runs, and of single runs.",
   usage = "profio store trend [options] FUNCTION STORE",
   options = { { "--by", "KEY", "hour, day, week or month (UTC), run, a label, or an "
         .. "attribute with texts; default day" }, "--run", "--metric", "--columns", "--sort",
      "--top", "--output", "--unit", "-o" },
   more = { "--where", "--group", "--aggregate", "--wide", "--explain", "--export", "--trust-paths",
      "--progress", "--no-progress" },
   argument = { "FUNCTION", "the name of a function, or ~PATTERN for all that match a Lua pattern; "
      .. "then a store" },
   examples = {
      { "profio store trend '~^Db' --by version -o db.svg fleet.db",
         "all functions whose names begin with Db, in each version, as a picture" },
      { "profio store trend Task_10ms --metric gross_p99 --by host fleet.db",
         "the 99th percentile of the times of a task on each host" },
   },
}

function trend.prepare(given)
   if #given.files ~= 2 then
      failure.use("profio store trend expects a FUNCTION and one STORE, got %s",
         #given.files == 0 and "none" or table.concat(given.files, " "))
   end
   target.compare(given, "trend", { ["function"] = table.remove(given.files, 1), by = given.by })
end

return trend
