-- Files of SQLite for specs, and the command sqlite3, with which their contents are compared.

local sqlite = {}

local command = require "spec.support.command"
local disk = require "spec.support.disk"

---Creates an empty folder for the files of a spec; sqlite.remove removes it.
---@param name string
function sqlite.folder(name)
   local folder = command.folder .. "/" .. name
   disk.fresh(folder)
   return folder
end

function sqlite.remove(folder)
   disk.remove(folder)
end

function sqlite.write(path, bytes)
   local file <close> = assert(io.open(path, "wb"))
   file:write(bytes)
end

---Returns what the command sqlite3 prints for SQL, without the last line end.
function sqlite.ask(path, sql)
   local input = os.tmpname()
   sqlite.write(input, sql)
   local pipe <close> = assert(io.popen(("sqlite3 '%s' <%s 2>&1"):format(path, input)))
   local text = pipe:read "a"
   os.remove(input)
   return (text:gsub("\n$", ""))
end

---Returns the rows of a query as lists.
function sqlite.rows(db, sql, ...)
   local list = {}
   for a, b, c, d in assert(db:rows(sql, ...)) do
      list[#list + 1] = { a, b, c, d }
   end
   return list
end

return sqlite
