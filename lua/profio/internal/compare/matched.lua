-- Matches the rows of all runs of a comparison: the same function of every run is one item.
--
-- A function is known by its name, and by its file where the runs of one side have the name in
-- several files. The files of the two sides are matched as for --diff (internal/bodies/matching):
-- a name that each side has in one file only is the same function, whatever the files are. A name
-- that is a position in a file becomes that of the new side before.

local matching = require "profio.internal.bodies.matching"
local positions = require "profio.internal.naming.positions"
local run_weights = require "profio.internal.compare.run_weights"

local matched = {}

---A function, file, line, stack or area with its weight in each run.
---@class profio.ComparedItem
---@field key string
---@field name string
---@field item string|nil the key of an area in statistics of calls
---@field file string|nil of the new side, else of the base
---@field line integer|nil
---@field self { base: number[], new: number[] } weight in each run, in the order of the runs
---@field total { base: number[], new: number[] }|nil the same with callees
---@field is_in { base: boolean, new: boolean } whether a run of the side has it

-- {====== Files ======

local function id_of(row)
   return row.file and row.name .. "\0" .. row.file or row.name
end

-- Returns the distinct functions of the runs of one side, numbered, and their numbers.
local function frames_of(runs)
   local frames, numbers = {}, {}
   for _, run in ipairs(runs) do
      for _, row in ipairs(run.rows) do
         local id = id_of(row)
         if not numbers[id] then
            numbers[id] = #frames + 1
            frames[#frames + 1] = { number = #frames + 1, id = id, ["function"] = row.name,
               file = row.file, line = row.line }
         end
      end
   end
   return frames, numbers
end

-- Returns the new files of old ones: those to which all functions of a file that the other side
-- has, too, belong now.
local function files_by_file(frames, renamed, others)
   local file_of = {}
   for _, frame in ipairs(frames) do
      local other = renamed[frame.number] or others[frame.id] and frame
      if other and frame.file then
         local is_same = file_of[frame.file] == nil or file_of[frame.file] == other.file
         file_of[frame.file] = is_same and other.file or false
      end
   end
   return file_of
end

-- Returns a function that returns the file of a row as the comparison calls it. A function that is
-- not matched is in the file in which the others of its file are now.
local function files_of(frames, numbers, renamed, others)
   local file_of = files_by_file(frames, renamed or {}, others)
   return function(row)
      if not row.file and not renamed then
         return nil
      end
      local other = renamed and renamed[numbers[id_of(row)]]
      return other and other.file or row.file and file_of[row.file] or row.file
   end
end

-- Returns for each side the function that gives the matched file of a row.
local function matched_files(runs)
   local new_frames, of_new = frames_of(runs.new)
   local base_frames, of_base = frames_of(runs.base)
   local new, base = matching.renamings(new_frames, base_frames, false)
   return { new = files_of(new_frames, of_new, new, of_base),
      base = files_of(base_frames, of_base, base, of_new) }
end

-- Returns the names that are in several of the matched files, or of areas with several keys.
local function ambiguous_names(runs, file_of)
   local first, ambiguous = {}, {}
   for side, list in pairs(runs) do
      for _, run in ipairs(list) do
         for _, row in ipairs(run.rows) do
            local place = row.item or file_of[side](row) or ""
            if first[row.name] == nil then
               first[row.name] = place
            elseif first[row.name] ~= place then
               ambiguous[row.name] = true
            end
         end
      end
   end
   return ambiguous
end

-- }======

-- {====== Keys ======

-- Returns the key and the shown name of a row, by what the comparison is.
local keys = {}

keys["function"] = function(row, file, ambiguous)
   return ambiguous[row.name] and row.name .. "\0" .. (file or "") or row.name, row.name
end

function keys.file(_, file)
   return file or "(no file)", file or "(no file)"
end

function keys.line(row, file)
   local name = ("%s:%s"):format(file or "?", row.line or "?")
   return name, name
end

function keys.stack(row)
   return row.path, row.name
end

function keys.area(row, _, ambiguous)
   return ambiguous[row.name] and row.item or row.name, row.name
end

keys.context = keys.area

-- }======

local function empty(count)
   local list = {}
   for i = 1, count do
      list[i] = 0
   end
   return list
end

local function added(items, key, runs)
   local function both()
      return { base = empty(#runs.base), new = empty(#runs.new) }
   end
   local item = { key = key, self = both(), total = both(), is_in = {} }
   items[key], items[#items + 1] = item, item
   return item
end

-- Adds the weights of one run to the items.
local function add_run(items, runs, side, number, key_of, file_of, has_total)
   for _, row in ipairs(runs[side][number].rows) do
      local file = file_of(row)
      local key, name = key_of(row, file)
      local item = items[key] or added(items, key, runs)
      item.self[side][number] = item.self[side][number] + row.self
      if row.total and has_total and item.total then
         item.total[side][number] = item.total[side][number] + row.total
      else
         item.total = nil
      end
      item.name, item.item, item.file, item.line = name, row.item, file, row.line
      item.is_in[side] = true
   end
end

-- Gives functions of the base whose names are positions those that they have in the new runs.
local function rename_positions(runs, by)
   local names = { base = {}, new = {} }
   for side, set in pairs(names) do
      for _, run in ipairs(runs[side]) do
         run_weights.add_names(run, set)
      end
   end
   local renamed = positions.renaming(names.base, names.new)
   for _, run in ipairs(next(renamed) and runs.base or {}) do
      run_weights.rename(run, by, renamed)
   end
end

---Returns the items of the runs, those of the base first, each in the order of their first run.
---@param runs { base: profio.WeighedRun[], new: profio.WeighedRun[] } those of the base may be
---renamed
---@param by string function, area, context, line, file or stack
---@return profio.ComparedItem[]
function matched.items(runs, by)
   rename_positions(runs, by)
   local file_of = matched_files(runs)
   local ambiguous = ambiguous_names(runs, file_of)
   local items = {}
   local function key_of(row, file)
      return keys[by](row, file, ambiguous)
   end
   for _, side in ipairs { "base", "new" } do
      for number in ipairs(runs[side]) do
         add_run(items, runs, side, number, key_of, file_of[side], by ~= "file" and by ~= "line")
      end
   end
   local list = {}
   for i, item in ipairs(items) do
      list[i] = item
   end
   return list
end

return matched
