-- Which functions a caller of profile:focus, ignore, hide, group, callers or callees means.

local conditions = require "profio.internal.conditions"
local suggestions = require "profio.internal.suggestions"

local picks = {}

---Selects functions: a name, profio.match "pattern", a list of those, or a function of a frame.
---@alias profio.Pick string|table|fun(frame: table): boolean

---Returns the test of a profio.Pick.
---@param wanted profio.Pick
---@return fun(frame: table): boolean
function picks.of(wanted)
   if type(wanted) == "function" then
      return wanted
   elseif type(wanted) == "string" then
      return function(frame)
         return frame["function"] == wanted or frame.symbol == wanted
      end
   elseif conditions.pattern(wanted) then
      local pattern = conditions.pattern(wanted)
      return function(frame)
         return pattern:find(frame["function"]) ~= nil
      end
   elseif type(wanted) ~= "table" or #wanted == 0 then
      error("functions are picked by a name, profio.match, a list of those or a function", 3)
   end
   local list = {}
   for i, one in ipairs(wanted) do
      list[i] = picks.of(one)
   end
   return function(frame)
      for _, is_wanted in ipairs(list) do
         if is_wanted(frame) then
            return true
         end
      end
      return false
   end
end

---Returns the numbers of the frames that a test chooses, as keys.
---@param frames table[]
---@param is_wanted fun(frame: table): any
---@return table<integer, boolean>
function picks.chosen(frames, is_wanted)
   local chosen = {}
   for _, frame in ipairs(frames) do
      chosen[frame.number] = is_wanted(frame) and true or nil
   end
   return chosen
end

---Returns the frames by which profile:group replaces others, by frame number.
---@param frames table[]
---@param by "file"|fun(frame: table): string|nil
---@return table<integer, table>
function picks.groups(frames, by)
   local groups = {}
   for _, frame in ipairs(frames) do
      local name
      if by == "file" then
         name = frame.file or "(no file)"
      else
         name = by(frame)
      end
      if name ~= nil then
         groups[frame.number] = { ["function"] = tostring(name) }
      end
   end
   return groups
end

---Returns a message if no frame has the name of a function, else nil.
---@param frames table[]
---@param func string
---@return string|nil
function picks.unknown(frames, func)
   local names = {}
   for i, frame in ipairs(frames) do
      names[i] = frame["function"]
      if names[i] == func then
         return nil
      end
   end
   return ("no function is called '%s'%s"):format(func, suggestions.hint(func, names))
end

return picks
