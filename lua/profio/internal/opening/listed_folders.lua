-- The folders that are listed while one call of profio.open runs.

local listed_folders = {}

-- Folders listed during one call of profio.open, or nil. Without it a folder would be listed again
-- for each of its files, which takes quadratic time.
local listed

---Calls a function and lists each folder only once meanwhile.
---@param f function
---@return boolean  the results of pcall
---@return any ...
function listed_folders.list_once(f, ...)
   local outer = listed
   listed = listed or {}
   local results = table.pack(pcall(f, ...))
   listed = outer
   return table.unpack(results, 1, results.n)
end

---Returns the folders that were listed during this call of profio.open, by their path; nil: none is
---going on.
---@return table<string, table|false>|nil
function listed_folders.listed()
   return listed
end

return listed_folders
