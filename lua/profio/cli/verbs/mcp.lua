-- profio mcp: reports for assistants.

local later = require "profio.internal.later"
local failure = require "profio.internal.command.failure"
local core = require "profio.core"
local server = later "profio.cli.mcp.server"
local values = require "profio.internal.command.values"

local TIMEOUT <const>, LONGEST <const> = 30, 86400 -- s

local mcp = {
   name = "mcp",
   help = "serve reports to an assistant (Model Context Protocol)",
   description = "Serve reports over standard input and output to a program that speaks the Model "
      .. "Context Protocol. Only files below the folders are read; relative paths begin at the "
      .. "first one. Nothing is written.",
   usage = "profio mcp [options] FOLDER...",
   options = {
      { "--timeout", "S", "seconds after which a request is ended; default 30" },
   },
   argument = { "FOLDER", "a folder whose files may be read" },
   examples = {
      { "profio mcp ~/traces", "the command that an assistant is to start" },
      { "profio mcp ~/traces /var/spool/profiles", "two folders" },
   },
}

-- Returns the real paths of folders. This process is in the first one then.
local function entered(paths)
   local start, list = core.current_folder(), {}
   for i = #paths, 1, -1 do
      assert(core.change_folder(start))
      local done, message = core.change_folder(paths[i])
      if not done then
         failure.raise(failure.NOTHING, message)
      end
      table.insert(list, 1, core.current_folder())
   end
   return list
end

---@param given table
---@return integer status
function mcp.run(given)
   local found, message = pcall(require, "dkjson")
   if not found and not message:find("module 'dkjson' not found", 1, true) then
      error(message, 0) -- Ctrl-C
   elseif not found then
      failure.raise(failure.NOTHING, "mcp needs dkjson: apt install lua-dkjson, or luarocks "
         .. "install dkjson")
   elseif not given.files[1] then
      failure.use "profio mcp expects the folders whose files may be read"
   end
   local timeout = given.timeout and values.number(given.timeout, "--timeout") or TIMEOUT
   if timeout < 1 or timeout > LONGEST then
      failure.use("--timeout must be 1 to %d seconds, got %d", LONGEST, timeout)
   end
   server.run(io.stdin, io.stdout, entered(given.files), timeout)
   return failure.READ
end

return mcp
