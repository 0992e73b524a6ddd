---@meta profio.core
--
-- The part of profio.core for folders; core.lua beside this file has the rest. Never loaded.

local core = {}

---@param paths string[]
---@param ending string
---@return table<string, boolean> by_path  true if something has the path with this ending
function core.existing(paths, ending) end

---Returns what the folders of paths may contain. Both are true where looking at each path takes
---less time than listing its folder.
---@param paths string[]
---@param ending string
---@return boolean endings  names with this ending
---@return boolean others  what is neither a regular file nor a folder, such as a pipe or a link
function core.look_beside(paths, ending) end

---Returns the names in a folder except "." and "..", in no order.
---@param folder string
---@return string[]|nil
---@return string|nil message it cannot be read to its end
---@return string|nil code
function core.names_in(folder) end

return core
