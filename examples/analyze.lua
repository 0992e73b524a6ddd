#!/usr/bin/env lua5.4
-- The command: lua5.4 examples/analyze.lua [options] FILE...   (--help lists the options)

if _VERSION ~= "Lua 5.4" then
   io.stderr:write("profio needs Lua 5.4, this is ", _VERSION, ": run lua5.4 ", arg[0], " ...\n")
   os.exit(2)
end

-- This file itself: `path` with symbolic links followed.
local function target_of(path)
   local has_lfs, lfs = pcall(require, "lfs")
   for _ = 1, has_lfs and 40 or 0 do -- as many links as the kernel follows
      local target = lfs.symlinkattributes(path, "target")
      if not target then
         break
      end
      path = target:sub(1, 1) == "/" and target or (path:match "^.*/" or "") .. target
   end
   return path
end

-- No <close> here: an older Lua must be able to parse this file and print the message above.
local function is_readable(path)
   local file = io.open(path)
   return file ~= nil and file:close()
end

-- The module is in the checkout around this folder or below the PREFIX of the installation;
-- otherwise (LuaRocks, other folders of installation) Lua's own search path finds it.
local function find_module()
   local home = (target_of(arg[0]):match "^(.*)/[^/]*$" or ".") .. "/.."
   local lua, c = home .. "/share/lua/5.4", home .. "/lib/lua/5.4"
   if is_readable(home .. "/lua/profio/init.lua") then
      lua, c = home .. "/lua", os.getenv "PROFIO_BUILD" or "build"
      c = c:sub(1, 1) == "/" and c or home .. "/" .. c
   elseif not is_readable(lua .. "/profio/init.lua") then
      return
   end
   package.path = lua .. "/?.lua;" .. lua .. "/?/init.lua;" .. package.path
   package.cpath = c .. "/?.so;" .. package.cpath
end

find_module()
local found, cli = pcall(require, "profio.cli")
if not found then
   local wanted = tostring(cli):match "module '([^']*)' not found"
   if wanted and not wanted:find "^profio" then
      io.stderr:write("profio needs the Lua module ", wanted, ": on Debian, apt-get install ",
         wanted == "lfs" and "lua-filesystem" or "lua-" .. wanted, "\n")
   else
      io.stderr:write("profio is neither built (run make) nor installed:\n", tostring(cli), "\n")
   end
   os.exit(1)
end
-- Nothing is left to close, and the system frees memory faster than Lua does.
local status, is_closed = cli.main(arg)
os.exit(status, not is_closed)
