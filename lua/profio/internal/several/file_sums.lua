-- Adds up many files of one program while they are opened: of formats with `sum_options`, which is
-- gmon. A profile needs only the sum, so the files become parts of the trace only when something
-- else asks for parts. Called by profio/init.lua and internal/trace.lua, which close the parts and
-- the sources, by internal/table_readers.lua and cli/runs.lua.
--
-- A trace with sums has `summed_parts`, in which a sum stands for consecutive files; `sums`, which
-- describes each sum by its index there; and `first_sources`, the sources of the files that are no
-- part of a sum. The fields `parts` and `sources` do not exist until the first access, which opens
-- the files of all sums.

local core = require "profio.core"
local inputs = require "profio.internal.inputs"

local file_sums = {}

---@class profio.FileSum
---@field sum userdata of core.file_sum
---@field like profio.core.Part the file before it: the added ones differ from it only in counts
---@field paths string[]
---@field arcs integer rows of table arcs in the added files

local FEW = 16        -- so many remaining files, or fewer, are opened one by one
local SHORT = 4       -- a sum of fewer files saves no time
local MAX_SHORT = 8   -- after so many of them no more sums are tried

-- Files that are added at once, in several threads: few at first, then twice as many while all are
-- alike, because the files after an unlike one are read again. In between Ctrl-C is noticed.
local FIRST, MOST = 64, 4096

-- The most bytes of the files of a trace that stay in memory while they are not read. A file above
-- COPIED bytes (SMALL in csrc/bytes/map.c) is mapped, and counts as MAPPED bytes, since the system
-- limits the number of mappings.
local AWAKE, COPIED, MAPPED = 128 << 20, 16384, 32768

-- The counts, of facts and of tables, that contain the number of arcs, which differs from file to
-- file; all other counts are equal in all files of a sum.
local with_arcs = { arcs = true, records = true, raw = true }

-- {====== Opening ======

-- Returns whether an input is nothing but a path: `path` is its only key.
local function is_plain(input)
   return input.path ~= "-" and next(input) == "path" and next(input, "path") == nil
end

-- Adds the files of a list from one on, up to the first that is not like the others; returns their
-- paths.
local function add_files(sum, list, from)
   local paths, most = {}, FIRST
   while true do
      local some = {}
      for i = from + #paths, math.min(#list, from + #paths + most - 1) do
         if not is_plain(list[i]) then
            break
         end
         some[#some + 1] = list[i].path
      end
      local added = sum:add(some)
      table.move(some, 1, added, #paths + 1, paths)
      if added < most then
         return paths
      end
      most = math.min(2 * most, MOST)
   end
end

-- Returns a sum of the files of a list from one on that are like an opened part, and their paths;
-- nil if there is none.
local function sum_like(part, list, from)
   local sum = core.file_sum(part)
   local paths = sum and add_files(sum, list, from) or {}
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
function file_sums.add(state, list, from, mine)
   local newest = state.parts[#state.parts]
   if #list - from < FEW or not newest or not state.format.sum_options or mine.live
      or mine.all_warnings or (state.short_sums or 0) >= MAX_SHORT
   then
      return from
   end
   -- The files are like those of the last sum, or like the newest file.
   local like, sum, paths = state.sum_like, nil, nil
   if like then
      sum, paths = sum_like(like, list, from)
   end
   if not sum then
      like = newest
      sum, paths = sum_like(like, list, from)
   end
   state.short_sums = (state.short_sums or 0) + (#(paths or {}) < SHORT and 1 or 0)
   if not sum then
      return from
   end
   state.sum_like = like
   add_part(state, like, sum, paths, mine.strict)
   return from + #paths
end

---Lets a part sleep if the parts so far take too much memory.
---@param state table of the trace or its opening
---@param part userdata
---@param source userdata its file
---@param mine table options of profio.open
function file_sums.limit_memory(state, part, source, mine)
   local size = source:size()
   state.awake = state.awake + (size <= COPIED and size or MAPPED)
   if state.awake > AWAKE and part.sleep and not mine.live then
      part:sleep()
   end
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
   file_sums.limit_memory(state, part, source, mine)
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

---Ends the opening of a trace: from here on the files of sums are opened when `parts` or `sources`
---is read.
---@param state table of the trace
---@param mine table options of profio.open
function file_sums.finish(state, mine)
   if not state.sums then
      return
   end
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

-- }======

---Returns parts whose profiles add up to that of the trace: its files, or sums of them.
---@param state table of the trace
---@return userdata[]
function file_sums.parts(state)
   return state.summed_parts or state.parts
end

---Returns the sources of files that are open.
---@param state table of the trace
---@return userdata[]
function file_sums.sources(state)
   return state.first_sources or state.sources
end

-- Returns a count of all added files together, each of which has `of_one`, the count of the file
-- that they are like, but its own number of arcs.
local function count_of(described, name, of_one)
   local arcs = with_arcs[name] and described.like:fact "arcs" or 0
   return #described.paths * (of_one - arcs) + (with_arcs[name] and described.arcs or 0)
end

---Calls a function for each file that is a part of its own, and for each sum.
---@param state table of the trace
---@param of_part fun(part: userdata, index: integer) with the index of the path
---@param of_sum fun(described: profio.FileSum)|nil
function file_sums.each(state, of_part, of_sum)
   local index = 0
   for i, part in ipairs(file_sums.parts(state)) do
      local described = state.sums and state.sums[i]
      if not described then
         of_part(part, index + 1)
      elseif of_sum then
         of_sum(described)
      end
      index = index + (described and #described.paths or 1)
   end
end

---Returns the header fields of all files: those of the first that has them, and the sums of counts.
---@param state table of the trace
---@param counted table<string, any> the names of counts
---@return table<string, any>
function file_sums.info(state, counted)
   local info = {}
   file_sums.each(state, function(part)
      part:add_info(info, counted)
   end, function(described)
      for name in pairs(counted) do
         local of_one = described.like:fact(name)
         info[name] = of_one and info[name] + count_of(described, name, of_one) or info[name]
      end
   end)
   return info
end

---Returns the number of rows of a table, or nil if only reading it would tell.
---@param state table of the trace
---@param name string
---@return integer|nil
function file_sums.row_count(state, name)
   local total = 0
   local function add(rows)
      total = total and rows and total + rows
   end
   file_sums.each(state, function(part)
      add(part:rows(name))
   end, function(described)
      local of_one = described.like:rows(name)
      add(of_one and count_of(described, name, of_one))
   end)
   return total
end

return file_sums
