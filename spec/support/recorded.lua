-- Records Lua programs, each in a separate process.

local command = require "spec.support.command"
local moved_clock = require "spec.support.moved_clock"
local profio = require "profio"

local recorded = {}

---Returns an unused path in the folder of the specs.
---@return string
function recorded.path(name)
   local path = command.folder .. "/" .. name
   for _, ending in ipairs { "", ".ring", ".BIN" } do
      os.remove(path .. ending)
   end
   return path
end

---Runs a program. If there are settings (of PROFIO_RECORD), it is recorded.
---@param source string of the program, which becomes prog.lua
---@param settings string|nil
---@param step integer|nil the program has the clock of spec/c/clock.c, of which a reading takes so
---       many ns
---@return string output
---@return integer status
---@return string errors
function recorded.run(source, settings, step)
   command.file("prog.lua", source)
   local form = "%s PROFIO_RECORD='%s' %s ${LUA:-lua5.4} %s prog.lua"
   return command.run(form:format(command.in_tree, settings or "",
      step and moved_clock.words(step) or "", settings and "-l profio.recorder" or ""))
end

---Records a program and opens the recording.
---@param source string
---@param settings string|nil without the path; nil: the program records itself, into prog.out
---@param options table|nil of profio.open
---@param step integer|nil as for run
---@return profio.Trace
---@return string output
---@return integer status
function recorded.trace(source, settings, options, step)
   local path = recorded.path "prog.out"
   local output, status, errors = recorded.run(source, settings and settings .. ",path="
      .. path, step)
   local trace, message = profio.open(path, options)
   if not trace then
      error(("%s\n%s\n%s"):format(message, output, errors), 2)
   end
   return trace, output, status
end

---Returns the number of executions of each line of prog.lua, and its total time.
---@param trace profio.Trace of mode timed
---@return table<integer, integer> counts
---@return table<integer, integer> spent ns
function recorded.lines(trace)
   local counts, spent = {}, {}
   for module, line, ns in trace:each("module", "line", "spent") do
      if module == "prog.lua" then
         counts[line] = (counts[line] or 0) + 1
         spent[line] = (spent[line] or 0) + ns
      end
   end
   return counts, spent
end

---Returns the number of calls of each function.
---@param trace profio.Trace of mode calls
---@return table<string, integer>
function recorded.calls(trace)
   local counts = {}
   for area, count in trace:calls():group("area"):aggregate { "n = count" }:each("area", "n") do
      counts[area] = count
   end
   return counts
end

return recorded
