-- The records as the file states them, which profiler.exe calls raw.

local br = require "profio.reports.br.sums"

local raw = {
   name = "raw",
   help = "Business Rules!: the records as the file states them",
   columns = {
      { name = "offset", help = "byte at which it begins" },
      { name = "size", help = "bytes" },
      { name = "kind", help = "module, line, time, backtrace, end, function, gosub, main, rest" },
      { name = "module_number", help = "of a module, a line, a backtrace" },
      { name = "line", help = "of a line, a backtrace" },
      { name = "clause", help = "of a line, a backtrace" },
      { name = "spent", help = "of a time, ns" },
      { name = "name", help = "of a module, a function" },
   },
}

raw.fits = br.fits

---@param context profio.Context
---@return userdata
function raw.reader(context)
   return context.trace.raw:reader()
end

local place = "{offset:10}     {kind:-9} {module_number:5} {line:6}.{clause}\n"

local templates = {
   module = "{offset:10}  {kind:-9} {module_number:5}  {name}\n",
   line = "{offset:10}  {kind:-9} {module_number:5} {line:6}.{clause}\n",
   backtrace = place,
   time = "{offset:10}     {kind:-9} {spent} ns\n",
   ["function"] = "{offset:10}     {kind:-9} {name}\n",
   gosub = "{offset:10}     {kind}\n",
   main = "{offset:10}     {kind}\n",
   ["end"] = "{offset:10}  {kind}\n",
   rest = "{offset:10}  {kind}      {size} bytes that could not be read\n",
}

---@param context profio.Context
---@param out profio.Output
function raw.text(context, out)
   out:write(br.heading(context.trace))
   out:listing({ kind = "kind", templates = templates }, context.trace.raw:reader())
end

return raw
