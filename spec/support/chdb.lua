-- The newest ClickHouse for specs: the library chdb behind a server of HTTP (chdb_front.js), which
-- ends with the process that has started it, because its input ends then.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local wait = require "spec.support.wait"

local chdb = {}

local modules = command.build .. "/node/chdb/node_modules"
if not lfs.attributes(modules) then -- a build of another kind
   modules = command.root .. "/build/node/chdb/node_modules"
end

---Returns whether node and chdb are installed, and chdb can be loaded on this system.
---@return boolean
function chdb.is_installed()
   return os.execute(("node -e 'require(process.argv[1])' '%s/chdb' >/dev/null 2>&1"):format(
      modules)) == true
end

---@class spec.Chdb
local Front = {}
Front.__index = Front

---Starts the server, with empty data.
---@param name string of its folder
---@return spec.Chdb
function chdb.start(name)
   local self = setmetatable({ folder = ("%s/%s"):format(command.folder, name) }, Front)
   disk.fresh(self.folder)
   local said = self.folder .. "/said"
   self.pipe = assert(io.popen(("node '%s/spec/support/chdb_front.js' '%s' '%s' >'%s' 2>&1"):format(
      command.root, modules, self.folder, said), "w"))
   wait.until_true(function()
      self.port = lfs.attributes(said) and command.read(said):match "^(%d+)\n"
      return self.port ~= nil
   end)
   return self
end

---Returns the address of a database as profio expects it.
---@param database string
---@return string
function Front:address(database)
   return ("clickhouse://127.0.0.1:%s/%s"):format(self.port, database)
end

---Ends the server and removes its files.
function Front:close()
   self.pipe:close()
   disk.remove(self.folder)
end

return chdb
