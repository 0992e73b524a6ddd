-- profio store merge: the runs of several stores in one.

local failure = require "profio.internal.command.failure"
local messages = require "profio.cli.messages"
local plain = require "profio.internal.plain"
local profio = require "profio"
local target = require "profio.cli.store.target"
local texts = require "profio.internal.texts"

local merge = {
   name = "merge",
   of = "store",
   help = "add the runs of other stores that a store does not have",
   usage = "profio store merge [options] STORE OTHER...",
   options = { "--run" },
   argument = { "STORE", "the store that gets the runs, which is created if it does not exist; "
      .. "then the others, which are only read" },
   examples = {
      { "profio store merge fleet.db host1.db host2.db", "the runs of all hosts" },
      { "profio store merge --run version=v2 v2.db fleet.db", "a store of some runs" },
   },
}

---@param given table
---@param err file*
---@return integer status
function merge.run(given, err)
   local path = target.first(given, "the stores whose runs it gets")
   local where = target.where(given)
   local status = failure.READ
   for _, name in ipairs(given.files) do
      local count, other <close>, message = nil, profio.store(name, { mode = "read" })
      if other then -- else no store is created
         local store <close> = target.open(path, "create")
         count, message = store:merge(other, where)
      end
      if count then
         io.stdout:write(plain(path), ": ", texts.counted(count, "run"), " added from ",
            plain(name), "\n")
      else
         messages.say(err, message)
         status = failure.NOTHING
      end
   end
   return status
end

return merge
