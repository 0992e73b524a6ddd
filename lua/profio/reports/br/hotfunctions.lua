-- Functions, GOSUB routines and main programs by self time, the longest first.

local br = require "profio.reports.br.sums"

local hotfunctions = {
   name = "hotfunctions",
   help = "Business Rules!, Lua programs: functions by self time, the longest first",
   columns = {
      { name = "function", help = "its name, else the module's" },
      { name = "kind", help = "function, gosub, main or unknown" },
      { name = "module", help = "file of the program" },
   },
   narrows = true,
   uses = { "span of profile", "follow" },
}
table.move(br.columns, 1, #br.columns, #hotfunctions.columns + 1, hotfunctions.columns)

hotfunctions.fits = br.fits

local fields = { { "function", "name" }, { "kind", "name" }, { "module", "name" } }
table.move(br.fields, 1, #br.fields, #fields + 1, fields)

local function key_of(frame)
   return table.concat({ frame.area, frame.class, frame.file }, "\0")
end

---@param context profio.Context
---@return userdata
function hotfunctions.reader(context)
   local sums, whole = br.sums(context, key_of)
   local has_mean, rows = br.has_mean(context.trace), {}
   for i, sum in ipairs(sums) do
      rows[i] = { sum.frame.area, sum.frame.class, sum.frame.file }
      br.add_values(rows[i], 3, sum, whole, has_mean)
   end
   return br.reader(context.trace, fields, rows)
end

---@param context profio.Context
---@param out profio.Output
function hotfunctions.text(context, out)
   local titles, template = br.templates(context.trace, { { "in      ", "{kind:-8}" } },
      { { "function  (module)", "{function}  ({module})" } })
   out:write(br.heading(context.trace), titles)
   out:listing({ template = template }, context:narrow(context:view_of(hotfunctions)):reader())
end

return hotfunctions
