-- The sources of an Xbase++ trace, which names functions but no files: an index of the functions in
-- the *.prg files of the folders of --source.

local core = require "profio.core"
local prg_parser = require "profio.formats.xpp.prg_parser"
local plain = require "profio.internal.plain"
local sources = require "profio.internal.sources"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"

local prg_sources = {}

---The parts of a report or an export that an index needs: a profio.Context is one.
---@class profio.SourcesHost
---@field trace profio.Trace
---@field given { source: string[]|nil, trust_paths: boolean|nil }
---@field out { reads: fun(self: table, paths: string[]) } is told which files are read
---@field note fun(self: table, text: string)
---@field worded fun(self: table, message: string): string
---@field prg_sources profio.PrgSources|nil set here

---@class profio.PrgSources
---@field files integer that were read
local Sources = {}
Sources.__index = Sources

-- Adds a function under its name, and a method also under its name without that of the class.
local function add_function(self, found)
   local key = found.name:upper()
   for _, name in ipairs { key, key:match ":(.+)$" } do
      self.by_name[name] = self.by_name[name] or {}
      table.insert(self.by_name[name], found)
   end
end

-- Returns the code page of sources that are not UTF-8.
local function page_of(trace)
   local page = trace.info.code_page
   return type(page) == "string" and page
      or traces.of(trace).options.code_page == "raw" and "raw" or "CP1252"
end

-- Reads a source into the index.
local function add_file(self, path, given)
   local file <close>, message = sources.open(path, given.source, given.trust_paths)
   if not file then
      self.context:note("a source is left out: " .. self.context:worded(message or path))
      return
   end
   local list = {}
   for line in file:lines() do
      list[#list + 1] = core.utf8_of(line, self.page) or line
   end
   self.files = self.files + 1
   self.texts[path] = list
   self.context.out:reads { path }
   for _, found in ipairs(prg_parser.functions(list)) do
      found.file = path
      add_function(self, found)
   end
end

---Returns the index of the sources in the folders of --source; nil without that option. It is built
---once for a context.
---@param context profio.SourcesHost
---@param is_needed boolean|nil without --source, the index is empty, and a note says so
---@return profio.PrgSources|nil
function prg_sources.open(context, is_needed)
   local given = context.given
   local is_given = given.source and given.source[1] ~= nil
   if context.trace.format ~= "xpp" or not (is_given or is_needed) then
      return nil
   elseif context.prg_sources then
      return context.prg_sources
   end
   local self = setmetatable({ context = context, by_name = {}, texts = {}, files = 0,
      page = page_of(context.trace), symbol_size = context.trace.info.symbol_size }, Sources)
   for _, folder in ipairs(given.source or {}) do
      local names = core.names_in(folder) or {}
      table.sort(names)
      for _, name in ipairs(names) do
         if name:lower():find "%.prg$" then
            add_file(self, folder .. "/" .. name, given)
         end
      end
   end
   if not is_given then
      context:note("note: an Xbase++ trace names no files: name the folder of the *.prg by "
         .. "--source DIR")
   elseif self.files == 0 then
      context:note(("note: no *.prg in %s: name the folder of the sources by --source, not one "
         .. "above it"):format(plain(table.concat(given.source, ", "))))
   end
   context.prg_sources = self
   return self
end

-- Returns the functions whose names begin with one that the profiler has cut.
local function with_prefix(self, key)
   local list = {}
   for name, functions in pairs(self.by_name) do
      if name:sub(1, #key) == key then
         table.move(functions, 1, #functions, #list + 1, list)
      end
   end
   return list
end

-- Says that a function is found several times: in at most the first three places.
local function note_several(self, name, list)
   local places = {}
   table.sort(list, function(a, b)
      if a.file ~= b.file then
         return a.file < b.file
      end
      return a.line < b.line
   end)
   for i = 1, math.min(#list, 3) do
      places[i] = ("%s:%d"):format(list[i].file, list[i].line)
   end
   self.context:note(("note: %s is defined in %s%s: no source of it is shown"):format(plain(name),
      plain(table.concat(places, " and ")), #list > 3 and (" and %d more"):format(#list - 3) or ""))
end

---Returns the function with a name of the trace; nil: there is none, or there are several, which a
---note says. Case does not matter. A name that fills its field in the trace is the begin of one.
---@param name string
---@return profio.PrgFunction|nil with the field `file`
function Sources:find(name)
   local key = name:upper()
   local list = self.by_name[key]
   if not list and math.type(self.symbol_size) == "integer" and #name >= self.symbol_size then
      list = with_prefix(self, key)
      self.by_name[key] = list
   end
   if list and #list > 1 then
      note_several(self, name, list)
      return nil
   end
   return list and list[1]
end

---Returns the text of a line, or nil.
---@param file string
---@param line integer
---@return string|nil
function Sources:text(file, line)
   return self.texts[file] and self.texts[file][line]
end

---Returns the lines of a file.
---@param file string
---@return string[]
function Sources:lines(file)
   return self.texts[file]
end

---Returns a reader of rows with a column "function", whose columns file and line are set to the
---first line of the function.
---@param view profio.View
---@return userdata
function Sources:with_places(view)
   local fields, rows = view:reader():fields(), {}
   for row in view:records() do
      local found = self:find(row["function"])
      if found then
         row.file, row.line = found.file, found.line
      end
      rows[#rows + 1] = row
   end
   return views.reader_of(fields, rows)
end

---Adds a note if a function has no source.
---@param name string
function Sources:check(name)
   if not self.by_name[name:upper()] and self.files > 0 then
      self.context:note(("note: no FUNCTION, PROCEDURE, METHOD or CLASS %s in %d *.prg of --source")
         :format(plain(name), self.files))
   end
end

---Returns the place that the line of a call names: it is a line of the caller, or of the function
---itself. nil: neither has it, or is known.
---@param area string
---@param caller string|nil
---@param line integer|nil
---@return string|nil file
---@return boolean|nil is_of_caller
function Sources:place(area, caller, line)
   for _, name in ipairs(line and { caller or false, area } or {}) do
      local found = name and self:find(name)
      if found and found.line <= line and line <= found.last then
         return found.file, name ~= area or name == caller
      end
   end
end

return prg_sources
