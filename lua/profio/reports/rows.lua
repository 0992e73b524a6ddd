-- The records of a table that is no profile, as dbfdump shows them.

local rows = {
   name = "rows",
   help = "the records of a table, field by field",
   narrows = true,
   any_columns = true,
   columns = {
      { name = "record", help = "number of the record, from 1" },
      { name = "deleted", help = "whether it is marked as deleted" },
   },
}

---@param trace profio.Trace
function rows.fits(trace)
   return trace.format == "dbf", "its main table is no list of records"
end

---@param context profio.Context
---@return userdata
function rows.reader(context)
   return context.trace.data:reader()
end

---@param context profio.Context
---@param out profio.Output
function rows.text(context, out)
   local view = context:narrow(context:view_of(rows))
   local fields = {}
   for _, name in ipairs(view.columns) do
      if name ~= "deleted" and name ~= "record" then
         fields[#fields + 1] = name
      end
   end
   out:rows({ output = "text", columns = #fields > 0 and fields or nil }, view:reader())
end

return rows
