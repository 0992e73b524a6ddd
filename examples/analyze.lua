#!/usr/bin/env lua5.4
-- The command: lua5.4 examples/analyze.lua [options] FILE...   (--help lists the options)

if _VERSION ~= "Lua 5.4" then
   io.stderr:write("profio needs Lua 5.4, this is ", _VERSION, ": run lua5.4 ", arg[0], " ...\n")
   os.exit(2)
end

-- In a checkout the module lies beside this folder; installed, it is found by itself.
local home = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/.."
package.path = home .. "/lua/?.lua;" .. home .. "/lua/?/init.lua;" .. package.path
local build = os.getenv "PROFIO_BUILD" or "build"
if build:sub(1, 1) ~= "/" then
   build = home .. "/" .. build
end
package.cpath = build .. "/?.so;" .. package.cpath

local found, cli = pcall(require, "profio.cli")
if not found then
   io.stderr:write("profio is neither built (run make) nor installed:\n", tostring(cli), "\n")
   os.exit(1)
end
-- Where nothing is left to be closed, the system frees memory faster than Lua does.
local status, is_closed = cli.main(arg)
os.exit(status, not is_closed)
