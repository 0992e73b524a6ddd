-- The stacks from the top down: each function below the one that called it.

local conditions = require "profio.conditions"

local tree = {
   name = "tree",
   help = "stacks from the top down, the heaviest callees first",
   columns = {
      { name = "depth", help = "how many frames there are, with this one" },
      { name = "function", help = "its name" },
      { name = "calls", help = "how often it was called here" },
      { name = "self", help = "what was spent right there, in ns (or the unit of --metric)" },
      { name = "total", help = "that and what all it called there spent" },
      { name = "self_share", help = "self as a part of the whole" },
      { name = "total_share", help = "total as a part of the whole" },
      { name = "file", help = "its source file or module" },
      { name = "line", help = "its line" },
   },
   unit = "ms",
   uses = { "span of calls", "functions", "metric", "diff", "follow" },
}

---The columns of the text: the lines stand before the names where frames have some.
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
   return kind ~= nil and kind ~= "graph", "no stacks are known of it"
end

---@param context table
---@return userdata
function tree.reader(context)
   return context:profile():tree(context:profile_options()):reader()
end

return tree
