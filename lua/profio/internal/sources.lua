-- Source files, found by the paths that traces state.

local core = require "profio.core"

local sources = {}

local LONGEST_PATH = 4096 -- bytes; the system opens no longer ones
local MOST_BYTES = 16 << 20 -- of a source file

---Checks that the folders of sources, which the user has named, can be listed.
---@param folders string[]
---@return true|nil
---@return string|nil message
---@return string|nil code
function sources.check(folders)
   for _, folder in ipairs(folders) do
      local kind, message, code = core.kind(folder)
      if not kind then
         return nil, message, code
      elseif kind ~= "folder" then
         return nil, ("%s: a folder of source files expected, this is a %s"):format(folder, kind),
            "io"
      end
      local names
      names, message, code = core.names_in(folder)
      if not names then
         return nil, message, code
      end
   end
   return true
end

-- Adds the folder and the time of a file to what is known of a recording.
local function add_file(recorded, path)
   local size, seconds = core.file_state(path)
   if size then
      recorded.folders[#recorded.folders + 1] = path:match "^(.*/)[^/]*$" or "./"
      if seconds > (recorded.seconds or math.mininteger) then
         recorded.path, recorded.seconds = path, seconds
      end
   end
end

---Returns whether the numbers of lines in a trace are positions in their file; those of Business
---Rules! stand at the begin of each line.
---@param trace profio.Trace
---@return boolean
function sources.are_counted(trace)
   return trace.format ~= "br" or trace.info.recorded_by ~= nil
end

---A recording for which sources are read.
---@class profio.SourcesRecording
---@field folders string[] of its files, each with a slash at the end
---@field path string|nil its newest file
---@field seconds integer|nil time of the last change of that, in s since 1970

---Returns the folders and the time of a recording.
---@param paths string[] its files; others than regular ones have no folder
---@return profio.SourcesRecording
function sources.recording(paths)
   local recorded = { folders = {} }
   for _, path in ipairs(paths) do
      add_file(recorded, path)
   end
   return recorded
end

-- Returns the paths at which a source may be: below the recording's folders, its own, and in the
-- folders its ever shorter tails. The longest tail that one of them has is taken: a folder may have
-- another file with the same name.
local function candidates(path, folders, recorded)
   local list = {}
   local is_relative = not path:find "^/" and not path:find "^%a:[/\\]"
   for _, folder in ipairs(is_relative and recorded.folders or {}) do
      list[#list + 1] = (folder == "./" and "" or folder) .. path
   end
   list[#list + 1] = path
   local rest = path:gsub("^/+", "")
   while rest do
      for _, folder in ipairs(folders) do
         list[#list + 1] = folder .. "/" .. rest
      end
      rest = rest:match "^[^/]*/(.+)$"
   end
   return list
end

---Opens a source if it may be read: a regular file of at most 16 MiB below a folder of --source or
---the current one, after links and ".." are resolved (see csrc/bytes/named.h).
---@param path string
---@param folders string[] of --source
---@param trusts_paths boolean|nil any regular file may be read
---@return userdata|nil source nil: it may not be read
---@return string|nil message
---@return string|nil code "io": there is no such file; "unsupported", "limit": it may not be read
function sources.open(path, folders, trusts_paths)
   if #path > LONGEST_PATH or path:find("\0", 1, true) then
      return nil, nil, "io"
   elseif trusts_paths then
      return core.named_source(path)
   end
   return core.named_source(path, table.move(folders, 1, #folders, 2, { "." }), MOST_BYTES,
      MOST_BYTES)
end

-- Returns why a source may be another one than that which ran, or nil.
local function doubt(path, recorded)
   local _, seconds = core.file_state(path)
   if seconds and recorded.seconds and seconds > recorded.seconds then
      return ("%s is newer than %s: lines may have moved; record again"):format(path, recorded.path)
   end
   return nil
end

---Reads the lines of a source: below the folders of the recording, at its path, or below one of the
---folders, with ever shorter tails.
---@param path string as the trace states it
---@param folders string[] of --source
---@param trusts_paths boolean|nil any regular file may be read
---@param recorded profio.SourcesRecording|nil nil: only the path and the folders are tried
---@return string[]|nil
---@return string|nil found the path that was read; else why the first existing file may not be
---read, nil if there is none
---@return string|nil doubt why the lines may be others than those that ran
function sources.read(path, folders, trusts_paths, recorded)
   local reason
   recorded = recorded or { folders = {} }
   local allowed = table.move(recorded.folders, 1, #recorded.folders, #folders + 1,
      table.move(folders, 1, #folders, 1, {}))
   for _, found in ipairs(candidates(path, folders, recorded)) do
      local source <close>, message, code = sources.open(found, allowed, trusts_paths)
      if source then
         local list, text = {}, source:read()
         for line in (text:find "[^\n]$" and text .. "\n" or text):gmatch "([^\n]*)\n" do
            list[#list + 1] = line
         end
         return list, found, doubt(found, recorded)
      end
      reason = reason or code ~= "io" and message or nil
   end
   return nil, reason
end

return sources
