-- The files of profio that are no modules: pages of help, and what export html builds into its
-- page. They are beside the modules; in the single file they are inside the program, which provides
-- the module profio.embedded.

local core = require "profio.core"

local resources = {}

local is_embedded, embedded = pcall(require, "profio.embedded")

-- The folder lua/profio, from the path of this file.
local folder = not is_embedded
   and debug.getinfo(1, "S").source:match "^@(.*)internal[/\\]resources%.lua$" or ""

---The path of the program, if it is the single file, which starts Lua by its verb `lua`; or nil.
---@type string|nil
resources.program = is_embedded and embedded.program or nil

---Returns the bytes of a file; or nil and a message.
---@param name string path below the folder profio, with slashes
---@return string|nil
---@return string|nil message
function resources.read(name)
   if is_embedded then
      return embedded.read(name)
   end
   local file <close>, message = core.file(folder .. name, "rb")
   if not file then
      return nil, message
   end
   return file:read "a"
end

---Returns the names in a folder.
---@param name string path below the folder profio, with slashes
---@return string[]
function resources.names(name)
   return is_embedded and embedded.names(name) or core.names_in(folder .. name) or {}
end

---Returns where a file is, for messages.
---@param name string
---@return string
function resources.place(name)
   return folder .. name
end

return resources
