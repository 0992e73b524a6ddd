-- Adds up files of one program while they are opened, and opens them one by one when something asks
-- for them. Called by file_sums.lua, which says what a trace with sums is.

local core = require "profio.core"
local inputs = require "profio.internal.opening.inputs"
local memory_limit = require "profio.internal.several.memory_limit"

local adding = {}

local SHORT = 4       -- a sum of fewer files saves no time
local MAX_SHORT = 8   -- after so many of them no more sums are tried

-- Files that are added at once, in several threads: few at first, then twice as many while all are
-- alike, because the files after an unlike one are read again. In between Ctrl-C is noticed.
local FIRST, MOST = 64, 4096

-- Adds the files of a list from one on, up to the first that is not like the others; returns their
-- paths. `are_files`: no path leads to a pipe or a device.
local function add_files(sum, list, from, are_files)
   local paths, most = {}, FIRST
   while true do
      local some = {}
      for i = from + #paths, math.min(#list, from + #paths + most - 1) do
         local input = list[i]
         if not input.is_plain then
            break
         end
         some[#some + 1] = input.path
      end
      local added = sum:add(some, are_files)
      table.move(some, 1, added, #paths + 1, paths)
      if added < most then
         return paths
      end
      most = math.min(2 * most, MOST)
   end
end

-- Returns a sum of the files of a list from one on that are like an opened part, and their paths;
-- nil if there is none.
local function sum_like(part, list, from, are_files)
   local sum = core.file_sum(part)
   local paths = sum and add_files(sum, list, from, are_files) or {}
   if #paths > 0 then
      return sum, paths
   end
   return nil
end

-- Opens a sum as a part of the trace.
local function add_part(state, like, sum, paths, is_strict)
   local theirs = {}
   for _, options in ipairs { state.checked, state.format.sum_options } do -- the latter win
      for name, value in pairs(options) do
         theirs[name] = value
      end
   end
   local data, arcs = sum:data()
   local source = assert(core.source_data(data, paths[1]))
   state.parts[#state.parts + 1] = assert(core.open(core.opening(state.format.name, theirs,
      is_strict, state.dictionary), source))
   state.sums = state.sums or {}
   state.sums[#state.parts] = { sum = sum, like = like, paths = paths, arcs = arcs }
   table.move(paths, 1, #paths, #state.paths + 1, state.paths)
end

---Adds up the files of a list of inputs from one on that are like a file that is open.
---@param state table of the opening
---@param list profio.Input[]
---@param from integer index of the first
---@param mine table options of profio.open
---@return integer next index of the first input that was not added
function adding.add(state, list, from, mine)
   local newest = state.parts[#state.parts]
   if not newest or not state.format.sum_options or mine.live
      or mine.all_warnings or (state.short_sums or 0) >= MAX_SHORT
   then
      return from
   end
   -- The files are like those of the last sum, or like the newest file.
   local like, sum, paths = state.sum_like, nil, nil
   if like then
      sum, paths = sum_like(like, list, from, state.are_files)
   end
   if not sum then
      like = newest
      sum, paths = sum_like(like, list, from, state.are_files)
   end
   state.short_sums = (state.short_sums or 0) + (#(paths or {}) < SHORT and 1 or 0)
   if not sum then
      return from
   end
   state.sum_like = like
   add_part(state, like, sum, paths, mine.strict)
   return from + #paths
end

-- Opens a file that was added to a sum; raises if that fails.
local function open_added(state, path, mine)
   local source, message = inputs.source({ path = path }, mine)
   local part
   if source then
      state.first_sources[#state.first_sources + 1] = source
      part, message = core.open(state.opening, source)
   end
   if not part then
      error(message, 0)
   end
   memory_limit.hold(state, part, source, mine)
   return part
end

-- Opens the files of all sums as parts of the trace.
local function open_all(state, mine)
   local parts = {}
   for i, part in ipairs(state.summed_parts) do
      local described = state.sums[i]
      if not described then
         parts[#parts + 1] = part
      end
      local changed = described and described.sum:changed(described.paths)
      if changed then
         error(("%s: %s: the file has changed since it was opened"):format(
            described.paths[changed], state.format.name), 0)
      end
      for _, path in ipairs(described and described.paths or {}) do
         parts[#parts + 1] = open_added(state, path, mine)
      end
   end
   return parts
end

---Ends the opening of a trace with sums: from here on the files of sums are opened when `parts` or
---`sources` is read.
---@param state table of the trace
---@param mine table options of profio.open
function adding.finish(state, mine)
   state.summed_parts, state.parts = state.parts, nil
   state.first_sources, state.sources = state.sources, nil
   setmetatable(state, { __index = function(_, key)
      if key ~= "parts" and key ~= "sources" then
         return nil
      elseif state.closed then
         return key == "parts" and state.summed_parts or state.first_sources
      end
      local parts = open_all(state, mine)
      setmetatable(state, nil)
      state.parts, state.sources = parts, state.first_sources
      state.summed_parts, state.first_sources, state.sums = nil, nil, nil
      return state[key]
   end })
end

return adding
