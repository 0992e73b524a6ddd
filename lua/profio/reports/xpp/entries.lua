-- The entries as the profiler wrote them: XppPat's view of raw trace data.

local plain = require "profio.internal.plain"
local texts = require "profio.internal.texts"
local xpp = require "profio.reports.xpp.entry_tables"

local entries = {
   name = "entries",
   help = "Xbase++: the trace, entry by entry",
   uses = { "span" },
   narrows = true,
   columns = {
      { name = "thread", help = "number of the thread" },
      { name = "time", help = "time since the start of the trace" },
      { name = "op", help = "i: about to be called, I: entered, O: about to return, o: returned" },
      { name = "call", help = "name of the function" },
      { name = "line", help = "line of the source" },
      { name = "params", help = "parameters with their values" },
      { name = "flags",
        help = "gap: entries before it are lost; run: a new run begins; deleted" },
   },
}

entries.fits = xpp.fits

---@param context profio.Context
---@return userdata
function entries.reader(context)
   return context:within(context.trace.entries):reader()
end

local line = "%6s  %12s  %-2s  %-24s %6s  %s"

---@param context profio.Context
---@param out profio.Output
function entries.text(context, out)
   out:write((line:format("THREAD", "TIME (ms)", "OP", "CALL", "LINE", "PARAMETERS")), "\n")
   for row in context:records(context:narrow(context:view_of(entries))) do
      local flags = row.flags or ""
      if flags:find "run" then
         out:write "        another run begins here\n"
      elseif flags:find "gap" then
         out:write "        entries are missing here\n"
      end
      out:write(texts.trim_end(line:format(row.thread or "", row.time and xpp.ms(row.time) or "",
         plain(row.op or ""), plain(row.call or ""), row.line or "", plain(row.params or ""))),
         "\n")
   end
end

return entries
