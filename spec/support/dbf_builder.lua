-- Builds dbf tables for specs, field by field.
--
--    local bytes = dbf { version = 0x03, { "NAME", "C", 10 } }:row { "abc" }:bytes()

local builder = {}
builder.__index = builder

-- { name, type, length, decimals, flags, offset } as 32 bytes.
local function descriptor(field)
   return string.pack("<c11c1I4BBBI4Bc8", field[1], field[2], field[6] or 0, field[3] & 0xff,
      field[4] or 0, field[5] or 0, 0, 0, "")
end

-- As 48 bytes, for dBASE 7.
local function descriptor7(field)
   return string.pack("<c32c1BBc13", field[1], field[2], field[3], field[4] or 0, "")
end

local function is_seven(version)
   return version == 0x04 or version == 0x8c
end

---Returns the whole header; sizes and counts may be overridden.
function builder:header()
   local seven = is_seven(self.version)
   local fields, sum = {}, 1
   for i, field in ipairs(self) do
      fields[i] = seven and descriptor7(field) or descriptor(field)
      sum = sum + field[3]
   end
   local tail = (self.terminator or "\r") .. (self.backlink or "")
   local size = (seven and 68 or 32) + #table.concat(fields) + #tail
   local head = string.pack("<BBBBI4I2I2c16BBI2", self.version, 126, 11, 21,
      self.count or #self.rows, self.start or size, self.record or sum, "", self.flags or 0,
      self.mark or 0, 0)
   if seven then
      head = head .. string.pack("c32I4", self.driver or "", 0)
   end
   return head .. table.concat(fields) .. tail
end

-- Formats a value for its field: text is padded on the right, numbers on the left.
local function place(value, field)
   if type(value) == "number" then
      return ("%" .. field[3] .. "s"):format(tostring(value))
   end
   return value .. (" "):rep(field[3] - #value)
end

---Add a record; each value is text of the field, or bytes that fill it, or a number.
function builder:row(values, flag)
   local parts = { flag or " " }
   for i, field in ipairs(self) do
      parts[#parts + 1] = place(values[i], field)
   end
   self.rows[#self.rows + 1] = table.concat(parts)
   return self
end

---Add a record that is marked as deleted.
function builder:deleted(values)
   return self:row(values, "*")
end

---Returns the table, with the end mark unless `mark_end` is false.
function builder:bytes(mark_end)
   return self:header() .. table.concat(self.rows) .. (mark_end == false and "" or "\26")
end

local dbf = {}

---A table: { version =, mark =, start =, record =, count =, { name, type, length, ... }, ... }
function dbf.new(described)
   described.version = described.version or 0x03
   described.rows = {}
   if described.version >= 0x30 and described.version <= 0x32 and not described.backlink then
      described.backlink = ("\0"):rep(263)
   end
   return setmetatable(described, builder)
end

---An FPT file of blocks { { type, text }, ... }; returns the bytes and the numbers of the blocks.
function dbf.fpt(blocks, size)
   local parts, numbers, at = {}, {}, 512
   size = size or 64
   for i, block in ipairs(blocks) do
      local stored = string.pack(">I4I4", block[1], #block[2]) .. block[2]
      local padding = -#stored % size
      numbers[i] = at // size
      parts[i] = stored .. ("\0"):rep(padding)
      at = at + #stored + padding
   end
   return string.pack(">I4I2I2c504", at // size, 0, size, "") .. table.concat(parts), numbers
end

---A DBT file of dBASE III.
function dbf.dbt3(texts)
   local parts, numbers, at = {}, {}, 1
   for i, text in ipairs(texts) do
      local stored = text .. "\26\26"
      numbers[i] = at
      parts[i] = stored .. ("\0"):rep(-#stored % 512)
      at = at + #parts[i] // 512
   end
   return string.pack("<I4c12Bc495", at, "", 3, "") .. table.concat(parts), numbers
end

---A DBT file of dBASE IV.
function dbf.dbt4(texts, size)
   size = size or 512
   local parts, numbers, at = {}, {}, size
   for i, text in ipairs(texts) do
      local stored = string.pack("<I4I4", 0x0008ffff, #text + 8) .. text
      numbers[i] = at // size
      parts[i] = stored .. ("\0"):rep(-#stored % size)
      at = at + #parts[i]
   end
   return string.pack("<I4I4c8I4I2c" .. size - 22, at // size, 0, "table", 0x0102, size, "")
      .. table.concat(parts), numbers
end

---The bytes of a double whose bytes sort as the numbers (dBASE 7's O).
function dbf.ordered(number)
   local bits = string.unpack(">i8", string.pack(">d", number))
   return string.pack(">i8", bits < 0 and ~bits or bits ~ math.mininteger)
end

return setmetatable(dbf, { __call = function(_, described) return dbf.new(described) end })
