-- Progress on standard error: a bar while a table is read, or the number of files.

local core = require "profio.core"

local progress = {}

-- Returns whether progress is shown: on a terminal, or if asked for.
local function is_shown(given, err)
   return given.progress or core.is_terminal(err) and not given.no_progress
end

---Puts a stage over the tables of a trace that shows progress and ends reading after Ctrl-C.
---@param trace profio.Trace|nil nil: nothing is done
---@param interrupt profio.core.Interrupt
---@param given { progress: boolean|nil, no_progress: boolean|nil }
---@param err file*
function progress.watch(trace, interrupt, given, err)
   if not trace then
      return
   end
   local has_bar = is_shown(given, err)
   trace:watch(function(reader, name)
      return interrupt:watch(reader, has_bar and trace:row_count(name) or nil,
         has_bar and err or nil)
   end, function()
      return interrupt:wait(0)
   end)
end

---Returns a function that shows how many of some files are read, at most once a second.
---@param count integer
---@param given { progress: boolean|nil, no_progress: boolean|nil }
---@param err file*
---@return fun(number: integer)
function progress.of_files(count, given, err)
   local shown, has_count = 0, is_shown(given, err)
   return function(number)
      if has_count and (number == count or os.time() > shown) then
         shown = os.time()
         err:write(("\rprofio: %d of %d files%s"):format(number, count,
            number == count and "\n" or ""))
      end
   end
end

return progress
