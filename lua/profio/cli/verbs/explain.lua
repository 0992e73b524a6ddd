-- profio explain: why the slow calls of a function are slow.

local failure = require "profio.internal.command.failure"
local verbs = require "profio.cli.verbs"

local explain = {
   name = "explain",
   help = "why slow calls of a function are slow, or where its cost arises",
   description = "Split the time by which the slow calls of a function exceed typical ones into "
      .. "parts that sum to it. For a profile without times of calls: callers and callees of the "
      .. "function; with --diff what changed. profio help explain says more.",
   usage = "profio explain [options] AREA FILE...",
   options = { "--from", "--to", "--lane", "--output", "-o", "--set", "--diff", "--metric",
      "--source" },
   argument = { "AREA", "name of the function; then traces of one format, and their executable" },
   examples = {
      { "profio explain Db_Read run.txt.BIN", "calls above the 99th percentile" },
      { "profio explain --set quantile=p90 --output json Db_Read run.txt.BIN",
         "the slowest tenth, for a program" },
   },
}

explain.more = verbs.joined({ "--columns", "--where", "--sort", "--top", "--focus", "--ignore",
   "--hide", "--compat", "--explain", "--wide", "--export" }, verbs.older, verbs.opening)

---Takes the first word as the name of the function.
---@param given table
function explain.prepare(given)
   local area = table.remove(given.files, 1)
   if not area then
      failure.use "explain: the function is missing, as in profio explain Db_Read FILE"
   end
   given.report = "explain"
   table.insert(given.set, "area=" .. area)
end

return explain
