-- Shows long texts on a terminal through a pager, as git does: $PAGER, else less, with LESS=FRX
-- unless it is set.

local core = require "profio.core"

local pager = {}

-- Returns the command of the pager, or nil if none is wanted.
local function command()
   local chosen = os.getenv "PAGER"
   if chosen == "" or chosen == "cat" then
      return nil
   end
   return "LESS=${LESS-FRX}; export LESS; " .. (chosen or "less")
end

---Returns whether texts for standard output may have escape sequences, and its width.
---@return boolean has_color
---@return integer width
function pager.look()
   local no_color = os.getenv "NO_COLOR"
   local has_color = core.is_terminal(io.stdout) and (no_color == nil or no_color == "")
   return has_color, core.terminal_width(io.stdout) or 80
end

---Writes a text to standard output, on a terminal through the pager. A pager that the user leaves
---early is no failure; without a pager that can be run, the text is written as it is.
---@param text string
function pager.show(text)
   local line = core.is_terminal(io.stdout) and command()
   if line then
      io.stdout:flush()
      local pipe = assert(io.popen(line, "w"))
      pipe:write(text)
      local done, kind, status = pipe:close()
      -- Lua gives the error of the last write, not the status, if there was one.
      if done or kind == "signal" or kind == "exit" and status ~= 127 and status ~= 126 then
         return
      end
   end
   io.stdout:write(text)
   io.stdout:flush()
end

return pager
