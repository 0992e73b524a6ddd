-- Sources of a Business Rules! program, whose lines begin with their number. The source of a
-- compiled program (MENU.BR) is a file beside it (menu.brs, MENU.BR.TXT). Other files, such as Lua
-- scripts, are found by their name, and their lines are counted.

local core = require "profio.core"
local sources = require "profio.internal.sources"
local texts = require "profio.internal.texts"

local br_source = {}

---@class profio.BrSources
local Sources = {}
Sources.__index = Sources

-- Returns the files in the folders, by their name in lower case.
local function list_files(folders)
   local files = {}
   for _, folder in ipairs(folders) do
      for _, name in ipairs(core.names_in(folder) or {}) do
         files[name:lower()] = files[name:lower()] or folder .. "/" .. name
      end
   end
   return files
end

---Returns the sources in some folders; they are opened on demand.
---@param folders string[]
---@param told { reads: fun(path: string), leaves_out: fun(reason: string) } called with the path of
---each source that is read, and with the reason why one may not be read
---@param trusts_paths boolean|nil any regular file may be read
---@return profio.BrSources
function br_source.open(folders, told, trusts_paths)
   return setmetatable({ files = list_files(folders), known = {}, told = told,
      folders = folders, trusts_paths = trusts_paths }, Sources)
end

-- Returns the source of a module, and whether its lines begin with their numbers.
local function find(files, module)
   local base = module:lower():gsub("\\", "/")
   base = texts.base_name(base)
   local stem = base:match "^(.+)%.[^.]*$" or base
   for _, name in ipairs { stem .. ".brs", stem .. ".wbs", stem .. ".br.txt", base .. ".txt" } do
      if files[name] then
         return files[name], true
      end
   end
   return files[base], false
end

-- A continued line is repeated below with the same number: it belongs to the line above.
local function numbered(file)
   local lines, current = {}, nil
   for text in file:lines() do
      local number, rest = text:match "^%s*(%d+)()"
      if number then
         current = math.tointeger(tonumber(number)) or 0 -- larger than any line
         lines[current] = { texts.trim(text:sub(rest)) }
      elseif current then
         table.insert(lines[current], texts.trim(text))
      end
   end
   for line, parts in pairs(lines) do
      lines[line] = table.concat(parts, " ")
   end
   return lines
end

local function counted(file)
   local lines = {}
   for text in file:lines() do
      lines[#lines + 1] = texts.trim(text)
   end
   return lines
end

local function load(self, module)
   local path, has_numbers = find(self.files, module)
   if not path then
      return {}
   end
   local file <close>, message = sources.open(path, self.folders, self.trusts_paths)
   if not file then
      self.told.leaves_out(message or path)
      return {}
   end
   self.told.reads(path)
   return has_numbers and numbered(file) or counted(file)
end

---Returns the text of a line, or nil.
---@param module string
---@param line integer
---@return string|nil
function Sources:line(module, line)
   if next(self.files) == nil then
      return nil
   end
   self.known[module] = self.known[module] or load(self, module)
   return self.known[module][line]
end

return br_source
