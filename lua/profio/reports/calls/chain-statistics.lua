-- Statistics of event chains: a row for each.

local chains = require "profio.reports.calls.chains"

local report = {
   name = "chain-statistics",
   help = "statistics of the chains of --chain: count, durations, worst case, violations",
   uses = { "from", "to", "chain", "unit" },
   unit = "us",
   needs = { "chain", "--chain 'A leave -> B enter <= 5ms', or --chain @FILE" },
   columns = {
      { name = "chain", help = "the chain" },
      { name = "kind", help = "reaction: from each stimulus to the first response; age: from each "
         .. "response back to the latest stimulus" },
      { name = "count", help = "how often there was a response" },
      { name = "min", help = "shortest duration, in ns" },
      { name = "max", help = "longest duration, in ns" },
      { name = "max_at", help = "start of the instance that waited longest, in ns" },
      { name = "mean", help = "mean duration, in ns" },
      { name = "p50", help = "median of the durations, in ns" },
      { name = "p99", help = "99th percentile of the durations, in ns" },
      { name = "bound", help = "the longest duration that is allowed, in ns" },
      { name = "late", help = "how many were longer, or waited longer than that without response" },
      { name = "open", help = "stimuli without response" },
      { name = "overlapped", help = "of a reaction: stimuli that came while another one waited" },
      { name = "lost", help = "of an age: stimuli that a later one replaced before a response" },
      { name = "waited_max", help = "the longest time that a response was awaited, in ns" },
   },
   shown = { "chain", "count", "max", "max_at", "p99", "mean", "bound", "late", "open",
      "overlapped", "lost" },
}

report.fits = chains.fits

---@param context profio.Context
---@return userdata
function report.reader(context)
   local options = chains.options_of(context)
   return context:kept_rows("chain-statistics", function()
      return context.trace:chain_statistics(options)
   end, function(rows)
      local empty = { from = options.from, to = options.to }
      for i, row in ipairs(rows) do
         empty[#empty + 1] = row.count == 0 and options[i] or nil
      end
      if #empty > 0 then
         chains.note_unmet(context, empty)
      end
   end)
end

return report
