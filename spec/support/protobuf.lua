-- Protocol buffers by hand, and what Go's own tool says of a profile.

local protobuf = {}

---@param value integer  of 64 bits
---@return string
function protobuf.varint(value)
   local bytes = {}
   repeat
      local low = value & 0x7f
      value = value >> 7
      bytes[#bytes + 1] = string.char(value ~= 0 and low | 0x80 or low)
   until value == 0
   return table.concat(bytes)
end

local varint = protobuf.varint

---A field that is a number.
function protobuf.number(field, value)
   return varint(field << 3) .. varint(value)
end

---A field of bytes: a message of fields, or a text.
function protobuf.message(field, ...)
   local body = table.concat { ... }
   return varint(field << 3 | 2) .. varint(#body) .. body
end

---A field of several numbers.
function protobuf.packed(field, values)
   local list = {}
   for i, value in ipairs(values) do
      list[i] = varint(value)
   end
   return protobuf.message(field, table.concat(list))
end

---A string table: `text "cpu"` is its number there, `text.fields()` the fields to be written.
---@return table
function protobuf.texts()
   local numbers, list = { [""] = 0 }, { protobuf.message(6, "") }
   return setmetatable({ fields = function()
      return table.concat(list)
   end }, { __call = function(_, text)
      if not numbers[text] then
         numbers[text] = #list
         list[#list + 1] = protobuf.message(6, text)
      end
      return numbers[text]
   end })
end

protobuf.has_go = (os.execute "go version >/dev/null 2>&1") == true

---What `go tool pprof ARGUMENTS FILES` prints, files of these bytes.
---@param arguments string
---@param ... string bytes of each file
---@return string text with both streams
---@return boolean ok
function protobuf.go(arguments, ...)
   local paths = {}
   for i, bytes in ipairs { ... } do
      paths[i] = os.tmpname()
      local file <close> = assert(io.open(paths[i], "wb"))
      file:write(bytes)
   end
   local pipe = assert(io.popen("go tool pprof " .. arguments .. " " .. table.concat(paths, " ")
      .. " 2>&1"))
   local text = pipe:read "a"
   local ok = pipe:close()
   for _, path in ipairs(paths) do
      os.remove(path)
   end
   return text, ok == true
end

return protobuf
