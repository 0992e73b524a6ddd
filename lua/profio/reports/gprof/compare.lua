-- Differences between gprof's numbers and the exact ones, with the reasons.

local compare = {
   name = "compare",
   help = "where gprof's numbers differ from the exact ones, and why",
   unit = "auto",
   columns = {
      { name = "function", help = "the function" },
      { name = "exact_self", help = "self time, in ns" },
      { name = "gprof_self", help = "the same as gprof computes it; missing: gprof has no such "
         .. "function" },
      { name = "exact_calls", help = "calls by other functions" },
      { name = "gprof_calls", help = "the same as gprof counts it" },
      { name = "why", help = "reason for the difference" },
   },
}

---@param trace profio.Trace
function compare.fits(trace)
   if trace.format ~= "gmon" then
      return false, "gprof does not read it"
   end
   return (trace.info.sets or 0) > 0, "it has no histogram"
end

---@param context profio.Context
---@return userdata
function compare.reader(context)
   local exact = context:profile_as "exact"
   local gprof = context:profile_as "gprof"
   return exact:handle():compare(gprof:handle(), {})
end

return compare
