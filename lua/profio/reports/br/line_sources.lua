-- Sources of a Business Rules! program: their lines begin with their numbers, or are numbered as
-- Lexi does. The source of a compiled program (MENU.BR) has a name like it (menu.br.brs, menu.brs,
-- MENU.BR.TXT). Those of a recorded Lua program have paths.

local core = require "profio.core"
local line_numbers = require "profio.reports.br.line_numbers"
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

-- Returns the code page of sources that are not UTF-8: that of the names.
local function page_of(trace)
   return trace.info.code_page or traces.of(trace).options.code_page == "raw" and "raw" or "CP437"
end

---Returns the sources of a trace; they are opened on demand.
---@param trace profio.Trace
---@param folders string[]
---@param told { reads: fun(path: string), leaves_out: fun(reason: string), doubts: fun(reason:
---string) } called with the path of each source that is read, with the reason why one may not be
---read, and why one may have other lines than those that ran
---@param trusts_paths boolean|nil any regular file may be read
---@param ran table<string, table<integer, boolean>> the lines that ran, by module
---@return profio.BrSources
function br_source.open(trace, folders, told, trusts_paths, ran)
   local recording = sources.are_counted(trace) and sources.recording(traces.of(trace).paths) or nil
   return setmetatable({ files = recording and {} or list_files(folders), known = {}, told = told,
      folders = folders, trusts_paths = trusts_paths, recording = recording, ran = ran,
      missing = {}, page = page_of(trace) }, Sources)
end

-- Returns the names that the source of a module may have, in lower case: of MENU.BR menu.br.brs,
-- menu.brs and so on, of MENU.WB those with .wbs first.
local function names_of(module)
   local base = texts.base_name((module:lower():gsub("\\", "/")))
   local stem = base:match "^(.+)%.[^.]*$" or base
   local is_workstation = base:find "%.wbo?$" ~= nil
   local first, second = ".brs", ".wbs"
   if is_workstation then
      first, second = second, first
   end
   local list, known = {}, {}
   for _, name in ipairs { base .. first, base .. second, stem .. ".br.brs", stem .. ".wb.wbs",
      stem .. first, stem .. second, stem .. ".br.txt", base .. ".txt", base }
   do
      list[#list + 1] = not known[name] and name or nil
      known[name] = true
   end
   return list
end

-- Returns the path of the source of a module, or nil; the paths of others that it may be as well;
-- and whether it has the name of the module, as no source of a compiled program has.
local function find(files, module)
   local found, others, is_module = nil, {}, false
   local list = names_of(module)
   for i, name in ipairs(list) do
      local path = files[name]
      if path and not found then
         found, is_module = path, i == #list
      elseif path and i < #list then
         others[#others + 1] = path
      end
   end
   return found, others, is_module
end

-- Returns how many of the lines that ran are not in a source, and the first of them.
local function lacking(lines, ran)
   local count, first = 0, nil
   for line in pairs(ran) do
      if lines[line] == nil then
         count, first = count + 1, math.min(first or line, line)
      end
   end
   return count, first
end

-- Returns whether lines ran before the one with the number `first`, all of which have numbers that
-- are multiples of 10.
local function are_tens(ran, first)
   local has_any = false
   for line in pairs(ran) do
      if line < (first or math.maxinteger) then
         if line % 10 ~= 0 then
            return false
         end
         has_any = true
      end
   end
   return has_any
end

-- Returns the lines of a source without numbers, as Lexi numbers them. It begins with 1, 2, 3; if
-- only multiples of 10 ran there, with 10, 20, 30, which another tool has given.
local function numbered_by_lexi(path, list, ran, told)
   local lines, first, refused = line_numbers.lexi(list, 1)
   if refused then
      told.doubts(("%s: #Autonumber# %d comes after a line with this number or a larger one, which "
         .. "Lexi refuses: lines may be others"):format(path, refused))
   end
   if are_tens(ran, first) then
      local tens = line_numbers.lexi(list, 10)
      if lacking(tens, ran) <= lacking(lines, ran) then
         told.doubts(("%s has no line numbers: they are counted as 10, 20, 30, since only such "
            .. "lines ran%s; write #Autonumber# 10,10 into its first line"):format(path,
            first and " before #Autonumber# " .. first or ""))
         return tens
      end
   end
   return lines
end

-- Returns the lines of a source as UTF-8.
local function read_lines(file, page)
   local list = {}
   for text in file:lines() do
      text = #list == 0 and text:gsub("^\xef\xbb\xbf", "") or text
      list[#list + 1] = core.utf8_of(text, page) or text
   end
   return list
end

-- Returns the lines by their numbers, which those of a file with the name of the module do not
-- have; nil: the file is a compiled program.
local function lines_of(self, path, list, ran, is_module)
   for i, text in ipairs(list) do
      if text:find("\0", 1, true) then
         return nil
      end
      list[i] = is_module and texts.trim(text) or text
   end
   if is_module then
      return list
   elseif line_numbers.are_stated(list) then
      return line_numbers.stated(list)
   end
   return numbered_by_lexi(path, list, ran, self.told)
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

-- Says which lines that ran are not in a source.
local function check_lines(self, path, lines, ran)
   local count, first = lacking(lines, ran)
   if count > 0 then
      self.told.doubts(("%s has no line %d%s, which ran: it may be another version of the source")
         :format(path, first, count > 1 and " and " .. texts.counted(count - 1, "other") or ""))
   end
end

-- Loads the source of a module of Business Rules!.
local function load_numbered(self, module, ran)
   local path, others, is_module = find(self.files, module)
   if not path then
      self.missing[#self.missing + 1] = module
      return {}
   end
   local file <close>, message = sources.open(path, self.folders, self.trusts_paths)
   if not file then
      self.told.leaves_out(message or path)
      return {}
   end
   local lines = lines_of(self, path, read_lines(file, self.page), ran, is_module)
   if not lines then
      self.missing[#self.missing + 1] = module
      return {}
   end
   self.told.reads(path)
   if #others > 0 then
      self.told.doubts(("source of %s: %s is read, not %s"):format(module, path,
         table.concat(others, ", ")))
   end
   check_lines(self, path, lines, ran)
   return lines
end

---Returns the text of a line, or nil.
---@param module string
---@param line integer
---@return string|nil
function Sources:line(module, line)
   if not self.known[module] then
      self.known[module] = self.recording and load_recorded(self, module)
         or load_numbered(self, module, self.ran[module] or {})
   end
   return self.known[module][line]
end

local MOST_NAMED = 3 -- modules in the note

---Returns why modules whose lines were asked for have no source, or nil: what was looked for and
---where.
---@return string|nil
function Sources:reason()
   local count = #self.missing
   if count == 0 then
      return nil
   elseif #self.folders == 0 then
      return ("no source lines are shown: name the folder with the sources, such as %s, by "
         .. "--source DIR"):format(names_of(self.missing[1])[1])
   end
   local list = {}
   for i = 1, math.min(count, MOST_NAMED) do
      list[i] = ("%s (%s)"):format(self.missing[i], table.concat(names_of(self.missing[i]), " "))
   end
   return ("no source of %s%s in %s: in any case of letters, and not below it"):format(
      table.concat(list, ", "), count > MOST_NAMED and (" and %d others"):format(count - MOST_NAMED)
      or "", table.concat(self.folders, ", "))
end

return br_source
