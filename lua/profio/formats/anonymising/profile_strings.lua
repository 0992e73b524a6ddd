-- Names in the string table of a pprof profile, which stays in its order.

local profile_strings = {}

-- Words of types, units and labels that are no names of the user.
local WORDS <const> = {}
for word in ([[
   samples sample count cpu wall time nanoseconds ns microseconds milliseconds seconds
   alloc_objects alloc_space inuse_objects inuse_space space objects bytes contentions delay
   goroutine goroutines threadcreate heap mutex block cycles instructions calls lines request
   thread pid tid kind allocations kilobytes megabytes hits events]]):gmatch "%S+" do
   WORDS[word] = true
end

-- {====== Fields ======

-- Returns the number of a varint and the position after it.
local function varint(bytes, at)
   local number, shift = 0, 0
   while true do
      local byte = bytes:byte(at)
      if not byte or shift > 63 then
         return nil, #bytes + 1
      end
      number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
      if byte < 128 then
         return number, at
      end
   end
end

local function packed(number)
   local text = ""
   while number > 127 do
      text, number = text .. string.char(number & 127 | 128), number >> 7
   end
   return text .. string.char(number)
end

-- Calls visit(field, number or text) for the fields of a message.
local function each_field(bytes, visit)
   local at = 1
   while at <= #bytes do
      local tag, value
      tag, at = varint(bytes, at)
      local wire = tag and tag & 7
      if wire == 0 then
         value, at = varint(bytes, at)
      elseif wire == 2 then
         local size
         size, at = varint(bytes, at)
         value = size and bytes:sub(at, at + size - 1)
         at = size and at + size or #bytes + 1
      else
         at = (wire == 1 or wire == 5) and at + (wire == 1 and 8 or 4) or #bytes + 1
      end
      if value then
         visit(tag >> 3, value)
      end
   end
end

-- Fields of messages that may have a length: messages in them, and packed numbers.
local SIZED <const> = { sample = { [1] = {}, [2] = {}, [3] = {} }, location = { [4] = {} } }

-- Returns a message with zeros for fields of unknown text; `known` are those with a length that
-- stay.
local function without_text(bytes, known)
   local parts, at = {}, 1
   while at <= #bytes do
      local tag, behind = varint(bytes, at)
      local wire, stop, start = tag and tag & 7, #bytes + 1, nil
      if wire == 0 then
         stop = select(2, varint(bytes, behind))
      elseif wire == 1 or wire == 5 then
         stop = behind + (wire == 1 and 8 or 4)
      elseif wire == 2 then
         local size
         size, start = varint(bytes, behind)
         stop = size and start + size or stop
      end
      start = start or stop
      parts[#parts + 1] = bytes:sub(at, start - 1)
      local inner = bytes:sub(start, stop - 1)
      parts[#parts + 1] = (wire ~= 2 or known[tag >> 3]) and inner or ("\0"):rep(#inner)
      at = math.max(stop, at + 1)
   end
   return table.concat(parts)
end

-- Returns an item that is a message.
local function message_of(kind, bytes)
   local _, at = varint(bytes, 1)
   _, at = varint(bytes, at)
   return bytes:sub(1, at - 1) .. without_text(bytes:sub(at), SIZED[kind] or {})
end

-- Fields that are indexes of strings, by the kind of item and the number of the field.
local TYPE <const>, PATH <const>, ID <const> = "type", "p", "n"
local USES <const> = {
   sample_type = { [1] = TYPE, [2] = TYPE }, period_type = { [1] = TYPE, [2] = TYPE },
   mapping = { [5] = PATH, [6] = ID }, ["function"] = { [2] = "f", [3] = "f", [4] = PATH },
}
local LABEL <const> = { [1] = TYPE, [4] = TYPE }

-- Returns by index of a string the kind of its alias; and the strings that are types, units or keys
-- of labels.
local function uses_of(context)
   local uses, types = {}, {}
   local function use(index, as)
      if as == TYPE and math.type(index) then
         types[index] = true
      elseif as and math.type(index) then
         uses[index] = uses[index] or as
      end
   end
   for kind, bytes in context.trace.raw:each("kind", "bytes") do
      local fields = USES[kind]
      if fields or kind == "sample" then
         each_field(bytes, function(_, message)
            each_field(math.type(message) and "" or message, function(field, value)
               if fields then
                  use(value, fields[field])
               elseif field == 3 and not math.type(value) then
                  each_field(value, function(part, index)
                     use(index, LABEL[part])
                  end)
               end
            end)
         end)
      elseif kind == "default_sample_type" then
         each_field(bytes, function(_, index)
            use(index, TYPE)
         end)
      end
   end
   return uses, types
end

-- }======

-- Returns a field of the string table with an alias. A known word that is a type stays.
local function string_field(context, bytes, as, is_type)
   local _, at = varint(bytes, 1)
   local start = at
   _, at = varint(bytes, at)
   local text = bytes:sub(at)
   if text == "" or is_type and WORDS[text] then
      return bytes
   end
   local alias = as == PATH and context.names:path(text, PATH)
      or context.names:of(text, as or "n")
   if #alias == #text then
      return bytes:sub(1, at - 1) .. alias
   end
   return bytes:sub(1, start - 1) .. packed(#alias) .. alias
end

---@param context table
---@return fun(kind: string, bytes: string): string
function profile_strings.start(context)
   local uses, types = uses_of(context)
   local index = -1
   return function(kind, bytes)
      if kind == "string" or kind == "string_table" then
         index = index + 1
         return string_field(context, bytes, uses[index], types[index])
      elseif USES[kind] or SIZED[kind] then
         return message_of(kind, bytes)
      elseif kind ~= "rest" and kind ~= "unknown" then
         return bytes
      elseif kind == "unknown" and #bytes <= 11 and not bytes:find "%w%w" then
         return bytes
      end
      context.note("anonymised-dropped", ("%d bytes that cannot be read are left out: they may "
         .. "hold names"):format(#bytes - 1))
      return kind == "rest" and bytes:sub(1, 1) or ""
   end
end

return profile_strings
