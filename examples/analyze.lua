#!/usr/bin/env lua5.4
-- The command `profio` as a script: lua5.4 examples/analyze.lua [options] FILE...
--
-- The whole command is the module profio.cli. In a checkout the module is beside this folder, in
-- a rock in the tree of luarocks that has it; a copy of this file elsewhere finds it as `require`
-- does. `make install` writes a command that knows where the module was installed.

local home = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../"
local build = os.getenv "PROFIO_BUILD" or "build"
build = build:find "^/" and build or home .. build
package.path = home .. "lua/?.lua;" .. home .. "lua/?/init.lua;" .. package.path
package.cpath = build .. "/?.so;" .. package.cpath
local tree = arg[0]:match "^(.*)/lib/luarocks/rocks[^/]*/profio/[^/]+/bin/[^/]+$"
if tree then
   package.path = ("%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua;"):format(tree, tree)
      .. package.path
   package.cpath = tree .. "/lib/lua/5.4/?.so;" .. package.cpath
end

local found, cli = pcall(function()
   require "profio.internal.interpreter"
   return require "profio.cli"
end)
if not found then
   local missing = tostring(cli):match "module '([^']*)' not found"
   io.stderr:write(not missing and "" or missing:find "^profio"
      and "profio is neither built (run make) nor installed\n"
      or "profio lacks a Lua module: luarocks install argparse, or on Debian apt-get install "
         .. "lua-argparse\n",
      tostring(cli), "\n")
   os.exit(1)
end

-- Nothing is left to close, and the system frees memory faster than Lua does.
local status, is_closed = cli.main(arg)
os.exit(status, not is_closed)
