-- Symbols as lists that specs compare.

local core = require "profio.core"

local symbol_lists = {}

---Returns the symbols of the text of nm.
---@param text string
---@param rule "exact"|"gprof"|nil default exact
---@param exe string|nil bytes of the executable given with it
---@return userdata|nil symbols
---@return string|nil message
---@return string|nil code
function symbol_lists.from_nm(text, rule, exe)
   local function source(bytes)
      return assert(core.source_data(bytes, "data"))
   end
   return core.symbols_nm(source(text), exe and source(exe), nil, rule or "exact",
      core.dictionary())
end

---Returns all symbols as "start-stop name", in order.
function symbol_lists.ranges(symbols)
   local lines = {}
   for i, s in ipairs(symbols:all()) do
      lines[i] = ("%x-%x %s"):format(s.start, s.stop, s.name)
   end
   return lines
end

---Returns the names of all symbols, in order.
function symbol_lists.names(symbols)
   local found = {}
   for i, s in ipairs(symbols:all()) do
      found[i] = s.name
   end
   return found
end

return symbol_lists
