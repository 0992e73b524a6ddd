--- Matches names that contain a position, such as "function at FILE:LINE", between two versions of
--- a program. The functions of a file that have one name, or none, correspond in their order, so
--- that a line which is added above them changes nothing.

local positions = {}

-- Returns the part of a name that all versions have, the line, and the number on the line; nil: the
-- name has no position.
local function parsed(name)
   local base, file, line, number = name:match "^(.-) at ([^:]+):(%d+)#?(%d*)$"
   if not base then
      return nil
   end
   return base .. "\0" .. file, math.tointeger(line), math.tointeger(number) or 0
end

-- Returns the names by the part that all versions have, each list in the order of the file.
local function groups_of(names)
   local groups = {}
   for name in pairs(names) do
      local key, line, number = parsed(name)
      if key then
         groups[key] = groups[key] or {}
         table.insert(groups[key], { name = name, line = line, number = number })
      end
   end
   for _, list in pairs(groups) do
      table.sort(list, function(a, b)
         return a.line < b.line or a.line == b.line and a.number < b.number
      end)
   end
   return groups
end

-- Returns the names of a list by line and number, moved by some lines.
local function by_place(list, lines)
   local places = {}
   for _, one in ipairs(list) do
      places[("%d#%d"):format(one.line + lines, one.number)] = one.name
   end
   return places
end

-- Returns the numbers of lines by which functions may have moved.
local function possible_moves(old, new)
   local moves = { [0] = true }
   for _, one in ipairs(new) do
      moves[one.line - old[1].line] = true
      moves[one.line - old[#old].line] = true
   end
   return moves
end

-- Pairs lists of different lengths: all are moved by one number of lines, that which pairs most of
-- them, else the smallest.
local function pair_moved(old, new, renamed)
   local places, most, best, pairs_of = by_place(new, 0), 0, 0, {}
   for lines in pairs(possible_moves(old, new)) do
      local count, found = 0, {}
      for place, name in pairs(by_place(old, lines)) do
         found[name] = places[place]
         count = count + (places[place] and 1 or 0)
      end
      local is_smaller = math.abs(lines) < math.abs(best)
         or lines == -best and lines < best
      if count > most or count == most and is_smaller then
         most, best, pairs_of = count, lines, found
      end
   end
   for name, other in pairs(pairs_of) do
      renamed[name] = other ~= name and other or nil
   end
end

---Returns whether a name contains a position.
---@param name string
---@return boolean
function positions.is_position(name)
   return parsed(name) ~= nil
end

---Returns the names of the new version for those of the old one that differ.
---@param old table<string, any> a set of names
---@param new table<string, any>
---@return table<string, string>
function positions.renaming(old, new)
   local renamed, others = {}, groups_of(new)
   for key, list in pairs(groups_of(old)) do
      local other = others[key] or {}
      if #list == #other then
         for i, one in ipairs(list) do
            renamed[one.name] = other[i].name ~= one.name and other[i].name or nil
         end
      elseif #other > 0 then
         pair_moved(list, other, renamed)
      end
   end
   return renamed
end

return positions
