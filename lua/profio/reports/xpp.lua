-- What the reports of Xbase++ traces share.

local core = require "profio.core"

local xpp = {}

-- Times are told in ms, as XppPat does: the profiler knows no smaller unit.
xpp.MS = 1000000

---Whether the trace is one of this format.
---@param trace profio.Trace
---@return boolean
---@return string|nil reason
function xpp.fits(trace)
   return trace.format == "xpp" and trace.entries ~= nil, "it is for traces of Xbase++"
end

---How calls within one of the same function count.
xpp.recursion = { name = "recursion", type = "choice", choices = { "outermost", "all" },
   default = "outermost",
   help = "a call within one of the same function counts in the outermost one's gross, or twice" }

---A reader over rows made in Lua.
---@param trace profio.Trace
---@param fields table[]
---@param rows any[][]
---@return userdata
function xpp.reader(trace, fields, rows)
   return core.decoder(fields, function(put)
      for _, row in ipairs(rows) do
         put(table.unpack(row, 1, #fields))
      end
   end, core.dictionary(), trace.path)
end

---Milliseconds, without a point where there is nothing behind it.
---@param ns integer
---@return string
function xpp.ms(ns)
   local size = math.abs(ns)
   local text = ("%s%d"):format(ns < 0 and "-" or "", size // xpp.MS)
   return size % xpp.MS == 0 and text
      or (text .. (".%06d"):format(size % xpp.MS):gsub("0+$", ""))
end

return xpp
