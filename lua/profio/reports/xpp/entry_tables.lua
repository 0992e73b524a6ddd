-- Shared functions of the reports of Xbase++ traces.

local core = require "profio.core"

local xpp = {}

-- Times are shown in ms, as in XppPat: the profiler has no smaller unit.
xpp.MS = 1000000

---Returns whether the trace has this format.
---@param trace profio.Trace
---@return boolean
---@return string|nil reason
function xpp.fits(trace)
   return trace.format == "xpp" and trace:has "entries", "it is for traces of Xbase++"
end

---Option for recursive calls.
xpp.recursion = { name = "recursion", type = "choice", choices = { "outermost", "all" },
   default = "outermost",
   help = "a recursive call counts in the gross time of the outermost one, or twice" }

---Returns a reader of rows built in Lua.
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

---Formats milliseconds, without a point if there are no decimals.
---@param ns integer
---@return string
function xpp.ms(ns)
   local size = math.abs(ns)
   local text = ("%s%d"):format(ns < 0 and "-" or "", size // xpp.MS)
   return size % xpp.MS == 0 and text
      or (text .. (".%06d"):format(size % xpp.MS):gsub("0+$", ""))
end

return xpp
