-- profio lua: runs a Lua script for which this profio is the module profio. In the single file the
-- program does this itself (csrc/program/interpreter.c), and knows the options of lua, too.

local failure = require "profio.internal.command.failure"
local processes = require "profio.cli.processes"

local lua = {
   name = "lua",
   help = "run a Lua script that uses profio",
   description = "Run a Lua script for which this profio is the module profio. All words after "
      .. "the script are its own.",
   usage = "profio lua SCRIPT.lua [ARGUMENTS]",
   options = {},
   argument = { "SCRIPT.lua", "the script, then its arguments" },
   stops = true,
   examples = {
      { "profio lua analysis.lua run.txt", "your own analysis, as lua5.4 analysis.lua run.txt" },
      { "profio lua - <analysis.lua", "the same from standard input" },
   },
}

---@param given table
---@return integer status that of the script
function lua.run(given)
   if not (given.rest and given.rest[1]) then
      failure.use "lua: the script is missing, as in profio lua script.lua"
   end
   return processes.run_script(given.rest, {})
end

return lua
