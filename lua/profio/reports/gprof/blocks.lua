-- Execution counts: of basic blocks if the file has them, else of functions (gprof's option -C).

local blocks = {
   name = "blocks",
   help = "execution counts of basic blocks, or of functions if the file has no blocks",
   narrows = true,
   uses = { "compat" },
   columns = {
      { name = "address", help = "first address of the block or function" },
      { name = "count", help = "number of executions" },
      { name = "function", help = "the function that contains it" },
      { name = "file", help = "its source file" },
      { name = "line", help = "its line" },
   },
}

---@param trace profio.Trace
function blocks.fits(trace)
   return (trace.info.blocks or 0) + (trace.info.arcs or 0) > 0,
      "it counts neither blocks nor calls"
end

-- Returns functions and their calls with the column names of table blocks.
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
