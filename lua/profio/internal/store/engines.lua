-- Opens the engine of a store: by the path, an address of ClickHouse or a file of SQLite.

local address = require "profio.internal.store.clickhouse.address"
local clickhouse = require "profio.internal.store.clickhouse"
local outputs = require "profio.internal.writing.outputs"
local sqlite = require "profio.internal.store.sqlite"

local engines = {}

---Opens a store. Raises failures (see problem.lua).
---@param path string
---@param mode "read"|"write"|"create"
---@return table engine
function engines.open(path, mode)
   if address.is_one(path) then
      return clickhouse.open(path, mode)
   end
   return sqlite.open(path, mode)
end

---Returns whether profio.open must not open a path to look at its bytes: an address, or a store
---that this process has open.
---@param path string
---@return boolean
function engines.has_open(path)
   if address.is_one(path) then
      return true
   end
   local identity = outputs.identity(path)
   return identity ~= nil and (sqlite.opened[identity] or 0) > 0
end

return engines
