--- Names C functions. One that a library of Lua offers has the name that it has there; one of
--- another module that of the module whose shared object contains it, else the first name in
--- alphabetical order. Functions are known by their address, because several closures may be of one
--- C function. Methods of userdata are found in their metatables. A function that is found nowhere
--- is called by its place in its shared object.

local core = require "profio.core"

local c_functions = {}

local getregistry, getmetatable = debug.getregistry, debug.getmetatable

-- The libraries of Lua, whose names are better than all others.
local STANDARD <const> = { "_G", "coroutine", "debug", "io", "math", "os", "package", "string",
   "table", "utf8" }

-- {====== Paths ======

-- Returns whether a shared object is that of a module: socket/core.so of socket.core.
local function is_of(object, module)
   local path = object:gsub("%.[%w.]*$", "")
   local tail = module:gsub("%.", "/"):gsub("^v[^%-]*%-", "")
   return path == tail or path:sub(-#tail - 1) == "/" .. tail
end

-- Keeps the better one of two paths of the function with this address.
local function offer(index, address, rank, path)
   local known = index[address]
   if not known or rank < known.rank or rank == known.rank and path < known.path then
      index[address] = { rank = rank, path = path }
   end
end

local function add_table(index, functions, module, prefix, standard)
   for name, value in next, functions do
      local address = type(name) == "string" and type(value) == "function"
         and core.c_address(value)
      if address then
         local rank = standard and 1 or is_of(core.c_place(value) or "", module) and 2 or 3
         offer(index, address, rank, prefix .. name)
      end
   end
end

-- }======

-- {====== Where functions are found ======

-- The functions that functions of Lua's libraries return.
local function add_returned(index)
   for name, f in next, { ["ipairs iterator"] = ipairs {}, ["string.gmatch iterator"] =
      ("").gmatch("", ""), ["utf8.codes iterator"] = utf8.codes "",
      ["io.lines iterator"] = io.stdin.lines and io.stdin:lines() } do
      local address = core.c_address(f)
      if address then
         offer(index, address, 2, name)
      end
   end
   for number, searcher in ipairs(package.searchers or {}) do
      local address = core.c_address(searcher)
      if address then
         offer(index, address, 2, ("package.searchers[%d]"):format(number))
      end
   end
end

-- The methods of a type of userdata, which are in its metatable or in the table __index of it.
local function add_type(index, name, metatable)
   add_table(index, metatable, name, name .. ".")
   local methods = rawget(metatable, "__index")
   if type(methods) == "table" then
      add_table(index, methods, name, name .. ":")
   end
end

-- Adds the functions of the libraries of Lua, and those of modules that are not yet in `seen`.
local function add_loaded(index, seen, loaded)
   for _, name in ipairs(STANDARD) do
      local library = rawget(loaded, name)
      if type(library) == "table" then
         add_table(index, library, name, name == "_G" and "" or name .. ".", true)
         seen[library] = true
      end
   end
   for name, module in next, loaded do
      if type(name) == "string" and type(module) == "table" and not seen[module] then
         seen[module] = true
         add_table(index, module, name, name .. ".")
      end
   end
end

local function add_types(index, seen)
   for name, metatable in next, getregistry() do
      if type(name) == "string" and type(metatable) == "table" and not seen[metatable]
         and rawget(metatable, "__name") == name then
         seen[metatable] = true
         add_type(index, name == "FILE*" and "file" or name, metatable)
      end
   end
   local strings = getmetatable ""
   if type(strings) == "table" and not seen[strings] then
      seen[strings] = true
      add_type(index, "string", strings)
   end
end

-- }======

-- Returns a name for a function that is in no table.
local function place_name(f)
   local object, symbol, offset = core.c_place(f)
   local file = object and object:match "[^/]+$"
   return symbol or file and ("function at %s+0x%x"):format(file, offset) or "C function"
end

---Returns a function that names C functions. What it has learnt of modules it keeps, so that a name
---costs the same however many are loaded.
---@param known table<string, function> functions that are in no library, by name
---@return fun(f: function): string
function c_functions.namer(known)
   local index, seen = {}, setmetatable({}, { __mode = "k" })
   local loaded = package.loaded
   for name, f in next, known do
      offer(index, core.c_address(f), 0, name)
   end
   add_returned(index)
   return function(f)
      local address = core.c_address(f)
      if not index[address] then
         add_loaded(index, seen, loaded)
         add_types(index, seen)
      end
      local found = index[address]
      return found and found.path or place_name(f)
   end
end

return c_functions
