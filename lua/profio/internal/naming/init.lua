--- Names functions of the running program: a name belongs to the definition of a function, never to
--- its callers, so that it is the same in each run.
---
--- A Lua function has the name that its source text gives it where it is defined; a name that the
--- text gives several functions is followed by file and line. A function without a name, or whose
--- text is missing or has changed, is called by file and line. Chunks are called by their files.

local c_functions = require "profio.internal.naming.c_functions"
local core = require "profio.core"
local definitions = require "profio.internal.naming.definitions"

local naming = {}

-- The program may replace them while it is recorded.
local getinfo, dump, open, load = debug.getinfo, string.dump, core.file, load

local function base_name(path)
   return path:match "[^/\\]+$" or path
end

-- {====== Texts ======

-- Returns the text of a file. A relative path is that of the folder in which the program began, if
-- it has left this folder since.
local function read(path, folder)
   local file = open(path, "rb") or folder and open(folder .. "/" .. path, "rb")
   if not file then
      return nil
   end
   local text = file:read "a"
   file:close()
   return text
end

-- Returns the text of a chunk; nil: its file is missing.
local function text_of(self, info)
   local source = info.source
   local kind = source:sub(1, 1)
   if kind == "=" then
      return nil
   end
   return kind ~= "@" and source or read(source:sub(2), self.folder)
end

local LEAST_HEADER <const> = 12 -- signature, version, format and the bytes that find damage

-- Returns the stripped code of a function as a chunk contains it: without the header, which ends in
-- the number 370.5 and the number of upvalues.
local function code_of(f)
   local bytes = dump(f, true)
   local _, stop = bytes:find(string.pack("n", 370.5), LEAST_HEADER, true)
   return bytes:sub(stop + 2)
end

-- Returns the code of a text, which contains that of its functions; "": it cannot be compiled.
local function chunk_code(text)
   local chunk = load(text:gsub("^#[^\n]*", ""), "=", "t", {})
   return chunk and code_of(chunk) or ""
end

-- Returns whether the file of a chunk may have changed after it was loaded: it was written after
-- the recording had begun, as far as the clocks of the system and of the file's disk agree, and
-- before its first function was seen. The chunk itself is seen when it has just been loaded.
local function may_have_changed(self, info)
   local path = info.what ~= "main" and info.source:match "^@(.*)"
   local _, changed = core.file_state(path or "")
   return path and changed ~= nil and changed > self.started
end

-- Returns the definitions of a chunk by line. Those of the files are kept, of the chunks that are
-- texts only the last ones.
local function lines_of(self, info)
   local source = info.source
   local lines = self.lines[source]
   if not lines then
      local text = text_of(self, info)
      lines = text and definitions.by_line(text) or {}
      self.codes[source] = text and may_have_changed(self, info) and chunk_code(text) or nil
      if source:sub(1, 1) ~= "@" then
         self.lines[self.last_text or false] = nil
         self.last_text = source
      end
      self.lines[source] = lines
   end
   return lines
end

-- }======

-- {====== Functions that begin on one line ======

-- Returns an unsigned integer as a dumped chunk has it: 7 bits a byte, the last one marked.
local function packed(value)
   local bytes = string.char(0x80 | value & 0x7f)
   while value > 0x7f do
      value = value >> 7
      bytes = string.char(value & 0x7f) .. bytes
   end
   return bytes
end

local function positions(text, searched)
   local list = {}
   local at = text:find(searched, 1, true)
   while at do
      list[#list + 1] = at
      at = text:find(searched, at + 1, true)
   end
   return list
end

-- Returns those of several definitions with the same lines and parameters that have the code of a
-- function: the code of a chunk contains that of its functions in the order of the text. Returns
-- all where this cannot be told.
local function told_apart(self, f, info, alike)
   local text = f ~= info and text_of(self, info)
   local code = text and chunk_code(text) or ""
   if code == "" then
      return alike
   end
   local heads = positions(code, packed(0) .. packed(info.linedefined)
      .. packed(info.lastlinedefined) .. string.char(info.nparams, info.isvararg and 1 or 0))
   local found = positions(code, code_of(f))
   if #heads ~= #alike or #found == 0 then
      return alike
   end
   local is_found, list = {}, {}
   for _, at in ipairs(found) do
      is_found[at] = true
   end
   for number, head in ipairs(heads) do
      list[#list + 1] = is_found[head] and alike[number] or nil
   end
   return list
end

-- }======

-- {====== Names ======

local function chunk_name(info)
   return info.source:sub(1, 1) == "@" and base_name(info.source:sub(2)) or info.short_src
end

-- Returns the place of a definition: file, line, and its number on the line if that has several.
local function place_of(info, number)
   return ("%s:%d%s"):format(chunk_name(info), info.linedefined, number and "#" .. number or "")
end

local function defined_name(definition, info)
   if definition.name and definition.is_only then
      return definition.name
   end
   return ("%s at %s"):format(definition.name or "function", place_of(info, definition.number))
end

-- Returns the definitions of the text that may be that of a function. A text that may have changed
-- must contain the code of the function.
local function candidates(self, f, info)
   local list = {}
   local definitions_of = lines_of(self, info)[info.linedefined] or {}
   local code = self.codes[info.source]
   if code and (f == info or not code:find(code_of(f), 1, true)) then
      return list
   end
   for _, definition in ipairs(definitions_of) do
      if definition.last == info.lastlinedefined and definition.parameters == info.nparams
         and definition.is_vararg == info.isvararg then
         list[#list + 1] = definition
      end
   end
   return list
end

local function lua_name(self, f, info, tells_apart)
   local list = candidates(self, f, info)
   if #list == 1 then
      return defined_name(list[1], info), false
   elseif #list == 0 then
      return "function at " .. place_of(info), false
   elseif not tells_apart then
      return "", true
   end
   local names = {}
   for i, definition in ipairs(told_apart(self, f, info, list)) do
      names[i] = defined_name(definition, info)
   end
   return table.concat(names, " or "), true
end

-- Functions of different files that have one name get file and line too, in the order in which they
-- are seen: for formats that know a function by its name only.
local function distinct(self, name, info)
   local place = info.source .. "\0" .. info.linedefined
   local path = info.source:match "^@(.*)" or info.short_src
   for _, form in ipairs { "%s", "%s at " .. place_of(info):gsub("%%", "%%%%"),
      "%s at " .. path:gsub("%%", "%%%%") .. ":" .. info.linedefined } do
      local full = form:format(name)
      if (self.taken[full] or place) == place then
         self.taken[full] = place
         return full
      end
   end
   return name
end

---Returns a function that names functions. It returns the name, and whether several definitions of
---the text may be that of the function: then it says which one only if `tells_apart`, because that
---takes longer.
---@param settings { is_distinct: boolean|nil, known: table<string, function>, folder: string|nil }
---is_distinct: functions of different files have different names; known: C functions that are in no
---library; folder: where the program began
---@return fun(f: function|table, tells_apart: boolean): string, boolean namer of a function, or of
---what debug.getinfo says of it
function naming.namer(settings)
   local c_name = c_functions.namer(settings.known)
   local self = { lines = {}, codes = {}, taken = settings.is_distinct and {},
      folder = settings.folder, started = os.time() }
   return function(f, tells_apart)
      local info = type(f) == "table" and f or getinfo(f, "Su")
      local name, has_alike
      if info.what == "C" then
         return c_name(f), false
      elseif info.what == "main" then
         if info.source:sub(1, 1) == "@" then
            lines_of(self, info) -- its functions are named by what it has been loaded from
         end
         name, has_alike = chunk_name(info), false
      else
         name, has_alike = lua_name(self, f, info, tells_apart)
      end
      if self.taken and (tells_apart or not has_alike) then
         name = distinct(self, name, info)
      end
      return name, has_alike
   end
end

-- }======

return naming
