-- The law of lua/profio: which layer may require which, no circle, where `require` stands, which
-- modules are loaded late, and the length of the public modules. layers.lua calls it.
--
-- Layers, lowest first: internal/, formats/, exports/ and reports/ (which do not know each other),
-- the public modules beside these folders, cli/. A file requires modules of its own layer and of
-- lower ones, and in the graph of all `require`, `later` and `package.loaded` there is no circle.
--
-- Formats, exports, reports and verbs are plug-ins: lists of names in data, of which
-- internal/catalogue.lua alone loads the one that a user or a file names. Such a module is used
-- only as its list describes, so a list may be in a lower layer than its entries. No other file
-- computes the name of a module, except `computing`.
--
-- Modules of profio are required at the top of a file, or there by `later` if the comment at the
-- top of internal/later.lua lists them.

local lua_layers = {}

local levels = { internal = 1, formats = 2, exports = 3, reports = 3, cli = 5 }
local PUBLIC <const>, MOST_LINES <const> = 4, 150
local LATER <const> = "lua/profio/internal/later.lua"

-- Files in which the name of a module may be computed, with the reason.
local computing = {
   ["lua/profio/internal/catalogue.lua"] = "loads plug-ins",
   [LATER] = "loads what others name",
}

-- Returns the name of the module in a file, or nil: descriptions for editors are never loaded.
local function module_of(file)
   local path = file:match "^lua/(profio/.*)%.lua$" or file:match "^lua/(profio)%.lua$"
   if path and not path:find "^profio/meta/" then
      return (path:gsub("/init$", ""):gsub("/", "."))
   end
end

-- Returns the level of a module and the folder in which it is, or "public".
local function place_of(name)
   local part = name:match "^profio%.(%w+)"
   local level = part and levels[part] or PUBLIC
   return level, level == PUBLIC and "public" or part
end

-- Calls a function for each module that a line of code names: with its name, and "require" or
-- "later"; with nil if the name is computed.
local function each_name(line, f)
   local code, from = line:gsub("%-%-.*", ""), 1
   while true do
      local _, last, word = code:find("%f[%w_]([rl][ea][qt][ue][ir]r?e?)%f[^%w_]", from)
      if not last then
         break
      end
      from = last + 1
      local name, after = code:match('^%s*%(?"([^"]+)"%s*(%.?%.?)', from)
      local is_call = code:find('^%(', from) or code:find('^ "', from)
      if is_call and (word == "require" or word == "later") then
         f(after ~= ".." and name or nil, word)
      end
   end
   local found = code:match "pcall%(require, \"([^\"]+)\""
      or code:match "package%.loaded%[\"([^\"]+)\"%]"
   if found then
      f(found, "loaded")
   end
end

-- Reads the modules: { [name] = { file =, lines =, uses = { { name =, line =, word =, is_top = } }
-- } }.
local function read(files, lines_of)
   local modules, names = {}, {}
   for _, file in ipairs(files) do
      local name = module_of(file)
      if name then
         local uses, lines = {}, lines_of(file)
         for number, line in ipairs(lines) do
            each_name(line, function(used, word)
               uses[#uses + 1] = { name = used, line = number, word = word,
                  is_top = not line:find "^%s" }
            end)
         end
         modules[name], names[#names + 1] = { file = file, lines = #lines, uses = uses }, name
      end
   end
   table.sort(names)
   return modules, names
end

-- Calls a function for each circle of modules, with their names: Tarjan's algorithm.
local function each_circle(modules, names, f)
   local index, low, stack, is_on, count = {}, {}, {}, {}, 0
   local function visit(name)
      count = count + 1
      index[name], low[name], is_on[name] = count, count, true
      stack[#stack + 1] = name
      for _, use in ipairs(modules[name].uses) do
         if modules[use.name] and not index[use.name] then
            visit(use.name)
         end
         if modules[use.name] and is_on[use.name] then
            low[name] = math.min(low[name], low[use.name])
         end
      end
      local circle = {}
      while low[name] == index[name] and is_on[name] do
         local last = table.remove(stack)
         is_on[last], circle[#circle + 1] = false, last
      end
      if #circle > 1 then
         table.sort(circle)
         f(circle)
      end
   end
   for _, name in ipairs(names) do
      if not index[name] then
         visit(name)
      end
   end
end

-- Returns the modules that may be loaded late: { [name] = line of the list }.
local function late_modules(lines)
   local late = {}
   for number, line in ipairs(lines) do
      local name = line:match "^%-%-    ([%l_.]+) +%S"
      if name then
         late[name] = number
      end
   end
   return late
end

-- Checks where a file uses another one, and marks what is loaded late in `used`.
local function check_loading(breach, one, use, late, used)
   if use.word == "later" then
      used[use.name] = true
      if not late[use.name] then
         breach(one.file, use.line, "%s is not in the list of %s", use.name, LATER)
      end
   end
   if not use.is_top and use.word ~= "loaded" and (use.word == "later" or use.is_known) then
      breach(one.file, use.line, "`require` and `later` stand at the top")
   end
end

-- Checks that a module uses no higher one.
local function check_layer(breach, name, one, use)
   local level, part = place_of(name)
   local other, other_part = place_of(use.name)
   if use.name:find "^profio%f[.\0]" and use.is_known
      and (other > level or other == level and part ~= other_part) then
      breach(one.file, use.line, "%s is above %s", use.name, name)
   end
end

---Checks the modules of lua/profio.
---@param files string[] of the repository
---@param lines_of fun(file: string): string[]
---@param breach fun(file: string, line: integer, message: string, ...)
function lua_layers.check(files, lines_of, breach)
   local modules, names = read(files, lines_of)
   local late, used = late_modules(lines_of(LATER)), {}
   for _, name in ipairs(names) do
      local one = modules[name]
      for _, use in ipairs(one.uses) do
         use.is_known = modules[use.name] ~= nil
         if use.name then
            check_layer(breach, name, one, use)
            check_loading(breach, one, use, late, used)
         elseif not computing[one.file] then
            breach(one.file, use.line, "the name of a module is computed")
         end
      end
      if place_of(name) == PUBLIC and one.lines > MOST_LINES then
         breach(one.file, one.lines, "%d lines, a public module has at most %d", one.lines,
            MOST_LINES)
      end
   end
   for name, line in pairs(late) do
      if not used[name] then
         breach(LATER, line, "no file loads %s late", name)
      end
   end
   each_circle(modules, names, function(circle)
      breach(modules[circle[1]].file, 1, "a circle of %d modules: %s", #circle,
         table.concat(circle, " "))
   end)
end

return lua_layers
