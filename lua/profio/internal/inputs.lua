-- Inputs of profio.open as byte sources: paths, data, directories, sets of files, and the files
-- beside a trace (a memo, a mapping, settings), each with its role.

local bytes = require "profio.internal.bytes"
local core = require "profio.core"
local lfs = require "lfs"
local registry = require "profio.internal.registry"

local inputs = {}

---@class profio.Input
---@field path string|nil  a label if there is data
---@field data string|nil
---@field side_files table<string, string>|nil data of side files by role
---@field length integer|nil only this many bytes of the file are used
---@field lengths table<string, integer>|nil the same for the files beside it, by role; for numbered
---files the total
---@field beside string|nil the path of the file that the data belongs to
---@field goes_on boolean|nil its records continue those of the input before it, in one run
---@field is_expanded boolean|nil
---@field found_by string|nil the path that the user named, if a format has found this file by it

-- {====== The first argument ======

local function one(what)
   if type(what) == "string" then
      return { path = what }
   end
   local side_files = {}
   for key, value in pairs(what) do
      if key ~= "data" and key ~= "path" then
         if type(key) ~= "string" or type(value) ~= "string" then
            error("open expects { data = string, ROLE = string, ... }", 4)
         end
         side_files[key] = value
      end
   end
   return { path = what.path or "(data)", data = what.data, side_files = side_files }
end

---Converts the first argument of open to a list of inputs.
---@param what string|table
---@return profio.Input[]
function inputs.of(what)
   if type(what) == "string" then
      return { one(what) }
   elseif type(what) ~= "table" then
      error("open expects a path, { data = string } or a list of them, got " .. type(what), 3)
   elseif what.data ~= nil then
      if type(what.data) ~= "string" then
         error("open expects { data = string }, got " .. type(what.data), 3)
      end
      return { one(what) }
   elseif #what == 0 then
      error("open expects at least one path", 3)
   end
   local list = {}
   for i, input in ipairs(what) do
      if type(input) ~= "string" and not (type(input) == "table" and type(input.data) == "string")
      then
         error("open expects a list of paths or { data = string }", 3)
      end
      list[i] = one(input)
   end
   return list
end

---Opens the bytes of an input.
---@param input profio.Input
---@param mine table options of profio.open: max_size, live, trust_paths
---@param notes table[]|nil damage of packed data is noted here; nil: damage is a failure
---@return userdata|nil source
---@return string|nil message
---@return string|nil code
function inputs.source(input, mine, notes)
   if input.found_by then
      return bytes.kept(notes, bytes.open_beside(input.path, input.found_by, mine, input.length))
   end
   return bytes.kept(notes, bytes.open(input.data and { data = input.data, path = input.path }
      or input.path, mine.max_size, input.length, mine.live))
end

-- }======

-- {====== Directories and sets of files ======

---Returns whether the input is a directory.
---@param input profio.Input
---@return boolean
function inputs.is_directory(input)
   return not input.data and input.path ~= "-" and
      lfs.attributes(input.path, "mode") == "directory"
end

---Returns the format that reads a directory as a set of files.
---@param path string
---@param wanted table|nil the format that the user named
---@return table|nil format
---@return string|nil message
---@return string|nil code
function inputs.directory_format(path, wanted)
   for _, format in ipairs(wanted and { wanted } or registry.all()) do
      if format.directory and format.directory(path) then
         return format
      end
   end
   return nil, ("%s: is a directory, and no database of files that profio knows; name the " ..
      "files in it"):format(path), "io"
end

-- Returns whether a file that a format found beside a trace may be read (see bytes.folders_of);
-- adds a note if not. Opening it checks this again.
local function is_allowed(path, trace_path, format, mine, notes)
   local real, message, code = core.named_file(path, bytes.folders_of(trace_path,
      mine.trust_paths))
   if not real and code ~= "io" then
      notes[#notes + 1] = { code = format.name .. "-side-file", kind = "note", message = message }
   end
   return real ~= nil or code == "io" -- opening it returns the error
end

---Returns the inputs that one path stands for: the files of a directory, or further packets.
---@param input profio.Input
---@param format table
---@param options table of the format
---@param mine table options of profio.open: trust_paths
---@param notes table[] files that are left out are noted here
---@return profio.Input[]|nil  nil with a message: it cannot be read; nil alone: only the path
---@return string|nil message
---@return string|nil code
function inputs.expand(input, format, options, mine, notes)
   if input.data or input.is_expanded or input.path == "-" or not format.expand then
      return nil
   end
   local list, message, code = format.expand(input.path, options)
   if not list then
      return nil, message, code
   end
   local expanded = {}
   for _, found in ipairs(list) do
      if found == input.path or is_allowed(found, input.path, format, mine, notes) then
         local added = one(found)
         added.is_expanded = true
         if found == input.path then
            added.length, added.lengths = input.length, input.lengths
         else
            added.found_by = input.path
         end
         expanded[#expanded + 1] = added
      end
   end
   return expanded
end

---Returns the inputs in one file that contains several traces one after the other.
---@param input profio.Input
---@param source userdata
---@param format table
---@param options table of the format
---@return profio.Input[]|nil  nil with a message: none is selected; nil alone: it is one trace
---@return string|nil message
---@return string|nil code
function inputs.pieces(input, source, format, options)
   if not format.pieces then
      return nil
   end
   local list, message, code = format.pieces(source, options)
   if not list then
      return nil, message, code
   end
   local pieces = {}
   for i, piece in ipairs(list) do
      local path = piece.number > 1 and ("%s (profile %d)"):format(input.path, piece.number)
         or input.path
      pieces[i] = { path = path, data = piece.data, beside = not input.data and input.path or nil }
   end
   return pieces
end

-- }======

-- {====== Side files ======

local function roles_of(format)
   return format.roles or {}
end

---Returns the roles of a format as options with a path or { data = string }.
---@param format table
---@return profio.Option[]
function inputs.role_options(format)
   local list = {}
   for i, role in ipairs(roles_of(format)) do
      list[i] = { name = role.name, type = "file", help = role.help }
   end
   return list
end

-- Passes on the results of opening a side file as one with its role.
local function as_side(notes, role, ...)
   local source, message, code = bytes.kept(notes, ...)
   if not source then
      return nil, message, code
   end
   return { role = role, source = source }
end

-- Opens the side files that the user gave, as data or by an option. If one fails, open fails.
local function given_side_files(input, format, given, max_size, notes, left)
   local list, known = {}, {}
   for _, role in ipairs(roles_of(format)) do
      local from = input.side_files and input.side_files[role.name]
      local length = not from and left[role.name] or nil
      from = from and { data = from, path = "(" .. role.name .. ")" } or given[role.name]
      if from and length ~= 0 then
         local side, message, code = as_side(notes, role.name,
            bytes.open(from, max_size, length, given.live))
         if not side then
            return nil, message, code
         end
         list[#list + 1] = side
         known[role.name] = true
         left[role.name] = length and length - side.source:size()
      end
   end
   for name in pairs(input.side_files or {}) do
      if not known[name] then
         error(("format '%s' has no side file '%s'"):format(format.name, name), 0)
      end
   end
   return list, known
end

---Opens the side files: those that the user gave, then those that the format finds.
---@param source userdata the main file
---@param options table of the format
---@param input profio.Input
---@param format table
---@param given table the options of profio.open
---@param max_size integer|nil
---@param notes table[] found files that cannot be read are noted here
---@return { role: string, source: userdata }[]|nil  nil without message: the format has none
---@return string|nil message
---@return string|nil code
function inputs.side_files(source, options, input, format, given, max_size, notes)
   if not format.roles and not format.side_files and not input.lengths and not input.side_files then
      return nil
   end
   local main = { source = source, options = options,
      path = input.beside or not input.data and input.path or nil }
   local kept = not given.strict and notes or nil
   local left = {}
   for role, length in pairs(input.lengths or {}) do
      left[role] = length
   end
   local list, known, code = given_side_files(input, format, given, max_size, kept, left)
   if not list then
      return nil, known, code
   end
   for _, found in ipairs(format.side_files and format.side_files(main) or {}) do
      local length = left[found.role]
      if not known[found.role] and length ~= 0 then
         local side, message
         if found.data then
            side, message = as_side(kept, found.role, bytes.open(found, max_size))
         else
            side, message = as_side(kept, found.role,
               bytes.open_beside(found.path, main.path, given, length))
         end
         list[#list + 1] = side
         if side and length then
            left[found.role] = length - side.source:size()
         end
         if not side then
            notes[#notes + 1] = { code = format.name .. "-side-file", kind = "note",
               message = message }
         end
      end
   end
   for role, length in pairs(left) do
      if length > 0 then
         notes[#notes + 1] = { code = "ring-damaged", kind = "damage",
            message = ("%s: %d bytes that its ring knows of are missing in its file of role %s")
               :format(main.path, length, role) }
      end
   end
   return list
end

---Passes on the results of core.open. If the user named a side file that is not of the kind of its
---role (warning `refused` of the role), that is a failure; for a found file the warning is enough.
---@param input profio.Input
---@param format table
---@param given table the options of profio.open
---@param part userdata|nil
---@param message string|nil
---@param code string|nil
---@return userdata|nil part
---@return string|nil message
---@return string|nil code
function inputs.accepted(input, format, given, part, message, code)
   for _, role in ipairs(part and roles_of(format) or {}) do
      local is_named = given[role.name] or input.side_files and input.side_files[role.name]
      for _, warning in ipairs(is_named and role.refused and part:warnings() or {}) do
         if warning.code == role.refused then
            part:close()
            return nil, warning.message, "format"
         end
      end
   end
   return part, message, code
end

-- }======

-- Folders listed during one call of profio.open, or nil. Without it a folder would be listed again
-- for each of its files, which takes quadratic time.
local listed

---Calls a function and lists each folder only once meanwhile.
---@param f function
---@return boolean  the results of pcall
---@return any ...
function inputs.list_once(f, ...)
   local outer = listed
   listed = listed or {}
   local results = table.pack(pcall(f, ...))
   listed = outer
   return table.unpack(results, 1, results.n)
end

local function put_name(index, key, name)
   index[key] = index[key] or {}
   table.insert(index[key], name)
end

---Returns the sorted names in a folder: `alike` by the name in lower case, `numbered` those that
---end in a point and six or more digits, by the part before these.
---@param directory string "" is the current one
---@return { alike: table<string, string[]>, numbered: table<string, string[]> }|nil nil: the folder
---cannot be listed
function inputs.names_in(directory)
   if listed and listed[directory] ~= nil then
      return listed[directory] or nil
   end
   local names, found = core.names_in(directory == "" and "." or directory), nil
   if names then
      table.sort(names)
      found = { alike = {}, numbered = {} }
      for _, name in ipairs(names) do
         local base = name:match "^(.+)%.%d%d%d%d%d%d+$"
         put_name(found.alike, name:lower(), name)
         if base then
            put_name(found.numbered, base, name)
         end
      end
   end
   if listed then
      listed[directory] = found or false
   end
   return found
end

-- Returns the folder of a file, with a slash, and an index of names in it. If the folder cannot be
-- listed, the index has those of the `known` names that exist.
local function names_beside(beside, known)
   local directory = beside:match "^(.*/)[^/]*$" or ""
   local found, index = inputs.names_in(directory), {}
   if found then
      return directory, found.alike
   end
   for _, name in ipairs(known) do
      index[name:lower()] = lfs.symlinkattributes(directory .. name, "mode") and { name } or nil
   end
   return directory, index
end

---Returns all files in a folder that have a name, in any letter case.
---@param beside string the path of a file in that folder
---@param name string without directory
---@return string[] paths
function inputs.all_beside(beside, name)
   local directory, index = names_beside(beside, { name })
   local paths = {}
   for _, found in ipairs(index[name:lower()] or {}) do
      if lfs.attributes(directory .. found, "mode") == "file" then
         paths[#paths + 1] = directory .. found
      end
   end
   return paths
end

---Returns the first file in a folder that has one of some names, in any letter case. If there is
---none, returns an entry of such a name that is no regular file, because opening it gives the
---error; but not a folder without an extension.
---@param beside string the path of a file in that folder
---@param names string[] without directory, in order of preference
---@return string|nil path
function inputs.beside(beside, names)
   local directory, index = names_beside(beside, names)
   local other
   for _, name in ipairs(names) do
      local found
      for _, alike in ipairs(index[name:lower()] or {}) do
         found = alike == name and name or found or alike
      end
      local mode = found and lfs.attributes(directory .. found, "mode")
      if mode == "file" then
         return directory .. found
      elseif found and (mode ~= "directory" or name:find(".", 1, true)) then
         other = other or directory .. found
      end
   end
   return other
end

---Returns the paths of all files that were read for a trace: its own, side files, the executable,
---its debug file, symbols, and rings.
---@param state table of a trace
---@return string[]
function inputs.paths_of(state)
   local list = {}
   for _, path in ipairs(state.paths) do
      list[#list + 1] = path
      list[#list + 1] = path .. ".ring"
   end
   for _, source in ipairs(state.first_sources or state.sources) do
      list[#list + 1] = source:path()
   end
   for _, path in ipairs { state.options.exe or false, state.options.symbols or false,
      state.symbols and state.symbols.debug or false } do
      list[#list + 1] = path or nil
   end
   return list
end

return inputs
