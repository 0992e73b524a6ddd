-- Each executed line with its callers: the listing of Business Rules!' profiler.exe.

local br = require "profio.reports.br.sums"

local listing = {
   name = "listing",
   help = "Business Rules!, Lua programs: each line as it was executed, and its callers",
   columns = {
      { name = "module", help = "file of the program" },
      { name = "line", help = "line number" },
      { name = "clause", help = "number of the clause in the line" },
      { name = "function", help = "the function that contains the line" },
      { name = "kind", help = "routine of the line: function, gosub, main or unknown" },
      { name = "spent", help = "stated time, ns; missing in samples" },
      { name = "depth", help = "frames of the stack, including the line itself" },
      { name = "stack", help = "id of the stack" },
   },
}

listing.fits = br.fits

---@param context profio.Context
---@return userdata
function listing.reader(context)
   return context.trace.samples:reader()
end

local LEAST, MOST = 24, 60 -- width of the column of modules: a DOS name, or a path

-- Returns the width of the column of modules.
local function width_of(trace)
   local width = LEAST
   for module in trace.frames:group "module":each "module" do
      width = math.max(width, utf8.len(module or "") or #module)
   end
   return math.min(width, MOST)
end

local function templates_of(width)
   return {
      line = ("{module:-%d} {line:6}.{clause:-3}  {spent:14}  {kind:-8}  {function}\n"):format(
         width),
      caller = ("   from {module:-%d} {line:6}.{clause:-3}  %14s  {kind:-8}  {function}\n"):format(
         width - 8, ""),
   }
end

---@param context profio.Context
---@param out profio.Output
function listing.text(context, out)
   local width = width_of(context.trace)
   out:write(br.heading(context.trace), ("%-" .. width .. "s %6s.%-3s  %14s  %-8s  %s\n"):format(
      "module", "line", "cl", "ns", "in", "function"))
   out:listing({ kind = "frame", templates = templates_of(width) }, context.trace.frames:reader())
end

return listing
