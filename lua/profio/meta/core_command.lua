---@meta profio.core

-- System functions of the command: Ctrl-C, files, copies of its process. Never loaded: for editors.

---@class profio.core
local core = {}

---@param from string|userdata a path, or a source
---@return boolean  a source, or a regular file, that begins as an executable does
function core.is_executable(from) end

---Makes a write to a closed pipe a failure of the write, instead of a signal.
function core.ignore_broken_pipes() end

---Holds Ctrl-C back until a stage sees it; a second one ends the process.
---@class profio.core.Interrupt
local interrupt = {}

---Begins to hold Ctrl-C back, until release.
---@return profio.core.Interrupt
function core.interrupt() end

---Sleeps, or until Ctrl-C.
---@param seconds number
---@return boolean interrupted whether there was one
function interrupt:wait(seconds) end

---Restores the handling of Ctrl-C.
---@return boolean interrupted whether there was one
function interrupt:release() end

---Passes rows until Ctrl-C; shows a progress bar on `screen` if it takes long.
---@param over profio.core.Reader
---@param total integer|nil rows, when known
---@param screen file*|nil
---@return profio.core.Reader
function interrupt:watch(over, total, screen) end

---Passes the printed rows until a Ctrl-C that no earlier stage has seen.
---@param over profio.core.Reader
---@return profio.core.Reader
function interrupt:guard(over) end

---A copy of this process that core.fork has started.
---@class profio.core.Worker
local worker = {}

---Starts a copy of this process, which must end with core.leave.
---@param seconds integer|nil the system ends the copy after this time, by core.SIGALRM
---@return file*|nil pipe what the copy writes; in the copy: where it writes
---@return profio.core.Worker|string|nil worker nil in the copy; or message
---@return string|nil code
function core.fork(seconds) end

---Ends a copy of a process; the files that both have open stay as they are.
---@param status integer
function core.leave(status) end

---Waits until the copy has ended.
---@return "exit"|"signal"|nil how nil: it has been waited for
---@return integer|nil number the status, or the signal
function worker:wait() end

---Ends the copy, unless it has ended.
function worker:close() end

return core
