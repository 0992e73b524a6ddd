-- Numbers with the same sequence on every machine, for specs that compare statistics.

---Returns a generator of numbers from 0 to below 1, and a function that begins a sequence anew.
---@return fun(): number
---@return fun(seed: integer)
return function()
   local state = 1
   local function random()
      state = (state * 6364136223846793005 + 1442695040888963407) & math.maxinteger
      return (state >> 11) % 1000003 / 1000003
   end
   return random, function(seed) state = seed end
end
