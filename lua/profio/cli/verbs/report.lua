-- profio report: what the form without a verb shows.

local failure = require "profio.internal.command.failure"
local reports = require "profio.reports"
local verbs = require "profio.cli.verbs"

local report = {
   name = "report",
   help = "show a report, or what the format's own tool prints first",
   usage = "profio report [NAME] [options] FILE...",
   options = { "--list-reports", "--where", "--from", "--to", "--columns", "--sort", "--top",
      "--output", "--unit", "-o", "--focus", "--ignore", "--hide", "--diff" },
   argument = { "FILE", "name of a report, then traces and their executable; default gmon.out" },
   examples = {
      { "profio report program gmon.out", "what gprof prints: flat profile and call graph" },
      { "profio report statistics --sort -gross_max --top 10 run.txt",
         "the ten areas with the longest calls" },
   },
}

report.more = verbs.joined({ "--report", "--unused", "--lane", "--group", "--aggregate", "--keep",
   "--explain", "--wide", "--chain", "--limits", "--failed", "--export", "--metric", "--compat",
   "--source", "--follow" },
   verbs.older, verbs.opening)

function report.prepare(given)
   local name = verbs.take_name(given, reports, "report", "report")
   if name and given.report then
      failure.use("report: two reports, %s and --report %s", name, given.report)
   end
   given.report = given.report or name
end

return report
