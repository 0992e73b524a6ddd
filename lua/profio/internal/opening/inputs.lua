-- Inputs of profio.open as byte sources: paths, data, directories, and sets of files. Files beside
-- a trace (a memo, a mapping, settings) are in side_files.lua.

local later = require "profio.internal.later"
local beside = later "profio.internal.opening.side_files"
local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"
local registry = require "profio.internal.opening.registry"

local inputs = {}

local AT_ONCE <const> = 8 << 20 -- packed bytes that are unpacked at once

---@class profio.Input
---@field path string|nil  a label if there is data
---@field is_plain boolean|nil  a path that the user named, and no field but it
---@field data string|nil
---@field side_files table<string, string>|nil data of side files by role
---@field length integer|nil only this many bytes of the file are used
---@field lengths table<string, integer>|nil the same for the files beside it, by role; for numbered
---files the total
---@field beside string|nil the path of the file that the data belongs to
---@field goes_on boolean|nil its records continue those of the input before it, in one run
---@field is_expanded boolean|nil
---@field packed profio.Input[]|nil the group with which it will be unpacked
---@field opened userdata|nil its source, if it was unpacked with its group
---@field found_by string|nil the path that the user named, if a format has found this file by it

-- {====== The first argument ======

local function one(what)
   if type(what) == "string" then
      return { path = core.slashes(what), is_plain = what ~= "-" }
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
      local kind = type(input)
      if kind ~= "string" and not (kind == "table" and type(input.data) == "string") then
         error("open expects a list of paths or { data = string }", 3)
      end
      list[i] = one(input)
   end
   for key in pairs(what) do
      if type(key) == "string" and key ~= "n" then -- such as a role; n is of table.pack
         error(("open expects a list of paths, which has no field '%s': it may be an option of the "
            .. "second argument"):format(key), 3)
      end
   end
   return list
end

---Puts the files named *.gz among several inputs into groups. inputs.source unpacks all files of a
---group when it needs the first of them: about AT_ONCE packed bytes, but at least a file for each
---processor.
---@param list profio.Input[]
function inputs.group_packed(list)
   local group, left
   for _, input in ipairs(#list > 1 and list or {}) do
      local size = not input.data and not input.length and input.path:find "%.gz$"
         and core.file_state(input.path)
      if size then
         if not group or left < size and #group >= core.processors() then
            group, left = {}, AT_ONCE
         end
         group[#group + 1], input.packed, left = input, group, left - size
      end
   end
end

-- Unpacks the files of a group at once. One that cannot be unpacked completely is opened again by
-- itself, to return the error.
local function unpack_group(group, max_size)
   local paths = {}
   for i, input in ipairs(group) do
      paths[i] = input.path
   end
   local sources = core.sources(paths, max_size)
   for i, input in ipairs(group) do
      input.opened, input.packed = sources[i], nil
   end
end

---Closes the files that were unpacked and inputs.source has not returned.
---@param list profio.Input[]
function inputs.close(list)
   for _, input in ipairs(list) do
      if input.opened then
         input.opened:close()
         input.opened = nil
      end
   end
end

---Opens the bytes of an input.
---@param input profio.Input
---@param mine table options of profio.open: max_size, live, trust_paths
---@param notes table[]|nil damage of packed data is noted here; nil: damage is a failure
---@return userdata|nil source
---@return string|nil message
---@return string|nil code
function inputs.source(input, mine, notes)
   if input.packed then
      unpack_group(input.packed, mine.max_size)
   end
   local opened = input.opened
   if opened then
      input.opened = nil
      return opened
   end
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
      core.kind(input.path) == "folder"
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
         local added = { path = found, is_expanded = true }
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

---Opens the side files if there can be some. See side_files.open.
---@param source userdata the main file
---@param options table of the format
---@param input profio.Input
---@param format table
---@param ... any further arguments of side_files.open
---@return { role: string, source: userdata }[]|nil  nil without message: the format has none
---@return string|nil message
---@return string|nil code
function inputs.side_files(source, options, input, format, ...)
   if not format.roles and not format.side_files and not input.lengths and not input.side_files then
      return nil
   end
   return beside.open(source, options, input, format, ...)
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

---Returns the paths of all files that were read for a trace: its own, side files, the executable,
---its debug file, symbols, and rings.
---@param state table of a trace
---@return string[]
function inputs.paths_of(state)
   local list = table.move(state.paths, 1, #state.paths, 1, {})
   for _, path in ipairs(state.has_no_rings and {} or state.paths) do
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
