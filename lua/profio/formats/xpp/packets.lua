-- The files of a trace that was written in packets: TEST.PRF, then TEST.PRF.000001, 000002 ...

local bytes = require "profio.bytes"
local core = require "profio.core"
local lfs = require "lfs"

local packets = {}

local pattern = "^(.+)%.(%d%d%d%d%d%d+)$"

---The path of the header packet that a packet belongs to; any other path itself.
---@param path string
---@return string
function packets.base(path)
   return path:match(pattern) or path
end

local function is_file(path)
   return lfs.attributes(path, "mode") == "file"
end

-- All packets of a header packet, in order of their numbers.
local function list(base)
   local directory, name = base:match "^(.*/)([^/]*)$"
   directory, name = directory or "", name or base
   local found = {}
   local ok, iterate, state = pcall(lfs.dir, directory == "" and "." or directory)
   for file in ok and iterate or function() end, state do
      local of, number = file:match(pattern)
      if of == name and is_file(directory .. file) then
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

---The file that stands for the whole trace.
---@param path string of any of its files
---@return string
function packets.first(path)
   local base = packets.base(path)
   if base == path or is_file(base) then
      return base
   end
   local found = list(base)
   return found[1] and found[1].path or path
end

---The packets behind that file.
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

-- Whether a file is a trace by what is in it.
local function is_trace(path)
   local source <close> = bytes.open(path) or setmetatable({}, { __close = function() end })
   for _, found in ipairs(source.size and core.detect(source) or {}) do
      if found[1] == "xpp" and found[2] >= 60 then
         return true
      end
   end
   return false
end

---Whether a path that nothing else tells is a piece of a trace.
---@param path string
---@return boolean
function packets.claims(path)
   local base = packets.base(path)
   local is_empty = lfs.attributes(base, "size") == 0
   if not is_file(base) or (base == path and not is_empty) then
      return false
   end
   local found = list(base)
   return found[1] ~= nil and is_trace(is_empty and found[1].path or base)
end

return packets
