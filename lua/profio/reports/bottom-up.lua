-- The stacks turned round: below each function that spent something, those that called it.

local tree = require "profio.reports.tree"

-- What the columns mean where stacks are turned round; the others mean the same.
local helps = {
   calls = "how often the function of the first level was called, through these callers",
   self = "what the function of the first level spent itself, in ns (or the unit of --metric)",
   total = "what of it was spent through these callers",
}

local columns = {}
for i, column in ipairs(tree.columns) do
   columns[i] = { name = column.name, help = helps[column.name] or column.help }
end

local bottom_up = {
   name = "bottom-up",
   help = "functions that spent something, below each those that called it",
   columns = columns,
   unit = "ms",
   uses = { "span of calls", "functions", "metric", "diff" },
   shown = tree.shown,
   fits = tree.fits,
}

---@param context table
---@return userdata
function bottom_up.reader(context)
   return context:profile():bottom_up(context:profile_options()):reader()
end

return bottom_up
