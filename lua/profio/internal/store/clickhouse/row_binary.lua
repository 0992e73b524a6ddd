-- Rows of ClickHouse in the format RowBinary: the values of the columns without separators. Types:
--
--    i     Int64 or UInt64
--    h     FixedString(16)
--    s     String: its size as a varint, and the bytes
--    S, I  Array(String), Array(Int64): the number of elements as a varint, and these

local row_binary = {}

local function varint(value)
   local bytes = ""
   while value >= 128 do
      bytes = bytes .. string.char(value % 128 + 128)
      value = value // 128
   end
   return bytes .. string.char(value)
end

local pack = {}

function pack.i(value)
   return string.pack("<i8", value)
end

function pack.h(value)
   assert(#value == 16)
   return value
end

function pack.s(value)
   return varint(#value) .. value
end

local function list_packer(kind)
   return function(list)
      local parts = { varint(#list) }
      for i, value in ipairs(list) do
         parts[i + 1] = pack[kind](value)
      end
      return table.concat(parts)
   end
end

pack.S, pack.I = list_packer "s", list_packer "i"

---Returns the bytes of a row.
---@param types string a letter for each value
---@param ... any
---@return string
function row_binary.pack(types, ...)
   local parts = {}
   for i = 1, #types do
      parts[i] = pack[types:sub(i, i)]((select(i, ...)))
   end
   return table.concat(parts)
end

local take_number <const>, byte_at <const>, cut <const> = string.unpack, string.byte, string.sub

local function take_varint(bytes, at)
   local value, shift = 0, 0
   repeat
      local byte = byte_at(bytes, at)
      assert(byte and shift < 56)
      value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
   until byte < 128
   return value, at
end

-- Adds `count` values of one type to a list, or those of several types; returns the end.
local function take(row, kinds, kind, count, bytes, at)
   for i = 1, count do
      local one = kind or kinds[i]
      if one == "i" then
         row[i], at = take_number("<i8", bytes, at)
      elseif one == "s" or one == "h" then
         local size = one == "h" and 16 or byte_at(bytes, at)
         if one == "s" and size and size < 128 then
            at = at + 1
         elseif one == "s" then
            size, at = take_varint(bytes, at)
         end
         assert(size <= #bytes - at + 1)
         row[i], at = cut(bytes, at, at + size - 1), at + size
      else
         local size, start = take_varint(bytes, at)
         assert(size <= #bytes - start + 1)
         row[i] = {}
         at = take(row[i], nil, one == "S" and "s" or "i", size, bytes, start)
      end
   end
   return at
end

-- Adds all rows to `list`.
local function add_rows(list, types, bytes)
   local kinds, at = {}, 1
   for kind in types:gmatch "." do
      kinds[#kinds + 1] = kind
   end
   while at <= #bytes do
      local row = {}
      at = take(row, kinds, nil, #kinds, bytes, at)
      list[#list + 1] = row
   end
end

---Adds the rows in bytes to a list, each as a list of values.
---@param list any[][]
---@param types string a letter for each column
---@param bytes string
---@return boolean is_whole false: the bytes are no such rows
function row_binary.unpack(list, types, bytes)
   return (pcall(add_rows, list, types, bytes))
end

return row_binary
