-- The files below the folders of the server, with their formats; of stores with their labels.

local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"
local json = require "dkjson"
local registry = require "profio.internal.opening.registry"

local served_files = {}

local MOST_FILES <const>, DEEPEST <const> = 200, 16

-- Returns the format of a file, or nil.
local function format_of(path)
   local source <close> = bytes.open(path)
   local format = source and (registry.claiming(path, source:size()) or registry.detect(source))
   return format and format.name, source and source:size()
end

-- Returns whether a file is no file of its own: a hidden one, or one beside a store.
local function is_hidden(name)
   return name:sub(1, 1) == "." or name:find "%-shm$" ~= nil or name:find "%-wal$" ~= nil
end

-- Adds the files of a folder, and of those below it. Folders of the server may lie in each other.
local function add(list, folder, contains, folders, depth)
   local names = core.names_in(folder) or {}
   table.sort(names)
   for _, name in ipairs(names) do
      local path = folder .. "/" .. name
      local kind = not is_hidden(name) and not list.known[path] and core.kind(path)
      list.known[path] = true
      if kind == "folder" and depth < DEEPEST and core.kind(path, true) == "folder" then
         add(list, path, contains, folders, depth + 1)
      elseif kind == "file" and path:find(contains, 1, true) and core.named_file(path, folders) then
         list.count = list.count + 1
         list[#list + 1] = #list < MOST_FILES and path or nil
      end
   end
end

---Returns the files as JSON, and a sentence about what is not listed.
---@param given { contains: string|nil }
---@param folders string[]
---@param run fun(words: string[]): boolean, string runs a command
---@return string
---@return string|nil
function served_files.list(given, folders, run)
   local paths, rows = { count = 0, known = {} }, {}
   for _, folder in ipairs(folders) do
      add(paths, folder, given.contains or "", folders, 1)
   end
   for i, path in ipairs(paths) do
      local format, size = format_of(path)
      local row = { path = path, format = format or json.null, size = size or json.null }
      if format == "store" then
         local ok, labels = run { "store", "labels", "--output", "json", "--", path }
         row.labels = ok and json.decode(labels) or nil
      end
      rows[i] = row
   end
   local left = paths.count - #paths
   return json.encode(setmetatable(rows, { __jsontype = "array" })) .. "\n",
      ("format null: no trace, such as an executable; labels are those of the runs of a store%s\n")
         :format(left > 0 and ("; %d more files: ask for those whose path contains a text"):format(
         left) or "")
end

return served_files
