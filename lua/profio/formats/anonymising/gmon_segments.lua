-- gmon.out has addresses and counts, and names of images in the dialect of Apple only.

local masks = require "profio.internal.anonymising.masks"

local gmon_segments = {}

-- Returns a section of images: 8 bytes, their number, then an address and a name for each.
local function images(context, bytes)
   local width = context.trace.info.address_size
   local parts, at = { bytes:sub(1, 12) }, 13
   while at <= #bytes do
      local name, after = bytes:match("^([^\0]*)()", at + width)
      if not name then
         break
      end
      parts[#parts + 1] = bytes:sub(at, at + width - 1)
      parts[#parts + 1] = context.names:of(name, "p")
      parts[#parts + 1] = bytes:sub(after, after)
      at = after + 1
   end
   parts[#parts + 1] = bytes:sub(at)
   return table.concat(parts)
end

---@param context table
---@return fun(kind: string, bytes: string): string
function gmon_segments.start(context)
   context.note("anonymised-no-names", "a gmon.out has no names: what can be read is copied as it "
      .. "is; names are in the executable, which is not sent")
   return function(kind, bytes)
      if kind == "images" then
         return images(context, bytes)
      elseif kind == "unknown" then -- its size is known, so that more may follow
         return bytes:sub(1, 8) .. ("\0"):rep(#bytes - 8)
      elseif kind == "rest" then
         return masks.words(bytes, context)
      end
      return bytes
   end
end

return gmon_segments
