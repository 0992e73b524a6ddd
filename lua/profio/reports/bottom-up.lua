-- Bottom-up tree: below each function with self time, its callers.

local conditions = require "profio.internal.conditions"
local tree = require "profio.reports.tree"

-- Help of the columns that mean something else than in report tree.
local helps = {
   calls = "calls of the function of the first level through these callers",
   self = "self time of the function of the first level, in ns (or the unit of --metric)",
   total = "what of it was spent through these callers",
}

local FUNCTIONS, LEVELS = 100, 20 -- shown by default

local columns = {}
for i, column in ipairs(tree.columns) do
   columns[i] = { name = column.name, help = helps[column.name] or column.help }
end

local bottom_up = {
   name = "bottom-up",
   help = "functions with self time, below each its callers",
   columns = columns,
   unit = "auto",
   uses = { "span of profile", "functions", "metric", "diff", "follow" },
   shown = tree.shown,
   fits = tree.fits,
   options = {
      { name = "functions", type = "int", default = FUNCTIONS,
        help = "number of functions on the first level, the heaviest; 0: all" },
      { name = "levels", type = "int", default = LEVELS,
        help = "number of levels of callers; 0: all" },
      { name = "depth", type = "int", help = "most levels of callers that are computed; default: "
         .. "levels with at most 1,048,576 contexts, or 24 for each existing one" },
   },
}

-- Returns a bound of an option; 0 and less mean none.
local function bound_of(given, usual)
   local bound = given or usual
   return bound > 0 and bound or math.maxinteger
end

-- Returns the rows within both bounds; notes the omissions.
local function bounded(context, rows)
   local options, given = context:report_options(bottom_up), context.given
   if not options.functions and not options.levels
      and (given.where[1] or given.group or given.aggregate or given.sort) then
      return rows -- the command line selects rows
   end
   local functions = bound_of(options.functions, FUNCTIONS)
   local levels = bound_of(options.levels, LEVELS)
   local numbered = rows:derive { "first_level = running(depth == 1)" }
   local left_out = numbered:where { first_level = conditions.no(conditions.between(1, functions)) }
      :where { depth = 1 }:count()
   local shown = numbered:where { first_level = conditions.between(1, functions) }
   if left_out > 0 then
      context:note(("%d functions with less time are left out: --set functions=N shows N, 0 all")
         :format(left_out))
   end
   if levels < math.maxinteger and
      shown:where { depth = conditions.between(levels + 1) }:limit(1):count() > 0 then
      context:note(("callers beyond %d levels are left out: --set levels=N shows N, 0 all"):format(
         levels))
   end
   return shown:where { depth = conditions.between(1, levels) }
end

---@param context table
---@return userdata
function bottom_up.reader(context)
   local profile, options = context:profile(), context:profile_options()
   local known = #profile:notes()
   options.depth = context:report_options(bottom_up).depth
   local reader = bounded(context, profile:bottom_up(options)):reader()
   for i = known + 1, #profile:notes() do
      context:note(context:worded(profile:notes()[i]))
   end
   return reader
end

return bottom_up
