-- The two sides of profio compare: which words of the command line are files, executables and
-- conditions of runs, and the runs that they stand for.

local conflicts = require "profio.cli.conflicts"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local messages = require "profio.cli.messages"
local progress = require "profio.cli.progress"
local run_weights = require "profio.internal.compare.run_weights"
local runs = require "profio.cli.runs"
local warnings = require "profio.cli.warnings"

local sides = {}

-- {====== Words ======

local function is_path(word)
   return word == "-" or core.kind(word) ~= nil
end

-- A word that is no file and has the form of a condition selects runs of a store.
local function is_condition(word)
   return not is_path(word) and word:find "^[%w_][%w_.:/-]*%s*!?[=~<>]" ~= nil
end

-- Raises for a word that is no file and may be a version in a store.
local function check_word(word)
   if word:find "^[%w_-]+$" and not is_path(word) then
      failure.raise(failure.NOTHING, ("%s: No such file or directory; runs of a store are selected "
         .. "by a label, as in version=%s (profio store labels STORE)"):format(word, word))
   end
end

-- Splits the words of a side into files and conditions.
local function parted(words)
   local paths, conditions = {}, {}
   for _, word in ipairs(words) do
      check_word(word)
      local list = is_condition(word) and conditions or paths
      list[#list + 1] = word
   end
   return paths, conditions
end

local function joined(a, b)
   return table.move(b, 1, #b, #a + 1, table.move(a or {}, 1, #(a or {}), 1, {}))
end

-- Returns whether words name a trace beside executables.
local function has_trace(paths)
   for _, path in ipairs(paths) do
      if not core.is_executable(path) then
         return true
      end
   end
   return false
end

-- Sides with conditions may share a store: the side that names no trace reads that of the other.
local function share(base, new, base_conditions, new_conditions)
   if not has_trace(base) and base_conditions[1] then
      return joined(base, new), new
   elseif not has_trace(new) and new_conditions[1] then
      return base, joined(new, base)
   end
   return base, new
end

---Sets the files, the older files and the conditions of both sides, as the flat form with --diff
---has them. Conditions of --run are for both sides, unless --diff-run has those of the old one.
---Words before --base and --new are of the base.
---@param given table
function sides.prepare(given)
   local base, base_conditions = parted(joined(given.files, given.base))
   local new, new_conditions = parted(given.new)
   if #base + #base_conditions == 0 or #new + #new_conditions == 0 then
      failure.use("compare: the %s runs are missing, as in profio compare OLD... --new NEW...",
         #new + #new_conditions == 0 and "new" or "old")
   end
   base, new = share(base, new, base_conditions, new_conditions)
   for _, side in ipairs { { "old", base }, { "new", new } } do
      if not has_trace(side[2]) then
         failure.use("compare: no file of %s runs is named", side[1])
      end
   end
   given.files, given.diff, given.diff_followers = new, base, {}
   local has_own = given.diff_run and given.diff_run[1]
   given.diff_run = joined(has_own and given.diff_run or given.run, base_conditions)
   given.run = joined(given.run, new_conditions)
end

-- }======

-- {====== Runs ======

-- Returns the distinct paths, in their order: both sides may name one store.
local function distinct(paths)
   local known, list = {}, {}
   for _, path in ipairs(paths) do
      list[#list + 1] = not known[path] and path or nil
      known[path] = true
   end
   return list
end

-- Reads the runs of one file; returns whether it is damaged.
local function add_file(list, path, side, given, options, err)
   local interrupt <close> = core.interrupt()
   local trace <close> = failure.check(files.one(path, files.opening(given, side), given))
   conflicts.check_symbols("compare", given, trace)
   progress.watch(trace, interrupt, given, err)
   if #(side.run or {}) > 0 and trace.format ~= "store" then
      failure.use("compare: %s selects runs of a store, and %s is none", side.run[1], path)
   end
   local found = failure.check(run_weights.all_of(trace, options))
   table.move(found, 1, #found, #list + 1, list)
   if interrupt:wait(0) then
      failure.raise(failure.NOTHING, "interrupted: nothing was compared")
   end
   return warnings.report(trace, err)
end

---Reads the runs of both sides.
---@param given table
---@param options table of profio.compare, checked
---@param err file* for warnings
---@return { base: profio.WeighedRun[], new: profio.WeighedRun[] } runs
---@return string heading the files of each side
---@return boolean has_damage
function sides.read(given, options, err)
   local new, old = runs.of(given)
   local read, has_damage, number = { base = {}, new = {} }, false, 0
   local paths = { base = distinct(old.traces), new = distinct(new.traces) }
   local show = progress.of_files(#paths.base + #paths.new, given, err)
   for _, side in ipairs { "base", "new" } do
      local of = side == "base" and old or new
      of.run = of.run and #of.run > 0 and of.run or nil
      for _, path in ipairs(paths[side]) do
         has_damage = add_file(read[side], path, of, given, options, err) or has_damage
         number = number + 1
         show(number)
      end
      if #read[side] == 0 then
         failure.raise(failure.NOTHING, ("compare: no run of %s is selected"):format(
            table.concat(of.traces, " ")))
      end
   end
   return read, runs.heading(new, old), has_damage
end

---Opens the traces of both sides again if each side is one file and not a run of a store.
---@param given table
---@return profio.Trace[] traces the new and the old one; none if there are several
function sides.traces(given)
   local new, old = runs.of(given)
   if #distinct(new.traces) > 1 or #distinct(old.traces) > 1 or (new.run or {})[1]
      or (old.run or {})[1] then
      return {}
   end
   local first = failure.check(files.one(new.traces[1], files.opening(given, new), given))
   return { first, (failure.check(files.one(old.traces[1], files.opening(given, old), given))) }
end

---Writes the reasons for care to standard error.
---@param list string[]
---@param err file*
function sides.warn(list, err)
   for _, text in ipairs(list) do
      messages.say(err, "compare: " .. text)
   end
end

-- }======

return sides
