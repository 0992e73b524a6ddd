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
   return "LESS=${LESS-FRX}; export LESS; "
      .. (chosen or "command -v less >/dev/null || exit 127; exec less")
end

---Returns whether texts for standard output may have escape sequences, and its width.
---@return boolean has_color
---@return integer width
function pager.look()
   local no_color = os.getenv "NO_COLOR"
   local has_color = core.is_terminal(io.stdout) and (no_color == nil or no_color == "")
   return has_color, core.terminal_width(io.stdout) or 80
end

---Starts the pager if standard output is a terminal. To close the file waits for the user.
---@return file*|nil pipe  nil: no pager is wanted, or it cannot be run
function pager.open()
   local line = core.is_terminal(io.stdout) and command()
   local program = line and (os.getenv "PAGER" or "less"):match "%S+"
   if not program or not os.execute(("command -v '%s' >/dev/null 2>&1"):format(program)) then
      return nil
   end
   io.stdout:flush()
   return io.popen(line, "w")
end

---Writes a text to standard output, on a terminal through the pager. A pager that the user leaves
---early is no failure.
---@param text string
function pager.show(text)
   local pipe = pager.open()
   if pipe then
      pipe:write(text)
      pipe:close()
   else
      io.stdout:write(text)
      io.stdout:flush()
   end
end

return pager
