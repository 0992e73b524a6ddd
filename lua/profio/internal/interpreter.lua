-- Says which Lua is needed, where another one loads profio. This file, and those that require it
-- first, are written so that each version of Lua can parse them.

if _VERSION ~= "Lua 5.4" then
   local jit = rawget(_G, "jit")
   error(("profio needs Lua 5.4, this is %s: run it with lua5.4"):format(jit and jit.version
      or _VERSION), 0)
end

return true
