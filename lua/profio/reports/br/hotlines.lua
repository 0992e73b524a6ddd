-- Lines by self time, the longest first, with their source.

local br = require "profio.reports.br.sums"
local br_source = require "profio.reports.br.line_sources"
local plain = require "profio.internal.plain"

local hotlines = {
   name = "hotlines",
   help = "Business Rules!, Lua programs: lines by self time, the longest first, with their source "
      .. "(--source DIR)",
   columns = {
      { name = "module", help = "file of the program" },
      { name = "line", help = "line number" },
      { name = "kind", help = "routine of the line: function, gosub, main or unknown" },
      { name = "function", help = "the function that contains it" },
   },
   narrows = true,
   uses = { "span of profile", "source", "follow" },
}
table.move(br.columns, 1, #br.columns, #hotlines.columns + 1, hotlines.columns)
hotlines.columns[#hotlines.columns + 1] = { name = "source", help = "the line's text" }

hotlines.fits = br.fits

local fields = { { "module", "name" }, { "line", "int" }, { "kind", "name" },
   { "function", "name" } }
table.move(br.fields, 1, #br.fields, #fields + 1, fields)
fields[#fields + 1] = { "source", "name" }

local function key_of(frame)
   return ("%s\0%010d"):format(frame.file, frame.line or 0)
end

-- Returns the lines of the sums by module.
local function lines_of(sums)
   local ran = {}
   for _, sum in ipairs(sums) do
      local module = sum.frame.file
      ran[module] = ran[module] or {}
      if sum.frame.line then
         ran[module][sum.frame.line] = true
      end
   end
   return ran
end

---@param context profio.Context
---@return userdata
function hotlines.reader(context)
   local sums, whole = br.sums(context, key_of)
   local sources = br_source.open(context.trace, context.given.source, {
      reads = function(path)
         context.out:reads { path }
      end,
      leaves_out = function(reason)
         context:note("a source is left out: " .. context:worded(reason))
      end,
      doubts = function(reason)
         context:note("note: " .. plain(reason))
      end,
   }, context.given.trust_paths, lines_of(sums))
   local has_mean, rows = br.has_mean(context.trace), {}
   for i, sum in ipairs(sums) do
      local frame = sum.frame
      local row = { frame.file, frame.line or 0, frame.class,
         frame.class == "function" and frame.area or nil }
      br.add_values(row, 4, sum, whole, has_mean)
      row[11] = sources:line(frame.file, frame.line or 0)
      rows[i] = row
   end
   local reason = sources:reason()
   context:note(reason and "note: " .. plain(reason))
   return br.reader(context.trace, fields, rows)
end

---@param context profio.Context
---@param out profio.Output
function hotlines.text(context, out)
   local titles, template = br.templates(context.trace, { { "module      ", "{module:-12}" },
      { "  line", "{line:6}" } }, { { "source or function", "{shown}" } })
   out:write(br.heading(context.trace), titles)
   out:listing({ template = (template:gsub("{shown}", "{function}  {source}")) },
      context:narrow(context:view_of(hotlines)):reader())
end

return hotlines
