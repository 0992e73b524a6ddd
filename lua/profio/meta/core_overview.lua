---@meta profio.core
--
-- The part of profio.core for summaries of timelines; core.lua beside this file has the rest. Never
-- loaded.

local core = {}

---Summarises the tracks of a timeline with bounded memory: their longest calls and suspensions, and
---how busy they were in intervals of equal length; reads all events.
---@param events profio.core.Reader
---@param options table first, length (ns), intervals (of each track), most_calls (of all tracks),
---most_pauses (of each track), most_variables, most_values (of each variable), most_longest (of
---functions: their longest calls), from, to, last
---@return profio.core.Overview|nil
---@return string|nil message
---@return string|nil code
function core.overview(events, options) end

---@class profio.core.Overview
local overview = {}

---Returns the tracks in order of first use: kind, value, variable, run as those of spans; calls and
---pauses, how many there are; kept and kept_pauses, how many are kept; intervals, how many, and
---their width (ns); is_left_out.
---@return table[]
function overview:tracks() end

---Returns the names of the frames that the texts since the last trim refer to, by index + 1.
---@return string[]
function overview:frames() end

---Returns the times in which events are lost, in ns from the first time on: { from, to, from, to,
---... }.
---@return integer[]
function overview:losses() end

---Returns how many calls of functions have each flag.
---@return table<string, integer>
function overview:flagged() end

---Keeps fewer calls than before.
---@param most integer of all tracks
function overview:trim(most) end

---Returns a member of the kept calls or pauses as an array of JSON, by start; starts are
---differences, frames indices.
---@param track integer from 1
---@param list "calls"|"pauses"
---@param member "start"|"length"|"depth"|"frame"|"flags"|"value"
---@return string
function overview:column(track, list, member) end

---Returns a member of the intervals as an array of JSON: busy and idle in thousandths (0 and 1000
---are exact), index of the frame that was active longest (-1: none), calls that began, range of
---values (null: none).
---@param track integer from 1
---@param member "busy"|"idle"|"top"|"begun"|"low"|"high"
---@param each integer|nil how many intervals are one; default 1
---@return string
function overview:intervals(track, member, each) end

---Returns the frames with most net time, of the first 20,000.
---@param most integer
---@return { frame: integer, name: string }[]
function overview:heaviest(most) end

---Returns the longest call of a frame in a lane; nothing without calls.
---@param frame integer from 1
---@return integer|nil track
---@return integer|nil start in ns from the first time on
---@return integer|nil length
---@return integer|nil depth
function overview:worst(frame) end

---Returns the counts of a duration as an array of JSON with four numbers for each bucket that has
---calls: its least duration (buckets are a quarter of a power of two wide), count, and track and
---start of one of the calls; nothing without calls.
---@param frame integer from 1
---@param duration "net"|"gross"|"period"
---@return string|nil
---@return integer|nil p50 as in trace:call_statistics
---@return integer|nil p99
---@return integer|nil maximum
---@return boolean|nil about50 p50 is an estimate
---@return boolean|nil about99 p99 is one
function overview:histogram(frame, duration) end

---Returns the calls by time and gross duration as an array of JSON with five numbers for each cell
---that has calls: its column minus that of the cell before, bucket (see histogram), count, and
---track and start of one of the calls, in ns from the begin of the column on.
---@param frame integer from 1
---@return string
function overview:heat(frame) end

---Returns the ns of a column of the heat maps.
---@return integer
function overview:heat_width() end

function overview:close() end

return core
