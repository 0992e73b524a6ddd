-- How many random cases a spec compares with its model: all in `make test-all`, a third in `make
-- test`, and a tenth under the sanitizers, where nearly all of the time goes to the models in Lua,
-- and the fuzzers try many more. The first cases are the same in each.

local build = os.getenv "PROFIO_BUILD" or "build"
local is_sanitized = build:find "asan" or build:find "stressed"

local rounds = {}

---Whether everything is tried.
rounds.all = os.getenv "PROFIO_ALL" ~= nil and not is_sanitized

local part = rounds.all and 1 or is_sanitized and 10 or 3

---Returns a number of random cases for this run.
---@param count integer of all
---@return integer
function rounds.__call(_, count)
   return (count + part - 1) // part
end

return setmetatable(rounds, rounds)
