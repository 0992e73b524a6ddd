-- The functions of a program that were never called, and what may be wrong with that list: gprof
-- counts calls only in code that was compiled with -pg, and only those that this code makes.

local conditions = require "profio.internal.conditions"
local texts = require "profio.internal.texts"
local view_warnings = require "profio.internal.views.view_warnings"
local views = require "profio.internal.views"

local uncalled = {}

local FEW <const> = 3 -- files that a note names

-- Symbols that are no functions of the program: stubs of calls into shared libraries, and the parts
-- of functions that the compiler moved away because they rarely run.
local no_functions = { "@plt$", "^%.i?plt", "%.cold%.?%d*$" }

-- Returns the rows, without notes.
local function rows_of(profile)
   local rows = profile:functions { zeros = true }:where { is_used = false }
   for _, pattern in ipairs(no_functions) do
      rows = rows:where { symbol = conditions.no(conditions.match(pattern)) }
   end
   return rows:sort("file", "line", "address")
end

-- Returns the files of functions of which calls were counted, as a set.
local function counted_files(profile)
   local files = {}
   local columns = { "file", "calls", "recursive_calls" }
   for file, calls, own in profile:functions():each(table.unpack(columns)) do
      if file and (calls > 0 or own > 0) then
         files[file] = true
      end
   end
   return files
end

-- Returns the files with unused functions and without a counted call, in order, and the number of
-- these functions; then the number of unused functions without a file.
local function uncounted(profile, rows)
   local counted, files, known = counted_files(profile), {}, {}
   local functions, homeless = 0, 0
   for file in rows:each "file" do
      if not file then
         homeless = homeless + 1
      elseif not counted[file] then
         functions = functions + 1
         if not known[file] then
            known[file], files[#files + 1] = true, texts.base_name(file)
         end
      end
   end
   return files, functions, homeless
end

-- Adds the notes about rows that may be wrong to the views of the profile.
local function note(profile, rows)
   local files, functions, homeless = uncounted(profile, rows)
   if functions > 0 then
      local more = #files > FEW and (" and %d more"):format(#files - FEW) or ""
      view_warnings.note(profile, "profile-uncounted", ("%s listed as never called %s in files of "
         .. "which no call is counted (%s%s): without -pg these may have run"):format(
            texts.counted(functions, "function"), functions == 1 and "is" or "are",
            table.concat(files, ", ", 1, math.min(FEW, #files)), more))
   end
   if homeless > 0 then
      view_warnings.note(profile, "profile-unlocated", ("%s listed as never called %s no known "
         .. "source file: in the C library, and in code without -pg, no calls are counted, so "
         .. "these may have run"):format(texts.counted(homeless, "function"),
            homeless == 1 and "has" or "have"))
   end
   if rows:limit(1):count() > 0 then
      view_warnings.note(profile, "profile-uncounted-callers", "calls by shared libraries "
         .. "(callbacks, signal handlers) and inlined calls are not counted: functions that are "
         .. "only called so may be listed as never called")
   end
end

---Returns the functions that were never called: see profile:unused.
---@param profile profio.Profile
---@return profio.View
function uncalled.view(profile)
   return views.over(function()
      local rows = rows_of(profile)
      note(profile, rows)
      return rows:reader()
   end, profile)
end

return uncalled
