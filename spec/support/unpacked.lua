-- unpacked.lua BUILD MODULE...: writes what `profio unpack` gives, to standard output: a list of {
-- name =, bytes = } of the modules in C, the Lua files and what is beside them, argparse and
-- dkjson, packed as profio.internal.store.details does.

local details = require "profio.internal.store.details"

local list = {}

local function add(name, path)
   local file <close> = assert(io.open(path, "rb"))
   list[#list + 1] = { name = name, bytes = file:read "a" }
end

for i = 2, #arg do
   local stripped = arg[1] .. "/standalone/" .. arg[i]:match "[^/]+$"
   assert(os.execute(("${STRIP:-strip} -o '%s' '%s'"):format(stripped, arg[i])))
   add("profio/" .. arg[i]:match "[^/]+$", stripped)
end
local found <close> = assert(io.popen "cd lua && find profio -type f | LC_ALL=C sort")
for path in found:lines() do
   if path:find "^profio/help/.*%.md$" or not path:find "%.md$" then
      add(path, "lua/" .. path)
   end
end
for _, name in ipairs { "argparse", "dkjson" } do
   add(name .. ".lua", assert(package.searchpath(name, package.path)))
end
io.stdout:write(details.pack(list))
