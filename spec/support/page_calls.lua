-- The calls of a track in the data of a page, read from their definition: varints in base64.

local page_calls = {}

local DIGITS <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- Returns the bytes of a text in base64.
local function bytes_of(text)
   local list, bits, count = {}, 0, 0
   for digit in text:gmatch "[^=]" do
      bits, count = bits << 6 | DIGITS:find(digit, 1, true) - 1, count + 6
      if count >= 8 then
         count = count - 8
         list[#list + 1], bits = bits >> count, bits & (1 << count) - 1
      end
   end
   return list
end

---Returns the calls of a track.
---@param track { packed: string }
---@return { start: integer, length: integer, depth: integer, frame: integer }[]
function page_calls.of(track)
   local bytes, at, time, list = bytes_of(track.packed), 0, 0, {}
   local function next_number()
      local value, shift = 0, 0
      repeat
         at = at + 1
         value, shift = value | (bytes[at] & 127) << shift, shift + 7
      until bytes[at] < 128
      return value
   end
   while at < #bytes do
      time = time + next_number()
      list[#list + 1] = { start = time, length = next_number(), depth = next_number(),
         frame = next_number() }
   end
   return list
end

return page_calls
