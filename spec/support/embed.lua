-- embed.lua OUTPUT compiled|sources [--resource NAME FILE]...: writes the archive of the single
-- file (csrc/program/embedded.c): all modules of lua/, argparse and dkjson, the pages of help and
-- what export html builds in. Equal inputs give equal bytes.

local output, form = arg[1], arg[2]

local function read(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:read "a"
end

local entries = {}

local function add(name, data)
   entries[#entries + 1] = { name = name, data = data }
end

-- Adds a module from its source, as bytecode or as text.
local function add_module(name, path, place)
   local text = read(path)
   if form == "compiled" then
      text = string.dump(assert(load(text, "@[profio]/" .. place, "t")))
   end
   add(name, text)
end

local list <close> = assert(io.popen "cd lua && find profio -type f | LC_ALL=C sort")
for path in list:lines() do
   local module = path:match "^(.*)%.lua$"
   if module then
      add_module(module:gsub("/init$", ""):gsub("/", "."), "lua/" .. path, path)
   elseif path:find "^profio/help/.*%.md$" or path:find "%.js$" or path:find "%.css$" then
      add(path:gsub("^profio", ""), read("lua/" .. path))
   end
end
for _, name in ipairs { "argparse", "dkjson" } do
   add_module(name, assert(package.searchpath(name, package.path)), name .. ".lua")
end
for i = 3, #arg, 3 do
   assert(arg[i] == "--resource")
   add("/" .. arg[i + 1], read(arg[i + 2]))
end

table.sort(entries, function(a, b)
   return a.name < b.name
end)
local at = 4 + 16 * #entries
local index, bytes = { string.pack("<I4", #entries) }, {}
for _, entry in ipairs(entries) do
   index[#index + 1] = string.pack("<I4I4I4I4", at, #entry.name, at + #entry.name, #entry.data)
   bytes[#bytes + 1] = entry.name .. entry.data
   at = at + #entry.name + #entry.data
end
local file <close> = assert(io.open(output, "wb"))
assert(file:write(table.concat(index), table.concat(bytes)))
