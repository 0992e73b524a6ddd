-- How many random cases a spec compares with its model.

local build = os.getenv "PROFIO_BUILD" or "build"
local is_slow = build:find "asan" or build:find "stressed"

---Returns a number of random cases for the build under test: a fifth in builds with sanitizers,
---where nearly all of the time goes to the models in Lua, and the fuzzers try many more.
---@param count integer in other builds
---@return integer
return function(count)
   return is_slow and (count + 4) // 5 or count
end
