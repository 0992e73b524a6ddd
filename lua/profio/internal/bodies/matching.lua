-- Matches the functions of two profiles. A name that each profile has in one file only is the same
-- function, whatever the files are: the program may have been built in another folder, or the
-- function moved. A name in several files is matched file by file, by the longest common end of the
-- paths. Functions whose name is their position are matched by their order in the file.

local core = require "profio.core"
local counts = require "profio.internal.bodies.counts"
local positions = require "profio.internal.naming.positions"

local matching = {}

-- {====== Files of names ======

-- Returns the files of each name: { [name] = { file or false, ... } }, and the lines: { [name] =
-- { [file or false] = line, or false if there are several } }.
local function places_of(frames)
   local files, lines = {}, {}
   for _, frame in ipairs(frames) do
      local name, file = frame["function"], frame.file or false
      local known = lines[name]
      if not known then
         files[name], lines[name] = { file }, { [file] = frame.line or false }
      elseif known[file] == nil then
         table.insert(files[name], file)
         known[file] = frame.line or false
      elseif known[file] ~= frame.line then
         known[file] = false
      end
   end
   return files, lines
end

-- Returns how many path components at the end two paths share; equal paths share all.
local function shared_end(a, b)
   if a == b then
      return math.huge
   elseif not a or not b then
      return 0
   end
   local count, rest_a, rest_b = 0, a, b
   while rest_a and rest_b do
      local last_a, last_b = rest_a:match "[^/\\]*$", rest_b:match "[^/\\]*$"
      if last_a ~= last_b then
         return count
      end
      count = count + 1
      rest_a, rest_b = rest_a:match "^(.*)[/\\]", rest_b:match "^(.*)[/\\]"
   end
   return count
end

-- Returns the path that shares the longest end with `file`; nil: none, or several do.
local function nearest(file, others)
   local best, most, is_only = nil, 0, true
   for _, other in ipairs(others) do
      local count = shared_end(file, other)
      if count > most then
         best, most, is_only = other, count, true
      elseif count == most then
         is_only = false
      end
   end
   if most == 0 or not is_only then
      return nil
   end
   return best
end

-- Returns the new file that corresponds to an old file; nil: the old one is kept.
local function file_for(file, new_files, old_files)
   if #new_files == 1 and #old_files == 1 then
      return new_files[1] or nil
   end
   local found = file and nearest(file, new_files)
   return found and nearest(found, old_files) == file and found or nil
end

-- }======

local function names_of(frames)
   local names = {}
   for _, frame in ipairs(frames) do
      names[frame["function"]] = true
   end
   return names
end

-- Returns frames of the old profile with the names that functions called by position have in the
-- new one; `is_renamed` marks them.
local function at_new_positions(old_frames, new_frames)
   local renaming, list = positions.renaming(names_of(old_frames), names_of(new_frames)), {}
   for i, frame in ipairs(old_frames) do
      local name = renaming[frame["function"]]
      list[i] = not name and frame or { number = frame.number, ["function"] = name,
         file = frame.file, line = frame.line, is_renamed = true }
   end
   return list
end

-- Returns the function, file and line in the new profile for frames of the old one, by frame id,
-- for frames that differ; nil if none differs.
local function renamed(old_frames, new, old, new_lines)
   local list
   for _, frame in ipairs(old_frames) do
      local name = frame["function"]
      local files = new[name]
      local file = files and file_for(frame.file or false, files, old[name])
      local line = new_lines and file and new_lines[name][file] or frame.line
      if frame.is_renamed or file and (file ~= frame.file or line ~= frame.line) then
         list = list or {}
         list[frame.number] = { ["function"] = name, file = file or frame.file, line = line }
      end
   end
   return list
end

-- Returns frames of the new profile that lack a file which the old one knows.
local function completed(new_frames, new, old)
   local list
   for _, frame in ipairs(new_frames) do
      local name = frame["function"]
      local files = not frame.file and #new[name] == 1 and old[name]
      if files and #files == 1 and files[1] then
         list = list or {}
         list[frame.number] = { ["function"] = name, file = files[1], line = frame.line }
      end
   end
   return list
end

---Returns how frames of two profiles are renamed so that the same functions have the same name and
---file.
---@param new_frames table[] { number =, function =, file =, line = }
---@param old_frames table[]
---@param has_functions boolean|nil frames are functions, whose line is their beginning: equal
---functions get the line of the new side
---@return table<integer, table>|nil of_new function, file and line by number of a frame; nil: none
---@return table<integer, table>|nil of_old
function matching.renamings(new_frames, old_frames, has_functions)
   old_frames = at_new_positions(old_frames, new_frames)
   local new_files, new_lines = places_of(new_frames)
   local old_files = places_of(old_frames)
   return completed(new_frames, new_files, old_files),
      renamed(old_frames, new_files, old_files, has_functions and new_lines)
end

---Returns two sets of contexts in which the same functions have the same file.
---@param new profio.core.Contexts
---@param old profio.core.Contexts
---@param has_functions boolean|nil as of renamings
---@return profio.core.Contexts new
---@return profio.core.Contexts old
function matching.align(new, old, has_functions)
   local of_new, of_old = matching.renamings(new:frames(), old:frames(), has_functions)
   return of_new and assert(new:rename(of_new, true)) or new,
      of_old and assert(old:rename(of_old, true)) or old
end

---Returns the costs of the functions of a profile as a profile of single frames, with the metric
---names that flat_diff expects.
---@param body table of the profile
---@param flat fun(metric: string|nil): profio.core.Reader
---@param metric string|nil
---@param suffix string of the names of the metrics
---@param divided integer the number of runs by which the samples of the body have been divided
---@return profio.core.Contexts
---@return string unit of the costs, as of core.unit
function matching.functions(body, flat, metric, suffix, divided)
   local columns = { ["function"] = "function", file = "file" }
   local unit
   local function collected(wanted, metrics)
      columns.reader, columns.metrics = flat(wanted), metrics
      unit = unit or core.unit(columns.reader, "self")
      return assert(core.contexts(columns))
   end
   local made = collected(metric, {
      { name = "self" .. suffix, unit = "", column = "self" },
      { name = "total" .. suffix, unit = "", column = "total" } })
   local counted = counts.of_samples(body:metrics(), metric or body:usual())
   return counted and assert(made:merge(assert(collected(counted,
      { { name = "count" .. suffix, unit = "", column = "self" } }):scale(divided)))) or made, unit
end

return matching
