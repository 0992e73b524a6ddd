-- Work that is counted instead of timed: steps of the core and of Lua (spec/c/counter.c), in the
-- build of `make counted`. They are the same on any machine and at any load.

local command = require "spec.support.command"

local counted = {}

local is_counted = (os.getenv "LD_PRELOAD" or ""):find("counter.so", 1, true) ~= nil

-- The specs of costs run in this build; other programs find it beside their own.
local build = is_counted and command.build or command.build .. "/counted"

---Returns the words in front of a command in the checkout whose steps are counted.
---@return string
function counted.words()
   return ("LD_PRELOAD='%s/c/counter.so' PROFIO_BUILD='%s' LUA_CPATH='%s/?.so;%s/c/?.so;;'"):format(
      build, build, build, build)
end

---Returns the module counter of this process, or nil if its work is not counted.
---@return { start: fun(), steps: fun(): integer }|nil
function counted.counter()
   if not is_counted then
      return nil
   end
   package.cpath = build .. "/c/?.so;" .. package.cpath
   return require "counter"
end

---Returns how many steps a function takes.
---@param f fun(...)
---@return integer
function counted.steps_of(f, ...)
   local counter = assert(counted.counter())
   counter.start()
   local before = counter.steps()
   f(...)
   return counter.steps() - before
end

return counted
