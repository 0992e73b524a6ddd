-- Views, for the other modules of the library: those of lazy_view.lua, whose methods are in
-- view_methods.lua. It is loaded when one of them is called, since most reports only need a reader.

local core = require "profio.core"
local later = require "profio.internal.later"
local lazy_view = require "profio.internal.views.lazy_view"

local views = { over = lazy_view.over, is_one = lazy_view.is_one }

---The module with the methods of views, in its field `methods`.
views.all = later "profio.internal.views.view_methods"

---Returns a reader of records: tables with values by the names of the fields.
---@param fields profio.Field[]
---@param records table<string, any>[]
---@return userdata
function views.reader_of(fields, records)
   local list = {}
   for i, record in ipairs(records) do
      list[i] = {}
      for n, field in ipairs(fields) do
         list[i][n] = record[field.name]
      end
   end
   return core.rows_reader(fields, list)
end

lazy_view.take_methods(views.all)

return views
