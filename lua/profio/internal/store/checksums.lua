-- Checksums of packed values in a database, so that a damaged bit is an error and never another
-- number. The checksum of cells is computed by csrc/store.

local native_store = require "profio.internal.store.native"

local checksums = {}

local SIZE <const> = 8

-- Returns the first bytes of the hash of a value, followed by texts of which each has its size.
local function checksum_of(bytes, ...)
   local hasher = native_store().hasher():add(bytes)
   for _, text in ipairs { ... } do
      hasher:add(string.pack("<s8", text))
   end
   return hasher:digest():sub(1, SIZE)
end

---Returns bytes with their checksum.
---@param bytes string
---@param ... string texts to which the bytes belong, such as the hash of a run
---@return string
function checksums.seal(bytes, ...)
   return bytes .. checksum_of(bytes, ...)
end

---Returns the bytes that were sealed; nil if they, or the texts, are not those of seal().
---@param sealed any
---@param ... string
---@return string|nil
function checksums.open(sealed, ...)
   if type(sealed) ~= "string" or #sealed < SIZE then
      return nil
   end
   local bytes = sealed:sub(1, -SIZE - 1)
   return checksum_of(bytes, ...) == sealed:sub(-SIZE) and bytes or nil
end

---Returns the sum of the checksums of the labels of a run, which has no order.
---@param hash string of the run
---@param labels table<string, string>
---@return integer
function checksums.labels(hash, labels)
   local sum = 0
   for key, value in pairs(labels) do
      sum = sum + string.unpack("<i8", checksum_of(hash, key, value))
   end
   return sum
end

---Returns whether bytes have a hash.
---@param bytes any
---@param hash string 16 bytes
---@return boolean
function checksums.fits(bytes, hash)
   return type(bytes) == "string" and native_store().hasher():add(bytes):digest() == hash
end

-- Returns the content hash of a frame (csrc/store/content_hash.h); nil: it has impossible values.
local function hash_of_frame(name, file, line)
   if type(name) ~= "string" or file ~= nil and type(file) ~= "string"
      or line ~= nil and math.type(line) ~= "integer"
   then
      return nil
   end
   return native_store().hasher():add(string.pack("<s8", name), file
      and string.pack("<Bs8", 1, file) or "\0", string.pack("<i8", line or 0)):digest()
end

---Compares the frames and stacks of a database with their hashes.
---@param rows fun(sql: string): fun(...): any iterates over the rows of a query
---@return string[] messages the first 20
function checksums.dictionary(rows)
   local messages, frames, stacks = {}, {}, { [0] = ("\0"):rep(16) }
   local function compare(what, id, hash, expected)
      if hash ~= expected and #messages < 20 then
         messages[#messages + 1] = ("the %s %s is damaged"):format(what, tostring(id))
      end
   end
   for id, hash, name, file, line in rows "SELECT id, hash, name, file, line FROM frames" do
      frames[id] = hash_of_frame(name, file, line)
      compare("frame", id, hash, frames[id])
   end
   for id, hash, parent, frame in rows "SELECT id, hash, parent, frame FROM stacks ORDER BY id" do
      stacks[id] = frames[frame] and stacks[parent] and native_store().hasher():add(
         stacks[parent], frames[frame]):digest()
      compare("stack", id, hash, stacks[id])
   end
   return messages
end

return checksums
