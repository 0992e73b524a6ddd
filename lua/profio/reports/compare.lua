-- Where gprof's numbers differ from the exact ones, and why.

local compare = {
   name = "compare",
   help = "where gprof's numbers differ from the exact ones, and why",
   unit = "s",
   columns = {
      { name = "function", help = "the function" },
      { name = "exact_self", help = "time it spent itself, in ns" },
      { name = "gprof_self", help = "the same as gprof computes it; missing: gprof has no such "
         .. "function" },
      { name = "exact_calls", help = "how often others called it" },
      { name = "gprof_calls", help = "the same as gprof counts it" },
      { name = "why", help = "what the difference comes from" },
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
