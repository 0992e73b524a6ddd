-- Names in the header of a DCPI profile, or of the text of dcpicat.

local masks = require "profio.internal.anonymising.masks"

local dcpi_lines = {}

-- The values of the known words that stay, as patterns.
local KEPT <const> = { version = "^pdb%-[%d.]+$", epoch = "^%d+$", period = "^%d+$",
   tstart = "^%x+$", tsize = "^%d+$", cpuspeed = "^%d+$", cpuamask = "^%x+$", cpuimplv = "^%d+$",
   cpucount = "^%d+$", text_start = "^0?x?%x+$", text_size = "^0?x?%x+$", samples = "^$" }
local NAMES <const> = { platform = "n", path = "m", name = "m", label = "n" }

-- Returns an alias of an image, whose id has hexadecimal digits.
local function image_id(context, value)
   if value:find "%X" then
      return masks.text(value)
   end
   return context.names:of(value, "x")
end

-- Returns an event, which may have its sum, period and fraction.
local function event(value)
   return value:find "^[%w_:. %-]+$" and value or masks.text(value)
end

local function header_line(context, bytes)
   local line, after = masks.line(bytes, " \t\r\n")
   local word, blanks, value = line:match "^([^ \t]*)([ \t]*)(.*)$"
   local new
   if NAMES[word] then
      new = context.names:path(value, NAMES[word])
   elseif word == "image" then
      new = image_id(context, value)
   elseif word == "event" then
      new = event(value)
   elseif KEPT[word] then
      new = value:find(KEPT[word]) and value or masks.text(value)
   else
      return masks.text(bytes)
   end
   return word .. blanks .. new .. after
end

---@param context table
---@return fun(kind: string, bytes: string): string
function dcpi_lines.start(context)
   return function(kind, bytes)
      if kind == "line" then
         return header_line(context, bytes)
      elseif kind == "rest" then
         return masks.words(bytes, context)
      end
      return bytes
   end
end

return dcpi_lines
