-- Sources of a Business Rules! program, whose lines begin with their number. The source of a
-- compiled program (MENU.BR) is a file beside it (menu.brs, MENU.BR.TXT). Other files are found by
-- their name, and their lines are counted. Those of a recorded Lua program have paths.

local core = require "profio.core"
local sources = require "profio.internal.sources"
local texts = require "profio.internal.texts"
local traces = require "profio.internal.trace"

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

---Returns the sources of a trace; they are opened on demand.
---@param trace profio.Trace
---@param folders string[]
---@param told { reads: fun(path: string), leaves_out: fun(reason: string), doubts: fun(reason:
---string) } called with the path of each source that is read, with the reason why one may not be
---read, and why one may have other lines than those that ran
---@param trusts_paths boolean|nil any regular file may be read
---@return profio.BrSources
function br_source.open(trace, folders, told, trusts_paths)
   local recording = sources.are_counted(trace) and sources.recording(traces.of(trace).paths) or nil
   return setmetatable({ files = recording and {} or list_files(folders), known = {}, told = told,
      folders = folders, trusts_paths = trusts_paths, recording = recording }, Sources)
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

local function load_recorded(self, module)
   local lines, found, doubt = sources.read(module, self.folders, self.trusts_paths, self.recording)
   if not lines then
      if found then
         self.told.leaves_out(found)
      end
      return {}
   end
   self.told.reads(found)
   if doubt then
      self.told.doubts(doubt)
   end
   for i, line in ipairs(lines) do
      lines[i] = texts.trim(line)
   end
   return lines
end

local function load(self, module)
   if self.recording then
      return load_recorded(self, module)
   end
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
   self.known[module] = self.known[module] or load(self, module)
   return self.known[module][line]
end

return br_source
