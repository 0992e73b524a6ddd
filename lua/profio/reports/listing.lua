-- Each line that was executed, with its callers: the listing of Business Rules!' profiler.exe.

local br = require "profio.reports.br"

local listing = {
   name = "listing",
   help = "Business Rules!: each line as it was executed, and its callers",
   columns = {
      { name = "module", help = "file of the program" },
      { name = "line", help = "line number" },
      { name = "clause", help = "number of the clause in the line" },
      { name = "function", help = "function the line is in" },
      { name = "kind", help = "what the line is in: function, gosub, main or unknown" },
      { name = "spent", help = "time as stated, ns; missing in samples" },
      { name = "depth", help = "frames of the stack, the line itself included" },
      { name = "stack", help = "number of the stack" },
   },
}

listing.fits = br.fits

---@param context profio.Context
---@return userdata
function listing.reader(context)
   return context.trace.samples:reader()
end

local templates = {
   line = "{module:-24} {line:6}.{clause:-3}  {spent:14}  {kind:-8}  {function}\n",
   caller = "   from {module:-21} {line:6}.{clause:-3}        {kind:-8}  {function}\n",
}

---@param context profio.Context
---@param out profio.Output
function listing.text(context, out)
   out:write(br.heading(context.trace), ("%-24s %6s.%-3s  %14s  %-8s  %s\n"):format("module",
      "line", "cl", "ns", "in", "function"))
   out:listing({ kind = "frame", templates = templates }, context.trace.frames:reader())
end

return listing
