-- Overhead of calls: the time between the two entries of a pair, in unfiltered traces.

local xpp = require "profio.reports.xpp.entry_tables"

local overhead = {
   name = "overhead",
   help = "Xbase++: time between the caller's and the function's own entries, most first",
   uses = { "span", "follow" },
   narrows = true,
   unit = "ms",
   columns = {
      { name = "call", help = "the function" },
      { name = "compiled", help = "it was compiled with /profile: it has entries of its own" },
      { name = "numbers", help = "number of calls that ended" },
      { name = "overhead", help = "sum of these times, in ns" },
      { name = "overhead_mean", help = "mean of one call, in ns; missing if none has a pair" },
      { name = "overhead_max", help = "the largest of one call, in ns" },
   },
}

---@param trace profio.Trace
function overhead.fits(trace)
   local fits, reason = xpp.fits(trace)
   if not fits then
      return false, reason
   end
   return trace.info.filtering == "off", "its entries were filtered when it was written"
end

---@param context profio.Context
---@return userdata
function overhead.reader(context)
   return context:within(context.trace.entries:unfilter()):where { event = "leave" }
      :group("call", "compiled"):aggregate { "numbers = count", "overhead = sum(overhead)",
         "overhead_mean = mean(overhead)", "overhead_max = max(overhead)" }
      :sort("-overhead", "call"):reader()
end

return overhead
