-- The compiled modules of an installed command, with which it starts in two thirds of the time.
-- `make install` writes a file NAME.luac for each module: path, size and time of its source, then
-- what string.dump returns. A module is loaded from there only while the source that `require`
-- finds has this path, size and time, so a source that was changed or replaced is not ignored.

local core = require "profio.core"

local compiled = {}

-- Returns the size and the time of a source as a line; nil if it is no file.
local function state_of(path)
   local size, time = core.file_state(path)
   return size and ("%d %d"):format(size, time)
end

---Writes the compiled file of a module.
---@param folder string for compiled files; it exists
---@param name string of the module
---@param source string path of its source
---@param final string|nil the path that the source will have
function compiled.write(folder, name, source, final)
   final = final or source
   local input <close> = assert(core.file(source, "rb"))
   local output <close> = assert(core.file(folder .. "/" .. name .. ".luac", "wb"))
   local chunk = assert(load(input:read "a", "@" .. final, "t"))
   assert(output:write(final, "\n", state_of(source), "\n", string.dump(chunk)))
end

-- Whether `require` finds the source of a module there; first where most of them are.
local function is_found(name, path)
   local first = package.path:match "^[^;]*":gsub("%?", (name:gsub("%.", "/")))
   return path == first or path == package.searchpath(name, package.path)
end

-- Returns the main function of a module and the path of its source, or nothing.
local function find(folder, name)
   local file <close> = core.file(folder .. "/" .. name .. ".luac", "rb")
   local path = file and file:read "l"
   if path and is_found(name, path) and file:read "l" == state_of(path) then
      return load(file:read "a", nil, "b"), path
   end
end

---Lets `require` find compiled modules, unless PROFIO_SOURCES is set in the environment.
---@param folder string
function compiled.use(folder)
   if os.getenv "PROFIO_SOURCES" then
      return
   end
   table.insert(package.searchers, 2, function(name)
      return find(folder, name)
   end)
end

return compiled
