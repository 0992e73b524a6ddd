---@meta profio.core

-- The recorder of Lua programs. Never required: for editors.

---@class profio.core
local core = {}

---A recorder that records nothing so far; lua/profio/recorder.lua opens what it writes into.
---@param settings table mode, clock, interval (ns), depth, lines, backtraces, dictionary, stream
---(nil: sums), own (the source whose functions are not recorded)
---@return profio.core.Recorder
function core.recorder(settings) end

---What stands for functions of coroutine while something is recorded, and behaves like them.
---@param close function coroutine.close
---@return { create: function, resume: function, wrap: function, close: function }
function core.coroutines(close) end

---The number of this process.
---@return integer
function core.process_id() end

---Remove PROFIO_RECORD from the environment of programs that this one starts.
function core.forget_recording() end

---@class profio.core.Recorder
local recorder = {}

---Record the threads of this Lua state; raises when another recorder does.
---@param subtract boolean measure what hooks cost, now and while it records, and take it off the
---times
function recorder:begin(subtract) end

---Record nothing for a while; calls that are open stay so.
function recorder:pause() end

---Go on after a pause.
function recorder:resume() end

---End, and have all written that was recorded. The stream is closed after this.
function recorder:finish() end

---Whether this process was made by fork from the one that is recorded.
---@return boolean
function recorder:is_copy() end

---Numbers of records and times in ns; failure: why recording ended early.
---@return { events: integer, time: integer, hook: integer, wait: integer, drain: integer,
---per_line: integer?, per_call: integer?, failure: string? }
function recorder:facts() end

---The sums; nil of a recorder that writes.
---@return profio.core.Contexts|nil
function recorder:contexts() end

---Free what it holds; the sums stay.
function recorder:close() end

return core
