-- Compares two profiles: how much more or less functions cost than in the file of --diff.

local diff = {
   name = "diff",
   help = "how much more or less each function costs than in the file of --diff",
   unit = "auto",
   columns = {
      { name = "function", help = "its name" },
      { name = "self", help = "its self time" },
      { name = "self_before", help = "the same in the file of --diff" },
      { name = "change", help = "self - self_before: positive if it grew" },
      { name = "relative", help = "change divided by self_before; missing if that is 0" },
      { name = "total", help = "time including callees" },
      { name = "total_before", help = "the same in the file of --diff" },
      { name = "total_change", help = "total - total_before" },
      { name = "significance", help = "how many standard errors the count of samples "
         .. "changed by; missing where there are no samples" },
      { name = "file", help = "its source file or module" },
      { name = "line", help = "its line" },
   },
   shown = { "change", "relative", "significance", "self", "self_before", "total_change",
      "function", "file" },
   compares = true,
   uses = { "span of profile", "functions", "metric", "diff", "compat" },
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
