-- profio store drop: removes runs.

local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"
local target = require "profio.cli.store.target"
local texts = require "profio.internal.texts"

local drop = {
   name = "drop",
   of = "store",
   help = "remove runs from a store",
   description = "Remove runs from a store. Its file does not shrink: later runs use the space, "
      .. "and profio store merge NEW OLD writes a smaller one.",
   usage = "profio store drop --run COND... STORE",
   options = { "--run", { "--all", false, "remove all runs" } },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store drop --run version=v1 fleet.db", "the runs with this label" },
      { "profio store drop --run run=0f3ac8 fleet.db", "one run, by the first digits of its hash" },
   },
}

---@param given table
---@return integer status
function drop.run(given)
   local path = target.one(given)
   local where = target.some(given)
   local store <close> = target.open(path, "write")
   local count = failure.check(store:drop(where))
   io.stdout:write(plain(path), ": ", texts.counted(count, "run"), " dropped",
      count == 0 and "; profio store ls shows the runs, and profio store labels the labels" or "",
      "\n")
   return count > 0 and failure.READ or failure.NOTHING
end

return drop
