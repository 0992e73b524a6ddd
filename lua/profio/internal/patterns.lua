-- Lua patterns that people give. The core matches them: a search that takes too long ends at
-- Ctrl-C, and a fault is found at once, where string.find finds it when a text reaches it.

local core = require "profio.core"

local patterns = {}

---Returns a compiled pattern, whose method `find` returns what string.find does; or nil and a
---message.
---@param text string
---@return profio.core.Pattern|nil pattern
---@return string|nil message
function patterns.of(text)
   local pattern, problem = core.pattern(text)
   return pattern, problem and ("'%s' is no Lua pattern: %s"):format(text, problem)
end

return patterns
