-- Chooses files of specs: `lua5.4 spec/support/specs.lua SET [ORDER]` prints those of a set, a line
-- each. The comment at the top of a file says what it belongs to, with the reason:
--
--    -- Extra: REASON         left to `make test-all`, for what it needs or how long it takes
--    -- Long: REASON          `make check` leaves it to `make test`
--    -- Unsanitized: REASON   does not run under the sanitizers
--    -- Costly: REASON        runs under the sanitizers in `make test-all` only
--    -- Tags: user, stressed, counted.
--
-- A file with the tag `user` depends on the user, the umask, the time zone or the folder for
-- temporary files, and runs again as a plain user. One with `stressed` runs with a collector that
-- never rests, and under the sanitizers only so. One with `counted` runs in the build of `make
-- counted`.
--
-- The long ones come first, since one that begins late would run alone at the end. ORDER is a
-- number by which the order is drawn.

local sets = {
   test = function(is) return not is.extra end,
   check = function(is) return not is.extra and not is.long end,
   user = function(is) return is.user and not is.extra end,
   ["test-all"] = function(is) return not is.counted end,
   counted = function(is) return is.counted end,
   sanitized = function(is)
      return not (is.unsanitized or is.stressed or is.extra or is.costly)
   end,
   stressed = function(is) return is.stressed and not is.unsanitized and not is.costly end,
   ["sanitized-all"] = function(is) return not is.unsanitized and not is.stressed end,
   ["stressed-all"] = function(is) return is.stressed and not is.unsanitized end,
}

local known = { Extra = true, Long = true, Unsanitized = true, Costly = true }
local known_tags = { user = true, stressed = true, counted = true }

local specs = {}

---Returns what the comment at the top of a file says: a set of words in lower case, and the words
---in front of a colon and the tags that are unknown. The first line may describe the file so.
---@param path string
---@return table<string, boolean> is
---@return string[] unknown
function specs.words_of(path)
   local is, unknown, number = {}, {}, 0
   for line in io.lines(path) do
      number = number + 1
      local word, rest = line:match "^%-%- (%u%l+): (.+)$"
      if line ~= "" and line:sub(1, 2) ~= "--" then
         break
      elseif word == "Tags" then
         for tag in rest:gmatch "%w+" do
            is[tag] = true
            unknown[#unknown + 1] = not known_tags[tag] and tag or nil
         end
      elseif word then
         is[word:lower()] = true
         unknown[#unknown + 1] = number > 1 and not known[word] and word or nil
      end
   end
   return is, unknown
end

-- Returns the size of a file in bytes.
local function size_of(path)
   local file <close> = assert(io.open(path))
   return file:seek "end"
end

---Returns the files of a set in the order in which they run.
---@param set string
---@param order integer|nil
---@return string[]
function specs.of(set, order)
   local list, weight = {}, {}
   math.randomseed(order or 0)
   for path in io.popen("find spec -name '*_spec.lua' | sort"):lines() do
      local is = specs.words_of(path)
      if sets[set](is) then
         list[#list + 1] = path
         local is_first = is.long or is.extra
         weight[path] = order and math.random() or size_of(path) + (is_first and 1e9 or 0)
      end
   end
   table.sort(list, function(a, b) return weight[a] > weight[b] end)
   return list
end

if arg and arg[0] and arg[0]:find "specs%.lua$" then
   if not sets[arg[1]] then
      error("no set of specs: " .. tostring(arg[1]))
   end
   print(table.concat(specs.of(arg[1], math.tointeger(tonumber(arg[2]))), "\n"))
end

return specs
