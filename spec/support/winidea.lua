-- Packs records of binary timelines for specs, from the vendor's tables: it knows nothing of the
-- decoder.

local records = {}

local types = { leave = 0, suspend = 1, resume = 2, enter = 3, write = 4 }

---A record of version 1.1: FLAGS has the core in bits 4 to 11 and the type in bits 0 to 3.
---@param r table  handle, event, core, data (a float: a double), time
---@return string
function records.new(r)
   local data = math.type(r.data) == "float" and ("<d"):pack(r.data) or ("<i8"):pack(r.data or 0)
   return ("<I4I4"):pack(r.handle, (r.core or 0xff) << 4 | types[r.event]) .. data ..
      ("<i8"):pack(r.time)
end

---A record of version 1.0: EVENT has the type in bits 24 to 27, and writes have none.
---@return string
function records.old(r)
   local data = math.type(r.data) == "float" and ("<d"):pack(r.data) or ("<i8"):pack(r.data or 0)
   local type = r.event == "write" and 0 or types[r.event]
   return ("<I4I4"):pack(r.handle, type << 24) .. data .. ("<i8"):pack(r.time)
end

---The bytes of a list of records.
---@param list table[]
---@param pack fun(r: table): string
---@return string
function records.bytes(list, pack)
   local parts = {}
   for i, r in ipairs(list) do
      parts[i] = pack(r)
   end
   return table.concat(parts)
end

---Bytes from text in hex; blanks and bars are skipped.
---@param text string
---@return string
function records.hex(text)
   return (text:gsub("[^%x]", ""):gsub("%x%x", function(digits)
      return string.char(tonumber(digits, 16))
   end))
end

return records
