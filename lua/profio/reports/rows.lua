-- Rows of a table that has no profile, as dbfdump shows them, and the statistics of an export
-- without timeline.

local rows = {
   name = "rows",
   help = "rows of a table, field by field; stated statistics without events",
   narrows = true,
   any_columns = true,
   columns = {
      { name = "record", help = "number of the record, from 1" },
      { name = "deleted", help = "whether it is marked as deleted" },
   },
}

-- Returns the table whose rows are shown, or nil.
local function shown(trace)
   if trace.format == "dbf" then
      return trace.data
   end
   local info = trace.info
   return not info.first and info.statistics_format and trace:has "statistics"
      and trace.statistics or nil
end

---@param trace profio.Trace
function rows.fits(trace)
   return shown(trace) ~= nil, "its main table is no list of records"
end

---@param context profio.Context
---@return userdata
function rows.reader(context)
   return shown(context.trace):reader()
end

-- Returns the columns of statistics with values: files state few of them.
local function stated(view)
   local counts = {}
   for i, name in ipairs(view.columns) do
      counts[i] = ("%s = count(%s)"):format(name, name)
   end
   local has = view:aggregate(counts):rows()[1] or {}
   local names = {}
   for _, name in ipairs(view.columns) do
      if (has[name] or 0) > 0 and (name ~= "area" or not has.name or has.name == 0) then
         names[#names + 1] = name
      end
   end
   return names
end

local function fields_of(view)
   local fields = {}
   for _, name in ipairs(view.columns) do
      if name ~= "deleted" and name ~= "record" then
         fields[#fields + 1] = name
      end
   end
   return fields
end

---@param context profio.Context
---@param out profio.Output
function rows.text(context, out)
   local view = context:narrow(context:view_of(rows))
   local fields = context.trace.format == "dbf" and fields_of(view) or stated(view)
   out:rows({ output = "text", columns = #fields > 0 and fields or nil }, view:reader())
end

return rows
