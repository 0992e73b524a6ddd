-- Names in folded stacks.

local lines = require "profio.formats.folded.stack_lines"
local masks = require "profio.internal.anonymising.masks"

local folded_frames = {}

-- Returns a frame; its mark of the kernel, inlined or JIT code stays.
local function frame_of(context, frame)
   local name, mark = frame:match "^(.*)(_%[%l%])$"
   return name and context.names:of(name, "f") .. mark or context.names:of(frame, "f")
end

local function stack_of(context, stack)
   if lines.states[stack] then
      return stack
   end
   return (stack:gsub("[^;]+", function(frame)
      return frame_of(context, frame)
   end))
end

-- Returns a line of Luau: a number, and frames FILE,FUNCTION,LINE.
local function luau_line(context, line)
   local weight, frames = line:match "^(%d+ )(.*)$"
   return weight .. frames:gsub("[^;]+", function(frame)
      local file, name, number = frame:match "^([^,]*),([^,]*),(%d*)$"
      return file and context.names:path(file, "p") .. "," .. context.names:of(name, "f") .. ","
         .. number or masks.text(frame)
   end)
end

local function line_of(context, line, layout)
   if line:byte() == 35 then
      return masks.text(line)
   elseif layout == "luau" then
      return lines.layouts.luau(line) and luau_line(context, line) or masks.text(line)
   elseif not lines.layouts[layout](line) then
      return masks.text(line)
   end
   local stack, weights = line:match(layout == "two" and "^(.+)([ \t][%d.]+[ \t][%d.]+[ \t]*)$"
      or "^(.+)([ \t][%d.]+[ \t]*)$")
   return stack_of(context, stack) .. weights
end

---@param context table
---@return fun(kind: string, bytes: string): string
function folded_frames.start(context)
   local layout = context.trace.info.layout
   return function(_, bytes)
      local mark = bytes:match "^\xef\xbb\xbf" or ""
      return mark .. bytes:sub(#mark + 1):gsub("[^\n]+", function(text)
         local line, ending = masks.line(text, "\r")
         return line_of(context, line, layout) .. ending
      end)
   end
end

folded_frames.is_whole = true

return folded_frames
