-- profio store drop: removes runs.

local conditions = require "profio.internal.conditions"
local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"
local target = require "profio.cli.store.target"
local texts = require "profio.internal.texts"
local times = require "profio.internal.times"

local drop = {
   name = "drop",
   of = "store",
   help = "remove runs from a store",
   description = "Remove runs from a store. Its file does not shrink: later runs use the space, "
      .. "and profio store merge NEW OLD writes a smaller one.",
   usage = "profio store drop --run COND... | --keep AGE STORE",
   options = { "--run", { "--all", false, "remove all runs" },
      { "--keep", "AGE", "remove runs whose time is longer ago than AGE: 90d, 12h, 6w; with --run "
         .. "those of them that it selects" } },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store drop --run version=v1 fleet.db", "the runs with this label" },
      { "profio store drop --keep 90d fleet.db", "the runs that are older than 90 days" },
   },
}

-- Returns the conditions of the command line, with that of --keep.
local function where_of(given)
   if not given.keep then
      return target.some(given, "--run COND, --keep AGE or --all")
   end
   local age = times.age(given.keep)
   if not age then
      failure.use("--keep expects an age, a whole number with s, min, h, d or w (90d), got '%s'",
         given.keep)
   elseif given.all then
      failure.use "--all removes all runs, --keep only old ones: give one of them"
   end
   local where = target.where(given)
   where[#where + 1] = { time = conditions.between(nil, os.time() * 1000000000 - age - 1) }
   return where
end

---@param given table
---@return integer status
function drop.run(given)
   local path = target.one(given)
   local where = where_of(given)
   local store <close> = target.open(path, "write")
   local count = failure.check(store:drop(where))
   local is_empty = count == 0 and not given.keep -- that no run is old is no mistake
   io.stdout:write(plain(path), ": ", texts.counted(count, "run"), " dropped",
      is_empty and "; profio store ls shows the runs, and profio store labels the labels" or "",
      "\n")
   return is_empty and failure.NOTHING or failure.READ
end

return drop
