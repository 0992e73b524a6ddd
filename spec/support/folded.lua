-- A format for specs of profiles of stacks: stacks as text that is easy to write. Below the
-- line "FOLDED" a line is "main;parse;read 1000": ns, one sample.

local profio = require "profio"

local folded = {}

profio.register {
   name = "folded-times", help = "folded stacks, for specs",
   score = function(bytes)
      return bytes:find "^FOLDED" and 100 or 0
   end,
   tables = { samples = { { "stack", "name" }, { "spent", "int" } } },
   profile = { table = "samples", folded = "stack", metrics = {
      { name = "time", unit = "ns", column = "spent" }, { name = "samples", unit = "count" } } },
   open = function(source)
      return { samples = function(put)
         for line in source:lines() do
            local stack, spent = line:match "^(.*) (%-?%d+)$"
            if stack then
               put(stack, math.tointeger(spent))
            end
         end
      end }
   end,
}

---The profile of a text of folded stacks.
---@param text string
---@return profio.Profile
function folded.profile(text)
   local trace <close> = assert(profio.open({ data = "FOLDED\n" .. text },
      { format = "folded-times" }))
   return assert(trace:profile())
end

local names = { "main", "parse", "read", "print", "operator new(unsigned long)", "a.b:c", "Zoë" }

---A random text of folded stacks.
---@param count integer
---@return string
function folded.random(count)
   local lines = {}
   for i = 1, count do
      local stack = {}
      for depth = 1, math.random(1, 7) do
         stack[depth] = names[math.random(#names)]
      end
      lines[i] = table.concat(stack, ";") .. " " .. math.random(0, 1000)
   end
   return table.concat(lines, "\n") .. "\n"
end

return folded
