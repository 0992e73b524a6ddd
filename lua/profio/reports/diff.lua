-- Two profiles beside each other: what functions cost more or less than in the file of --diff.

local diff = {
   name = "diff",
   help = "what each function costs more or less than in the file of --diff",
   unit = "s",
   columns = {
      { name = "function", help = "its name" },
      { name = "self", help = "what it spent itself" },
      { name = "self_before", help = "the same in the file of --diff" },
      { name = "change", help = "self less self_before: positive where it grew" },
      { name = "relative", help = "change as a part of self_before; missing when that is 0" },
      { name = "total", help = "with all it called" },
      { name = "total_before", help = "the same in the file of --diff" },
      { name = "total_change", help = "total less total_before" },
      { name = "significance", help = "how many standard errors the count of samples "
         .. "changed by; missing where there are no samples" },
      { name = "file", help = "its source file or module" },
      { name = "line", help = "its line" },
   },
   shown = { "change", "relative", "significance", "self", "self_before", "total_change",
      "function" },
   compares = true,
   uses = { "span of calls", "functions", "metric", "diff", "compat" },
}

---@param trace profio.Trace
function diff.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

---@param context table
---@return userdata
function diff.reader(context)
   local new, old = context:both_profiles()
   return new:diff(old, context.given.metric):reader()
end

return diff
