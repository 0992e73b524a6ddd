--- Names in rows for people: a name that rows of several files have is followed by the file.

local distinguished = {}

---Adds the file to names that records of several files have.
---@param records table[] changed
---@param by string the column of the name
function distinguished.by_file(records, by)
   local first, is_shared = {}, {}
   for _, record in ipairs(records) do
      local name, file = record[by] or "", record.file or false
      is_shared[name] = is_shared[name] or first[name] ~= nil and first[name] ~= file
      first[name] = file
   end
   for _, record in ipairs(records) do
      if record.file and is_shared[record[by] or ""] then
         record[by] = ("%s (%s)"):format(record[by], record.file)
      end
   end
end

return distinguished
