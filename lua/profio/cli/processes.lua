-- Other processes in which Lua runs with this profio: scripts that are recorded, and workers, which
-- call a function of profio. They are started without a shell.

local core = require "profio.core"
local details = require "profio.internal.store.details"
local failure = require "profio.internal.command.failure"
local resources = require "profio.internal.resources"

local processes = {}

-- Returns a path that does not depend on the current folder; a bare name is searched for.
local function absolute(path, is_name)
   local is_relative = not path:find "^[/\\]" and not path:find "^%a:"
   return is_relative and not is_name and core.current_folder() .. "/" .. path or path
end

-- Returns a search path whose templates do not depend on the current folder.
local function absolute_search(templates)
   local list = {}
   for template in templates:gmatch "[^;]+" do
      list[#list + 1] = absolute(template)
   end
   return table.concat(list, ";")
end

-- Returns the interpreter of this process.
local function interpreter()
   local first = 0
   while arg and arg[first - 1] do
      first = first - 1
   end
   local program = first < 0 and arg[first] or "lua5.4"
   return absolute(program, not program:find "[/\\]")
end

-- Computed at once, since the process may leave its folder.
local finds_modules = ("package.path = package.path .. %q package.cpath = package.cpath .. %q")
   :format(";" .. absolute_search(package.path), ";" .. absolute_search(package.cpath))
local words = resources.program and { resources.program, "lua" }
   or { interpreter(), "-e", finds_modules }

---Returns the words that start the interpreter of this process, with a chunk that lets it find the
---modules that this process finds.
---@return string[]
function processes.lua()
   return table.move(words, 1, #words, 1, {})
end

-- Runs a program and waits for it; returns its status. Ctrl-C and signals are for the program.
local function wait_for(line)
   io.stdout:flush()
   local held <close> = core.interrupt() -- luacheck: ignore
   local process <close>, message = core.spawn(line)
   if not process then
      failure.raise(failure.NOTHING, message)
   end
   local kind, status = process:wait(true)
   return kind == "signal" and 128 + status or status
end

-- A chunk that removes the options of the interpreter from `arg`, where a script may look.
local HIDES <const> = "local n = -1 while arg[n - 1] do n = n - 1 end arg[-1] = arg[n] "
   .. "for i = n, -2 do arg[i] = nil end"

---Runs a script in another process and waits for it.
---@param script string[] its path, and its arguments
---@param given { [integer]: string, variables: string[]|nil } options of the interpreter, and
---variables of the environment
---@return integer status of the script: as a shell tells it, 128 and its number for a signal
function processes.run_script(script, given)
   local line = processes.lua()
   if script[1] then
      table.move({ "-e", HIDES }, 1, 2, #line + 1, line)
   end
   table.move(given, 1, #given, #line + 1, line)
   if script[1] and script[1] ~= "-" then
      line[#line + 1] = "--"
   end
   table.move(script, 1, #script, #line + 1, line)
   line.variables = given.variables
   return wait_for(line)
end

---Runs a script of the shell, which starts Lua 5.4 in its own way, with the recorder.
---@param script string[] its path, and its arguments
---@param shell string
---@param variables string[]
---@return integer status as of run_script
function processes.run_wrapper(script, shell, variables)
   local line = { shell, "--", variables = variables }
   table.move(script, 1, #script, 3, line)
   local init = os.getenv "LUA_INIT_5_4" or os.getenv "LUA_INIT" or ""
   init = init:find "^@" and ("dofile %q"):format(init:sub(2)) or init
   variables[#variables + 1] = ("LUA_INIT_5_4=%s require 'profio.recorder' %s"):format(
      finds_modules, init)
   return wait_for(line)
end

-- {====== Workers ======

-- What a worker runs.
local SERVES <const> = [[local find = require find("profio.cli.processes").serve(find("%s").serve)]]

---Starts a worker, which calls a function in another process. The function gets the request and a
---file; what it writes there is read from the file that is returned. What it prints goes to
---standard error.
---@param module string of profio, which has a function `serve(request, output)`
---@param request table that details.pack can pack
---@return userdata|nil process
---@return profio.core.File|string file or message
function processes.start(module, request)
   local line = processes.lua()
   table.move({ "-e", SERVES:format(module) }, 1, 2, #line + 1, line)
   line.input, line.output = true, true
   local process, output, input = core.spawn(line)
   if process then
      input:write(details.pack(request))
      input:close()
   end
   return process, output
end

---In a worker: does what was asked for, and ends the process.
---@param serve fun(request: table, output: profio.core.File)
function processes.serve(serve)
   core.ignore_broken_pipes()
   local _, request = details.unpack(core.standard_input():read "a")
   local output = core.take_output()
   local done, message = pcall(function()
      serve(request, output)
      assert(output:close())
   end)
   if not done then
      io.stderr:write(tostring(message), "\n")
   end
   os.exit(done and 0 or 1)
end

-- }======

return processes
