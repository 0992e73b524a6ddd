-- The codes of the warnings of a trace.

local codes = {}

---Returns the codes in the order of the warnings.
---@param trace profio.Trace
---@return string[]
function codes.listed(trace)
   local list = {}
   for i, warning in ipairs(trace.warnings) do
      list[i] = warning.code
   end
   return list
end

---Returns the codes in the order of the warnings, each with its byte: "code:byte", or "code:".
---@param trace profio.Trace
---@return string[]
function codes.placed(trace)
   local list = {}
   for i, warning in ipairs(trace.warnings) do
      list[i] = warning.code .. ":" .. (warning.offset or "")
   end
   return list
end

---Returns the codes in the order of their letters.
---@param trace profio.Trace
---@return string[]
function codes.sorted(trace)
   local list = codes.listed(trace)
   table.sort(list)
   return list
end

return codes
