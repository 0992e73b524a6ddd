-- Builds and reads protocol buffers, and runs Go's pprof.

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

---Returns a string table: `text "cpu"` is the index of a string, `text.fields()` are its fields.
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

-- {====== Reading ======

local function take_varint(bytes, at)
   local value, shift = 0, 0
   repeat
      local byte = bytes:byte(at)
      value, shift, at = value | (byte & 0x7f) << shift, shift + 7, at + 1
   until byte < 0x80
   return value, at
end

---The fields of a message: { { field, value }, ... }; values are numbers or bytes.
---@param bytes string
---@return table[]
function protobuf.fields(bytes)
   local list, at = {}, 1
   while at <= #bytes do
      local tag, value
      tag, at = take_varint(bytes, at)
      value, at = take_varint(bytes, at)
      if tag & 7 == 2 then
         value, at = bytes:sub(at, at + value - 1), at + value
      end
      list[#list + 1] = { tag >> 3, value }
   end
   return list
end

-- The last value of each field.
local function by_field(bytes)
   local values = {}
   for _, field in ipairs(protobuf.fields(bytes)) do
      values[field[1]] = field[2]
   end
   return values
end

-- The values of a field that is repeated, packed or not.
local function numbers_of(bytes, wanted)
   local list = {}
   for _, field in ipairs(protobuf.fields(bytes)) do
      if field[1] == wanted and type(field[2]) == "number" then
         list[#list + 1] = field[2]
      elseif field[1] == wanted then
         local at = 1
         while at <= #field[2] do
            list[#list + 1], at = take_varint(field[2], at)
         end
      end
   end
   return list
end

-- Returns a location with its mapping, lines and functions as one text.
local function place_text(bytes, maps, functions, text)
   local own, lines = by_field(bytes), {}
   for _, field in ipairs(protobuf.fields(bytes)) do
      if field[1] == 4 then
         local line = by_field(field[2])
         local f = by_field(functions[line[1]] or "")
         lines[#lines + 1] = ("%s|%s|%s|s%d:%d:%d"):format(text(f[2]), text(f[3]), text(f[4]),
            f[5] or 0, line[2] or 0, line[3] or 0)
      end
   end
   return ("%x@%s%s[%s]"):format(own[3] or 0, maps[own[2] or 0] or "-", own[5] == 1 and "F" or "",
      table.concat(lines, ","))
end

---Returns all contents of a profile with texts instead of ids and string indexes: samples and
---mappings in their order, with all details of what they refer to.
---@param bytes string
---@return table
function protobuf.resolved(bytes)
   local strings, messages = {}, {}
   for i = 1, 15 do
      messages[i] = {}
   end
   for _, field in ipairs(protobuf.fields(bytes)) do
      local list = messages[field[1]]
      list[#list + 1] = field[2]
   end
   for i, value in ipairs(messages[6]) do
      strings[i - 1] = value
   end
   local function text(number)
      return strings[number or 0] or error("no text " .. tostring(number))
   end
   local maps, functions, places = {}, {}, {}
   local known = { types = {}, samples = {}, mappings = {}, comments = {}, time = messages[9][1],
      duration = messages[10][1], period = messages[12][1], default = text(messages[14][1]),
      doc_url = text(messages[15][1]), drop = text(messages[7][1]), keep = text(messages[8][1]),
      nlocations = #messages[4], nfunctions = #messages[5] }
   local function type_text(message)
      local own = by_field(message)
      return text(own[1]) .. "/" .. text(own[2])
   end
   for i, message in ipairs(messages[1]) do
      known.types[i] = type_text(message)
   end
   known.period_type = messages[11][1] and type_text(messages[11][1])
   for i, message in ipairs(messages[3]) do
      local own = by_field(message)
      maps[own[1]] = ("%x-%x+%x %s %s %d%d%d%d"):format(own[2] or 0, own[3] or 0, own[4] or 0,
         text(own[5]), text(own[6]), own[7] or 0, own[8] or 0, own[9] or 0, own[10] or 0)
      known.mappings[i] = maps[own[1]]
   end
   for _, message in ipairs(messages[5]) do
      functions[by_field(message)[1]] = message
   end
   for _, message in ipairs(messages[4]) do
      places[by_field(message)[1]] = place_text(message, maps, functions, text)
   end
   for i, message in ipairs(messages[2]) do
      local stack, labels = {}, {}
      for n, id in ipairs(numbers_of(message, 1)) do
         stack[n] = places[id] or error("no location " .. id)
      end
      for _, field in ipairs(protobuf.fields(message)) do
         if field[1] == 3 then
            local own = by_field(field[2])
            labels[#labels + 1] = ("%s=%s %d %s"):format(text(own[1]), text(own[2]), own[3] or 0,
               text(own[4]))
         end
      end
      known.samples[i] = { stack = table.concat(stack, " "), labels = table.concat(labels, ", "),
         values = table.concat(numbers_of(message, 2), " ") }
   end
   for _, value in ipairs(messages[13]) do
      known.comments[#known.comments + 1] = text(value)
   end
   return known
end

-- }======

protobuf.has_go = (os.execute "go version >/dev/null 2>&1") == true

---Returns the output of `go tool pprof ARGUMENTS FILES` for files with these bytes.
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
