-- Calls that were not recorded from enter to leave, with the reason.

local conditions = require "profio.internal.conditions"
local xpp = require "profio.reports.xpp.entry_tables"

local unclosed = {
   name = "unclosed",
   help = "Xbase++: calls that a BREAK left, that were open at the end, or whose enter is missing",
   uses = { "span", "follow" },
   unit = "ms",
   columns = {
      { name = "flags", help = "unwound: a BREAK left it; open: the trace ended; orphan: its "
         .. "enter is missing; gap, lost: entries are missing meanwhile" },
      { name = "area", help = "the function" },
      { name = "lane", help = "the thread" },
      { name = "start", help = "when it was entered" },
      { name = "stop", help = "time at which the trace shows that it had ended" },
      { name = "net", help = "time in it itself, in ns" },
      { name = "depth", help = "number of calls on the stack, including this one" },
      { name = "caller", help = "the calling function" },
   },
}

unclosed.fits = xpp.fits

---@param context profio.Context
---@return userdata
function unclosed.reader(context)
   return context:calls_with {}:where { flags = conditions.no(conditions.missing) }:reader()
end

return unclosed
