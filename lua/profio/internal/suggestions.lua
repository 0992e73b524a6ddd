-- Suggestions for misspelt names: "did you mean 'timeline'?"

local suggestions = {}

local MOST_NAMES, MOST_HINTS, MOST_LISTED = 5000, 3, 10

-- Returns the edit distance of a and b (insertions, deletions, substitutions and swaps of
-- neighbours: optimal string alignment), or most + 1 if it is larger than `most`.
local function distance(a, b, most)
   if math.abs(#a - #b) > most then
      return most + 1
   end
   local before, last = nil, {}
   for j = 0, #b do
      last[j] = j
   end
   for i = 1, #a do
      local row, smallest = { [0] = i }, i
      for j = 1, #b do
         local same = a:byte(i) == b:byte(j)
         local cost = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
         if before and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
            cost = math.min(cost, before[j - 2] + 1)
         end
         row[j], smallest = cost, math.min(smallest, cost)
      end
      if smallest > most then
         return most + 1
      end
      before, last = last, row
   end
   return last[#b]
end

-- Returns the distance of a name from a word, or nil if it is too large. A substring is near.
local function distance_of(word, name)
   local a, b = word:lower(), name:lower()
   local most = math.max(1, math.min(#a, #b) // 3)
   if math.max(#a, #b) < 3 or a:find "^%d+$" then -- distances of these mean nothing
      return nil
   end
   local steps = distance(a, b, most)
   if steps <= most then
      return steps
   end
   local is_part = #a >= 3 and b:find(a, 1, true) or #b >= 3 and a:find(b, 1, true)
   return is_part and most + 1 or nil
end

---Returns the names that are similar to a word, the nearest first.
---@param word string
---@param names string[]
---@return string[] at most 3
function suggestions.names(word, names)
   local found = {}
   for i = 1, math.min(#names, MOST_NAMES) do
      local name = names[i]
      local steps = name ~= word and #name <= 200 and #word <= 200 and distance_of(word, name)
      if steps then
         found[#found + 1] = { name = name, steps = steps, at = i }
      end
   end
   table.sort(found, function(a, b)
      if a.steps ~= b.steps then
         return a.steps < b.steps
      end
      return a.at < b.at
   end)
   local list = {}
   for i = 1, math.min(#found, MOST_HINTS) do
      list[i] = found[i].name
   end
   return list
end

---Returns the end of a message about an unknown name: "; did you mean 'x'?", or "".
---@param word string
---@param names string[]
---@return string
function suggestions.hint(word, names)
   local list = suggestions.names(word, names)
   for i, name in ipairs(list) do
      list[i] = "'" .. name .. "'"
   end
   return #list > 0 and "; did you mean " .. table.concat(list, " or ") .. "?" or ""
end

---Returns the end of a message about an unknown name: similar names, or else the first ones that
---exist: "; there are: a, b, ...", or "" if there are none.
---@param word string
---@param names string[]
---@return string
function suggestions.known(word, names)
   local hint = suggestions.hint(word, names)
   if hint ~= "" or #names == 0 then
      return hint
   end
   return "; there are: " .. table.concat(names, ", ", 1, math.min(#names, MOST_LISTED))
      .. (#names > MOST_LISTED and ", ..." or "")
end

---Appends suggestions to a message "no thing 'x'; there are: a, b".
---@param message string
---@return string
function suggestions.improved(message)
   local word, list = message:match "no [%l ]+ '([^']*)'; there are: ([^\n]*)$"
   if not word or message:find("did you mean", 1, true) then
      return message
   end
   local names = {}
   for name in list:gmatch "[^,%s][^,]*" do
      names[#names + 1] = name
   end
   return message .. suggestions.hint(word, names)
end

return suggestions
