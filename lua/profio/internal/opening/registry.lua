-- All formats: those with a file in profio.formats, which are those of the core, folded stacks and
-- stores, and those that users register.

local later = require "profio.internal.later"
local catalogue = require "profio.internal.catalogue"
local core = require "profio.core"
local raise = require "profio.internal.raise"
local registration = later "profio.internal.opening.registration"

local registry = {}

local by_name = {} -- the formats that are loaded
local order = core.formats() -- names: those of the core, and those that are written in Lua
table.move({ "folded", "store" }, 1, 2, #order + 1, order)

-- Those that are asked about each file: formats/recognition.lua, and the formats of users. Formats
-- of profio are loaded when they are first used.
local recognition = catalogue.load("profio.formats", "recognition")
local asked = table.move(recognition, 1, #recognition, 1, {})

-- Returns the format of a name, or nil.
local function load(name)
   local format = by_name[name]
   for i = 1, format and 0 or #order do
      if order[i] == name then
         format = catalogue.load("profio.formats", name)
         assert(format.name == name, "profio.formats." .. name .. " names another format")
         assert(type(format.help) == "string", name .. " has no help")
         assert(type(format.options) == "table", name .. " declares no options")
         assert(type(format.warnings) == "table", name .. " lists no warnings")
         by_name[name] = format
      end
   end
   return format
end

---Returns all formats in order.
---@return table[]
function registry.all()
   local list = {}
   for i, name in ipairs(order) do
      list[i] = load(name)
   end
   return list
end

---Returns the format of a name; raises if there is none.
---@param name string
---@return table
function registry.named(name)
   return load(name) or error(("no format '%s'; there are: %s"):format(tostring(name),
      table.concat(order, ", ")), 0)
end

---Returns the functions main_of of the formats: each returns the main file of a path.
---@return (fun(path: string): string|nil)[]
function registry.all_main_of()
   local list = {}
   for _, format in ipairs(asked) do
      list[#list + 1] = format.main_of
   end
   return list
end

---Returns the format with the highest score for a source, or nil if all are 0. A registered format
---gets the first 64 KiB, the size and the path.
---@param source userdata
---@return table|nil
function registry.detect(source)
   local best, best_score = nil, 0
   for _, found in ipairs(core.detect(source)) do
      if found[2] > best_score then
         best, best_score = found[1], found[2]
      end
   end
   for _, format in ipairs(asked) do
      if format.score then
         local score = raise.reading(format, format.score,
            source:read(0, format.head or 65536), source:size(), source:path())
         if type(score) ~= "number" then
            error(("score of format '%s' returned no number"):format(format.name), 0)
         end
         if score > best_score then
            best, best_score = format.name, score
         end
      end
   end
   return best and load(best)
end

---Returns the first format that claims a path because of the files beside it, or nil: a packet of
---Xbase++ has no header by which it could be detected. Registered formats do not claim.
---@param path string
---@param size integer of the file
---@return table|nil
function registry.claiming(path, size)
   for _, format in ipairs(asked) do
      if format.claims and format.claims(path, size) then
         return load(format.name)
      end
   end
   return nil
end

---Returns the format of a path that must not be opened to detect it, or nil.
---@param path string
---@return table|nil
function registry.open_already(path)
   for _, format in ipairs(asked) do
      if format.is_open and format.is_open(path) then
         return load(format.name)
      end
   end
   return nil
end

---Registers a format written in Lua. See profio.register.
---@param format table
function registry.register(format)
   if type(format) ~= "table" or type(format.name) ~= "string" or format.name == "" then
      error("register expects a table with a name", 0)
   end
   local known = load(format.name)
   if known and not known.registered then
      error(("format '%s' is one of profio's own"):format(format.name), 0)
   elseif type(format.score) ~= "function" or type(format.open) ~= "function" then
      error("register: 'score' and 'open' must be functions", 0)
   end
   local entry = registration.entry(format)
   by_name[format.name] = entry
   local at = #asked + 1
   for i, one in ipairs(asked) do
      at = one == known and i or at
   end
   asked[at] = entry
   if not known then
      order[#order + 1] = format.name
   end
end

return registry
