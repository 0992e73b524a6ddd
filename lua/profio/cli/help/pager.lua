-- Shows long texts on a terminal through a pager: $PAGER, a program and its arguments, else less,
-- with LESS=FRX unless it is set.

local core = require "profio.core"

local pager = {}

-- Returns the words of the pager, or nil if none is wanted.
local function command()
   local chosen, words = os.getenv "PAGER", {}
   for word in (chosen or "less"):gmatch "%S+" do
      words[#words + 1] = word
   end
   words.variables = { not os.getenv "LESS" and "LESS=FRX" or nil }
   return words[1] and chosen ~= "cat" and words or nil
end

---Returns whether texts for standard output may have escape sequences, and its width.
---@return boolean has_color
---@return integer width
function pager.look()
   local no_color = os.getenv "NO_COLOR"
   local has_color = core.is_terminal(io.stdout) and (no_color == nil or no_color == "")
   return has_color, core.terminal_width(io.stdout) or 80
end

---Starts the pager if standard output is a terminal.
---@return profio.core.File|nil pipe  nil: no pager is wanted, or it cannot be run
---@return userdata|nil process to wait for when the pipe is closed
function pager.open()
   local words = core.is_terminal(io.stdout) and command()
   if not words then
      return nil
   end
   io.stdout:flush()
   words.input = true
   local process, _, pipe = core.spawn(words)
   return process and pipe, process
end

---Writes a text to standard output, on a terminal through the pager. A pager that the user leaves
---early is no failure.
---@param text string
function pager.show(text)
   local pipe, process = pager.open()
   if pipe then
      pipe:write(text)
      pipe:close()
      process:wait()
   else
      io.stdout:write(text)
      io.stdout:flush()
   end
end

return pager
