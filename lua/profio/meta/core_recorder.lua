---@meta profio.core

-- The recorder of Lua programs. Never loaded: for editors.

---@class profio.core
local core = {}

---Returns a recorder that is not started; internal/recording.lua opens its output.
---@param settings table mode, clock, interval (ns), depth, lines, backtraces, dictionary, stream
---(nil: sums), own (the source whose functions are not recorded), namer (gives a function its name)
---@return profio.core.Recorder
function core.recorder(settings) end

---Returns the address of a C function, equal for all closures of it; nil for a Lua function.
---@param f function
---@return lightuserdata|nil
function core.c_address(f) end

---Returns where a C function is: the path of its shared object or program, the name of its symbol,
---and its offset in the object. Nil: the system does not know.
---@param f function
---@return string|nil object
---@return string|nil symbol
---@return integer|nil offset
function core.c_place(f) end

---Returns whether a recording can begin now, or nil, message, code; raises if it may not.
---@param mode string
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.check_recording(mode) end

---Returns replacements for functions of coroutine, which behave the same during a recording.
---@param close function coroutine.close
---@return { create: function, resume: function, wrap: function, close: function }
function core.coroutines(close) end

---Returns functions that replace those of the debug library while hooks record.
---@param sethook function of the library
---@param gethook function of the library
---@return { sethook: function, gethook: function }
function core.program_hooks(sethook, gethook) end

---Returns the id of this process.
---@return integer
function core.process_id() end

---Removes PROFIO_RECORD from the environment of child processes.
function core.forget_recording() end

---@class profio.core.Recorder
local recorder = {}

---Starts recording the threads of this Lua state; raises if another recorder runs.
---@param subtract boolean measure what hooks cost, now and while it records, and take it off the
---times
function recorder:begin(subtract) end

---Pauses the recording; open calls stay open.
function recorder:pause() end

---Continues after a pause.
function recorder:resume() end

---Stops and writes all records; closes the stream.
function recorder:finish() end

---Returns whether this process is a forked copy of the recorded one.
---@return boolean
function recorder:is_copy() end

---Returns numbers of records and times in ns; failure: why recording ended early.
---@return { events: integer, time: integer, hook: integer, wait: integer, drain: integer,
---per_line: integer?, per_call: integer?, failure: string? }
function recorder:facts() end

---Returns the sums; nil for a recorder that writes.
---@return profio.core.Contexts|nil
function recorder:contexts() end

---Frees the recorder; the sums stay valid.
function recorder:close() end

return core
