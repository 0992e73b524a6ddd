-- profio store: a database of runs.

local commands = require "profio.cli.store"
local failure = require "profio.internal.command.failure"

local store = {
   name = "store",
   help = "keep the profiles of many runs in a database, and ask it",
   usage = "profio store COMMAND [options] STORE ...",
   options = {},
   argument = { "COMMAND", commands.names() },
   examples = {
      { "profio store add fleet.db *.pb.gz",
         "adds each file as a run; profio store add --help says more" },
      { "profio report flat --run version=v2 fleet.db", "a store is read like a trace" },
   },
   commands = commands,
}

-- Returns the commands with their help.
local function listed()
   local lines = {}
   for i, command in ipairs(commands.all()) do
      lines[i] = ("%-8s %s"):format(command.name, command.help)
   end
   return table.concat(lines, "\n")
end

store.description = "A store is a file with the profiles of many runs and their labels. Commands, "
   .. "each with its own --help:\n" .. listed()

---@param given table
function store.run(given)
   if given.files[1] then
      failure.use("profio store has no command '%s'; there are: %s", given.files[1],
         commands.names())
   end
   failure.use("profio store: the command is missing; there are: %s", commands.names())
end

return store
