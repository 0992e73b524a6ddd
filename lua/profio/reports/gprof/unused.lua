-- Functions that were never called: those that gprof's option -z adds to the flat profile.

local traces = require "profio.internal.trace"
local view_warnings = require "profio.internal.views.view_warnings"

local unused = {
   name = "unused",
   help = "functions of the program that were never called and have no sample",
   uses = { "unused", "compat" },
   shown = { "function", "file", "line" },
   columns = {
      { name = "function", help = "its name" },
      { name = "file", help = "source file where it begins; missing if it is not known" },
      { name = "line", help = "line where it begins" },
      { name = "symbol", help = "its name in the program: not demangled" },
      { name = "address", help = "of its first byte, at run time" },
      { name = "is_local", help = "static, or of an anonymous namespace" },
   },
}

---@param trace profio.Trace
function unused.fits(trace)
   if trace:profile_kind() ~= "graph" then
      return false, "no profile of functions and arcs is made from its tables"
   elseif not traces.of(trace).symbols then
      return false, "only the program knows functions that were never called: give it beside the "
         .. "file, or --exe PROGRAM"
   elseif not trace:has_callers() then
      return false, "it counts no calls: functions that were never called look like those that "
         .. "ran for less than a sample; compile with -pg, not only link"
   end
   return true
end

---@param context profio.Context
---@return userdata
function unused.reader(context)
   local rows = context:profile():unused()
   local reader = rows:reader()
   for _, warning in ipairs(rows.warnings) do
      view_warnings.note(context.trace, warning.code, warning.message)
   end
   return reader
end

return unused
