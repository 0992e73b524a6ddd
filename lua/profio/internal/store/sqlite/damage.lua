-- What is damaged in a store in a file of SQLite.

local checksums = require "profio.internal.store.checksums"
local texts = require "profio.internal.texts"

---Returns what is damaged, as texts.
---@param rows fun(sql: string): fun(...): any iterates over the rows of a query
---@return string[]
local function check(rows)
   local list = {}
   for text in rows "PRAGMA integrity_check" do
      list[#list + 1] = text ~= "ok" and text or nil
   end
   for _, name in ipairs { "cells", "addresses", "calls", "labels" } do
      for count in rows(("SELECT count(DISTINCT run) FROM %s WHERE run NOT IN (SELECT id FROM "
         .. "runs)"):format(name))
      do
         list[#list + 1] = count > 0 and ("%s of the table %s %s missing"):format(
            texts.counted(count, "run"), name, count == 1 and "is" or "are") or nil
      end
   end
   local messages = checksums.dictionary(rows)
   return table.move(messages, 1, #messages, #list + 1, list)
end

return check
