---@meta profio.core
--
-- The part of profio.core for what is known of events and entries; core.lua beside this file has
-- the rest. Never loaded.

local core = {}

---@class profio.core.LineRanges
local line_ranges = {}

---Returns what is known of the lines of functions, and of the last reading with them.
---@return integer functions with lines
---@return integer overlaps  of these, those with lines that others have too
---@return boolean has_calls  lines of callers are known
---@return integer left  calls that a BREAK left
---@return integer after  time after them, ns
---@return integer total  time of all threads, ns
function line_ranges:values()
end

---Reads entries, and finds the smallest and largest line of each function.
---@param over profio.core.Reader
---@param learns boolean|nil the readers of events extend the ranges
---@return profio.core.LineRanges
function core.line_ranges(over, learns) end

---@class profio.core.CallCounts
local call_counts = {}

---Returns numbers of calls: all that ended; those without an enter or a leave; of these, those that
---another call unwound or in which they were left; enters inside of another call; of these, those
---that came later than its suspend; enters and resumes while another call of the lane ran.
---@return integer calls
---@return integer unmatched
---@return integer crossed
---@return integer nested
---@return integer late
---@return integer running
function call_counts:values()
end

---Returns counts that are 0 until a computation of calls sets them.
---@return profio.core.CallCounts
function core.call_counts() end

return core
