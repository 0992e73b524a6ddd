-- How often code ran: basic blocks where the file counts them, else functions. gprof's option -C.

local blocks = {
   name = "blocks",
   help = "how often basic blocks (or functions, where the file has no blocks) ran",
   narrows = true,
   uses = { "compat" },
   columns = {
      { name = "address", help = "where the block or the function begins" },
      { name = "count", help = "how often it ran" },
      { name = "function", help = "the function it is in" },
      { name = "file", help = "its source file" },
      { name = "line", help = "its line" },
   },
}

---@param trace profio.Trace
function blocks.fits(trace)
   return (trace.info.blocks or 0) + (trace.info.arcs or 0) > 0,
      "it counts neither blocks nor calls"
end

-- Functions and the calls of each, with the names that table blocks has.
local function counted_functions(context)
   local view = context:profile():functions(context:profile_options()):group("file", "line",
      "address", "function"):aggregate { "count = sum(calls)" }
   return view:filter(function(count)
      return count and count > 0
   end, "count")
end

local function has_places(view)
   for _, name in ipairs(view.columns) do
      if name == "file" then
         return true
      end
   end
   return false
end

---@param context profio.Context
---@return userdata
function blocks.reader(context)
   if context.trace.info.blocks == 0 then
      return counted_functions(context):sort("file", "line", "address"):reader()
   end
   local view = context.trace:table "blocks"
   if has_places(view) then
      view = view:sort("file", "line", "address")
   end
   return view:reader()
end

local with_place = "{file}:{line}: ({function}:{address}) {count} executions\n"

---@param context profio.Context
---@param out profio.Output
function blocks.text(context, out)
   local view = context:narrow(context:view_of(blocks))
   local template = has_places(view) and with_place or "({address}) {count} executions\n"
   out:listing({ template = template }, view:reader())
end

return blocks
