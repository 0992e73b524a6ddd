-- Many files of one program are added up while they are opened (adding.lua): of formats with
-- `sum_options`, which is gmon. A profile needs only the sum, so the files become parts of the
-- trace only when something else asks for parts. Called by opening/open.lua and internal/trace.lua,
-- which close the parts and the sources, by internal/table_readers.lua and cli/runs.lua.
--
-- A trace with sums has `summed_parts`, in which a sum stands for consecutive files; `sums`, which
-- describes each sum by its index there; and `first_sources`, the sources of the files that are no
-- part of a sum. The fields `parts` and `sources` do not exist until the first access, which opens
-- the files of all sums.

local later = require "profio.internal.later"
local adding = later "profio.internal.several.adding"

local file_sums = {}

---@class profio.FileSum
---@field sum userdata of core.file_sum
---@field like profio.core.Part the file before it: the added ones differ from it only in counts
---@field paths string[]
---@field arcs integer rows of table arcs in the added files

local FEW = 16 -- so many remaining files, or fewer, are opened one by one

-- The counts, of facts and of tables, that contain the number of arcs, which differs from file to
-- file; all other counts are equal in all files of a sum.
local with_arcs = { arcs = true, records = true, raw = true }

-- {====== Opening ======

---Adds up the files of a list of inputs from one on that are like a file that is open.
---@param state table of the opening
---@param list profio.Input[]
---@param from integer index of the first
---@param mine table options of profio.open
---@return integer next index of the first input that was not added
function file_sums.add(state, list, from, mine)
   if #list - from < FEW then
      return from
   end
   return adding.add(state, list, from, mine)
end

---Ends the opening of a trace: from here on the files of sums are opened when `parts` or `sources`
---is read.
---@param state table of the trace
---@param mine table options of profio.open
function file_sums.finish(state, mine)
   if state.sums then
      adding.finish(state, mine)
   end
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
