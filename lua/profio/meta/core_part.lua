---@meta profio.core
--
-- The part of profio.core for opened files; core.lua beside this file has the rest. Never loaded.

local core = {}

---@class profio.core.Part
local part = {}

function part:close() end

---Makes the bytes visible that have been written to its sources since the last look.
---@return boolean more
function part:grow() end

---Adds a source; readers use it when they continue.
---@param role string
---@param from profio.core.Source
function part:add(role, from) end

---@return { name: string, rows: integer|nil, fields: profio.core.Field[] }[]
function part:tables() end

---Returns the number of rows of a table; nil: only reading would tell.
---@param table_name string
---@return integer|nil
function part:rows(table_name) end

---Returns whether another part has the same tables, with columns of equal names and types.
---@param other profio.core.Part
---@param except table<string, any> tables that are not compared, by name
---@param compares_help boolean|nil the help of columns must be equal, too
---@return boolean
function part:is_like(other, except, compares_help) end

---Lets the part give back memory and mappings whenever no reader uses it. A file that changes
---meanwhile is an error when it is read.
---@return boolean can_sleep false: a source is a pipe, data or a file beside a trace
function part:sleep() end

---Returns the header fields, in the file's order.
---@return { name: string, type: string, value: any }[]
function part:info() end

---Returns the values of the header fields of a name, in the file's order.
---@param name string
---@return any ...
function part:fact(name) end

---Sets the header fields that `into` lacks, and adds those whose names are keys of `counted`.
---@param into table<string, any>
---@param counted table<string, any>
function part:add_info(into, counted) end

---Returns the warnings from number `from` on.
---@param from integer|nil
---@return profio.Warning[]|nil  nil: none
function part:warnings(from) end

---Returns whether several readers of a table may read parts of it in different threads.
---@param table_name string
---@return boolean
function part:parallel(table_name) end

---Returns a reader of the rows of a table, or of only `count` rows from row `from` (from 0) on.
---@param table_name string
---@param from integer|nil
---@param count integer|nil
---@return profio.core.Reader|nil
---@return string|nil message
---@return profio.core.Code|nil code
function part:reader(table_name, from, count) end

---@class profio.core.FileSum
local file_sum = {}

---Adds the first files of a list, up to one that is not like the file of the part.
---@param paths string[]
---@return integer added their number
function file_sum:add(paths) end

---Returns the bytes of a file with the sum. No more files can be added then.
---@return string data
---@return integer arcs in the added files
function file_sum:data() end

---@param paths string[] those of the added files
---@return integer|nil index of the first file that has changed since
function file_sum:changed(paths) end

---Returns an empty sum for files like that of a part, or nil if none is possible.
---@param like profio.core.Part
---@return profio.core.FileSum|nil
function core.file_sum(like) end

return core
