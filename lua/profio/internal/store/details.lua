-- The details of a run as bytes: what a profile of the store needs beside the cells, and what no
-- query asks for. They are packed canonically, so that equal details are equal bytes.
--
--    value    b"n", b"t", b"f"                nil, true, false
--             b"i" int64                      a whole number
--             b"d" double                     a number
--             b"s" uint32 bytes               a text
--             b"l" uint32 value...            a list
--             b"m" uint32 (text value)...     a table with names, in order of their bytes
--
-- All numbers are little-endian.

local details = {}

local DEEPEST = 8 -- nested tables

local function names_of(value)
   local names = {}
   for name in pairs(value) do
      assert(type(name) == "string", "details have lists and tables with names")
      names[#names + 1] = name
   end
   table.sort(names)
   return names
end

-- {====== Packing ======

local add

local function add_table(parts, value)
   if #value > 0 or next(value) == nil then
      parts[#parts + 1] = string.pack("<c1I4", "l", #value)
      for _, item in ipairs(value) do
         add(parts, item)
      end
      return
   end
   local names = names_of(value)
   parts[#parts + 1] = string.pack("<c1I4", "m", #names)
   for _, name in ipairs(names) do
      parts[#parts + 1] = string.pack("<s4", name)
      add(parts, value[name])
   end
end

function add(parts, value)
   local kind = math.type(value) or type(value)
   if kind == "integer" then
      parts[#parts + 1] = string.pack("<c1i8", "i", value)
   elseif kind == "float" then
      parts[#parts + 1] = string.pack("<c1d", "d", value)
   elseif kind == "string" then
      parts[#parts + 1] = string.pack("<c1s4", "s", value)
   elseif kind == "table" then
      add_table(parts, value)
   else
      parts[#parts + 1] = value == nil and "n" or value == true and "t" or "f"
   end
end

---Packs a value: nil, a boolean, a number, a text, or a list or table with names of values.
---@param value any
---@return string
function details.pack(value)
   local parts = {}
   add(parts, value)
   return table.concat(parts)
end

-- }======

-- {====== Unpacking ======

local constants = { n = { nil }, t = { true }, f = { false } }
local forms = { i = "<i8", d = "<d", s = "<s4" }

local unpacked

local function unpacked_table(bytes, at, is_list, depth)
   local count, value
   count, at = string.unpack("<I4", bytes, at)
   assert(depth < DEEPEST and count <= #bytes - at + 1)
   local made, name = {}, nil
   for i = 1, count do
      if not is_list then
         name, at = string.unpack("<s4", bytes, at)
      end
      value, at = unpacked(bytes, at, depth + 1)
      made[is_list and i or name] = value
   end
   return made, at
end

function unpacked(bytes, at, depth)
   local kind = bytes:sub(at, at)
   if constants[kind] then
      return constants[kind][1], at + 1
   elseif forms[kind] then
      return string.unpack(forms[kind], bytes, at + 1)
   end
   assert(kind == "l" or kind == "m")
   return unpacked_table(bytes, at + 1, kind == "l", depth)
end

---Unpacks a value.
---@param bytes string
---@return boolean is_whole false: the bytes are damaged
---@return any value
function details.unpack(bytes)
   local done, value, at = pcall(unpacked, bytes, 1, 0)
   if not done or at ~= #bytes + 1 then
      return false
   end
   return true, value
end

-- }======

return details
