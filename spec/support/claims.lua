-- Detection of formats: opens files without the option format.

local profio = require "profio"

local claims = {}

local MAX_SIZE = 1 << 26 -- bytes that a packed file may unpack to

---Opens and checks a file; returns the outcome.
---@param what string|table a path, or { data = string }
---@return "refused"|"clean"|"damaged" outcome
---@return string|nil format  refused: the code
---@return string|nil message  refused: the reason
function claims.outcome(what)
   local trace <close>, message, code = profio.open(what, { max_size = MAX_SIZE })
   if not trace then
      return "refused", code, message
   end
   for _, warning in ipairs(trace:check()) do
      if warning.kind == "damage" then
         return "damaged", trace.format
      end
   end
   return "clean", trace.format
end

return claims
