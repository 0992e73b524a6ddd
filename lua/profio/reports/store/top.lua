-- The groups of runs that differ most from all other runs of a store; of one function, the groups
-- whose values stand out.

local failure = require "profio.internal.command.failure"
local odd_values = require "profio.internal.store.comparing.odd_values"
local traces = require "profio.internal.trace"
local trend = require "profio.reports.store.trend"
local trends = require "profio.internal.store.trends"

local top = {
   name = "top",
   help = "of a store: which hosts, versions or runs differ most from all others, and where",
   uses = { "metric" },
   columns = trends.all_columns(odd_values.all_columns, trends.top_columns),
   fits = trend.fits,
   options = {
      { name = "by", type = "text", default = "run", help = "run, a label, hour, day, week or "
         .. "month (UTC), or an attribute of runs with texts" },
      { name = "function", type = "text", help = "compare its values only: NAME or ~PATTERN" },
   },
}

---@param context profio.Context
---@return userdata
function top.reader(context)
   local options = context:report_options(top)
   local wanted = options["function"]
   return failure.check(traces.of(context.trace).stored.compare("top", options.by or "run",
      context.given.metric, wanted and trend.wanted(wanted))):reader()
end

return top
