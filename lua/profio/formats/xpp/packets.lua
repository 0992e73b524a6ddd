-- The files of a trace that was written in packets: TEST.PRF, then TEST.PRF.000001, 000002 ...

local companions = require "profio.internal.opening.side_files"
local core = require "profio.core"

local packets = {}

local pattern = "^(.+)%.(%d%d%d%d%d%d+)$"

---Returns the path of the header packet that a packet belongs to; any other path unchanged.
---@param path string
---@return string
function packets.base(path)
   return path:match(pattern) or path
end

-- Returns the names of the packets in a folder. If the folder cannot be listed: the packets that
-- are numbered without a gap from 1.
local function names_in(directory, name)
   local found = companions.names_in(directory)
   if found then
      return found.numbered[name] or {}
   end
   local names, number = {}, 1
   while core.kind(("%s%s.%06d"):format(directory, name, number), true) do
      names[number] = ("%s.%06d"):format(name, number)
      number = number + 1
   end
   return names
end

-- Returns all packets of a header packet in order of their numbers, without folders.
local function list(base)
   local directory, name = base:match "^(.*/)([^/]*)$"
   directory, name = directory or "", name or base
   local found = {}
   for _, file in ipairs(names_in(directory, name)) do
      local number = file:match "%d+$"
      if core.kind(directory .. file) ~= "folder" then
         found[#found + 1] = { path = directory .. file, number = tonumber(number) }
      end
   end
   table.sort(found, function(a, b)
      if a.number ~= b.number then
         return a.number < b.number
      end
      return a.path < b.path
   end)
   return found
end

---Returns the file that stands for the whole trace.
---@param path string of any of its files
---@return string
function packets.first(path)
   local base = packets.base(path)
   if base == path or core.kind(base) == "file" then
      return base
   end
   local found = list(base)
   return found[1] and found[1].path or path
end

---Returns the packets other than that file.
---@param path string
---@return string[]
function packets.beside(path)
   local paths = {}
   for _, packet in ipairs(list(packets.base(path))) do
      if packet.path ~= path then
         paths[#paths + 1] = packet.path
      end
   end
   return paths
end

---Returns the packets of an older trace that a new trace at the path replaces. If files would be
---read as packets of the new trace, but are not replaced by it: nil, message, code.
---@param path string
---@param is_cut boolean the new trace is written in packets
---@return string[]|nil
---@return string|nil message
---@return string|nil code
function packets.replaced(path, is_cut)
   local paths = {}
   for number, packet in ipairs(list(path)) do
      paths[number] = packet.path
      if not is_cut or packet.path ~= ("%s.%06d"):format(path, number) then
         return nil, ("%s: %s would be read as a packet of it: remove it, or write elsewhere")
            :format(path, packet.path), "io"
      end
   end
   return paths
end

-- Returns whether the contents of a file are a trace.
local function is_trace(path)
   local source <close> = core.named_source(path) or setmetatable({}, { __close = function() end })
   for _, found in ipairs(source.size and core.detect(source) or {}) do
      if found[1] == "xpp" and found[2] >= 60 then
         return true
      end
   end
   return false
end

---Returns whether a file that no format recognises belongs to a trace in packets.
---@param path string
---@return boolean
function packets.claims(path)
   local base = packets.base(path)
   local is_empty = (core.file_state(base)) == 0
   if core.kind(base) ~= "file" or (base == path and not is_empty) then
      return false
   end
   local found = list(base)
   return found[1] ~= nil and is_trace(is_empty and found[1].path or base)
end

return packets
