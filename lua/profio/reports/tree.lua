-- Call tree: each function below its caller.

local conditions = require "profio.internal.conditions"

local tree = {
   name = "tree",
   help = "call tree, callers first, the heaviest callees first",
   columns = {
      { name = "depth", help = "number of frames, including this one" },
      { name = "function", help = "its name" },
      { name = "calls", help = "calls in this context" },
      { name = "self", help = "self time in this context, in ns (or the unit of --metric)" },
      { name = "total", help = "self and the time of its callees in this context" },
      { name = "self_share", help = "self as a share of the whole" },
      { name = "total_share", help = "total as a share of the whole" },
      { name = "file", help = "its source file or module" },
      { name = "line", help = "its line" },
   },
   unit = "auto",
   uses = { "span of profile", "functions", "metric", "diff", "follow" },
}

---Returns the columns of the text: lines come before names if frames have lines.
---@param rows profio.View
---@return string[]
function tree.shown(rows)
   local with_lines = rows:where { line = conditions.no(conditions.missing) }:limit(1):count() > 0
   return with_lines and { "total", "self", "total_share", "line", "label" }
      or { "total", "self", "total_share", "label" }
end

---@param trace profio.Trace
function tree.fits(trace)
   local kind = trace:profile_kind()
   return kind ~= nil and kind ~= "graph" and kind ~= "sums", "no stacks are known of it"
end

---@param context table
---@return userdata
function tree.reader(context)
   return context:profile():tree(context:profile_options()):reader()
end

return tree
