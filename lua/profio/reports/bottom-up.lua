-- The stacks turned round: below each function that spent something, those that called it.

local tree = require "profio.reports.tree"

local bottom_up = {
   name = "bottom-up",
   help = "functions that spent something, below each those that called it",
   columns = tree.columns,
   unit = "ms",
   spans = "calls",
   shown = tree.shown,
   fits = tree.fits,
}

---@param context table
---@return userdata
function bottom_up.reader(context)
   return context:profile():bottom_up(context:profile_options()):reader()
end

return bottom_up
