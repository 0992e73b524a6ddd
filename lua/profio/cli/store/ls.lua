-- profio store ls: the runs of a store. Only the runs that are shown come from the store, unless
-- the options need all of them.

local query = require "profio.internal.command.query"
local selecting = require "profio.internal.store.selecting"
local target = require "profio.cli.store.target"

local ls = {
   name = "ls",
   of = "store",
   help = "list the runs of a store with their labels",
   description = "List the runs of a store with their labels. Of more than 1,000 runs, text "
      .. "without --top shows those with the latest times; other forms have all.",
   usage = "profio store ls [options] STORE",
   options = { "--run", "--where", "--columns", "--sort", "--top", "--output", "-o" },
   more = { "--group", "--aggregate", "--unit", "--wide", "--explain", "--trust-paths",
      "--progress", "--no-progress" },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store ls --run version=v2 --run host~^ci fleet.db",
         "the runs with this version, of hosts whose names begin with ci" },
      { "profio store ls --sort -time --top 10 --output csv fleet.db", "the last ten" },
   },
}

local MOST <const> = 1000 -- runs that are shown without --top

-- Returns the attribute of --sort by which a store can choose the first runs, with its sign; nil:
-- there is none.
local function order_of(given)
   local name = (given.sort or "run"):match "^%-?([%w_]+)$"
   local attribute = name and selecting.attribute(name)
   return attribute and (attribute.type == "int" or name == "run") and (given.sort or "run") or nil
end

function ls.prepare(given)
   target.one(given)
   given.table, given.format = "runs", "store"
   local is_text = (given.output == nil or given.output == "text") and not given.out
   local order, count = order_of(given), query.count(given)
   if given.where[1] or given.group or given.aggregate or not order
      or not count and not is_text
   then
      return
   end
   table.insert(given.set, "most=" .. (count or MOST))
   if count or given.sort then
      table.insert(given.set, "most_by=" .. order)
   end
   if not count then
      table.insert(given.set, "note_more=true")
   end
end

return ls
