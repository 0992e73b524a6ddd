-- Files beside a trace (a memo, a mapping, settings), each with its role, and the names in folders
-- by which formats find them.

local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"
local listed_folders = require "profio.internal.opening.listed_folders"
local declared = require "profio.internal.options"

local side_files = {}

-- {====== Opening ======

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
   for _, role in ipairs(format.roles or {}) do
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

-- Such files have a few thousand bytes; of a damaged or wrong one that is larger, the rest is not
-- read into memory.
local MOST_CONVERTED = 1 << 24

-- Replaces the contents of side files by what the format converts them to.
local function converted(format, list, max_size)
   for _, side in ipairs(list) do
      local role = declared.find(format.roles, side.role)
      if role and role.converted then
         local raw = side.source
         local text = raw:read(0, math.min(raw:size(), MOST_CONVERTED))
         side.source = bytes.open({ data = role.converted(text), path = raw:path() }, max_size)
         raw:close()
      end
   end
   return list
end

---Opens the side files: those that the user gave, then those that the format finds.
---@param source userdata the main file
---@param options table of the format
---@param input profio.Input
---@param format table
---@param given table the options of profio.open
---@param max_size integer|nil
---@param notes table[] found files that cannot be read are noted here
---@return { role: string, source: userdata }[]|nil
---@return string|nil message
---@return string|nil code
function side_files.open(source, options, input, format, given, max_size, notes)
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
   return converted(format, list, max_size)
end

---Opens files beside a part that have appeared since it was opened.
---@param state table of the trace
---@param part userdata
---@param path string of its file
---@return boolean is_new there are some
function side_files.add_new(state, part, path)
   local known, is_new = {}, false
   for _, source in ipairs(state.sources) do
      known[source:path()] = true
   end
   for _, found in ipairs(state.format.side_files { path = path, source = state.sources[1],
      options = state.format_options or {} }) do
      local source = not known[found.path] and not found.data
         and bytes.open_beside(found.path, path, state.options)
      if source then
         source = converted(state.format, { { role = found.role, source = source } })[1].source
         state.sources[#state.sources + 1] = source
         part:add(found.role, source)
         is_new = true
      end
   end
   return is_new
end

-- }======

-- {====== Folders ======

local function put_name(index, key, name)
   index[key] = index[key] or {}
   table.insert(index[key], name)
end

---Returns the sorted names in a folder: `alike` by the name in lower case, `numbered` those that
---end in a point and six or more digits, by the part before these.
---@param directory string "" is the current one
---@return { alike: table<string, string[]>, numbered: table<string, string[]> }|nil nil: the folder
---cannot be listed
function side_files.names_in(directory)
   local listed = listed_folders.listed()
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
   local found, index = side_files.names_in(directory), {}
   if found then
      return directory, found.alike
   end
   for _, name in ipairs(known) do
      index[name:lower()] = core.kind(directory .. name, true) and { name } or nil
   end
   return directory, index
end

---Returns all files in a folder that have a name, in any letter case, and what cannot be looked at.
---@param beside string the path of a file in that folder
---@param name string without directory
---@return string[] paths
function side_files.all_beside(beside, name)
   local directory, index = names_beside(beside, { name })
   local paths = {}
   for _, found in ipairs(index[name:lower()] or {}) do
      if (core.kind(directory .. found) or "file") == "file" then
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
function side_files.beside(beside, names)
   local directory, index = names_beside(beside, names)
   local other
   for _, name in ipairs(names) do
      local found
      for _, alike in ipairs(index[name:lower()] or {}) do
         found = alike == name and name or found or alike
      end
      local mode = found and core.kind(directory .. found)
      if mode == "file" then
         return directory .. found
      elseif found and (mode ~= "folder" or name:find(".", 1, true)) then
         other = other or directory .. found
      end
   end
   return other
end

-- }======

return side_files
