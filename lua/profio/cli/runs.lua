-- Assigns the files of a command line to the new runs and, with --diff, the old ones. Each side has
-- its own program; executables are recognised by their first bytes.

local command_options = require "profio.cli.command_line"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local file_sums = require "profio.internal.several.file_sums"
local plain = require "profio.internal.plain"
local traces_of = require("profio.internal.trace").of

local runs = {}

-- Of more files than MANY, only this many at both ends are examined before they are opened.
local MANY, AT_ENDS = 64, 8

---@class profio.Side
---@field traces string[]
---@field exe string|nil
---@field symbols string|nil
---@field mapping string|nil
---@field load_bias string|nil
---@field run string[]|nil conditions of the runs of a store
---@field is_unsure boolean|nil an executable may be among the traces: see runs.settle

-- Returns the path that is read if no trace is named: gmon.out in the current directory, else the
-- database of DCPI in the environment variable DCPIDB. Without both it is a usage error.
local function default(exe)
   local database = os.getenv "DCPIDB"
   local has_gmon = core.kind("gmon.out") == "file"
   if database and database ~= "" and not has_gmon then
      return database
   elseif not has_gmon then
      failure.use("no FILE is given%s, and there is no gmon.out here\n%s",
         exe and " besides the executable " .. exe or "", (exe and "profio help gprof-questions "
            .. "says why a program may have written none\n" or "") .. command_options.usage)
   end
   return "gmon.out"
end

-- Splits paths, or sources, into traces and executables, in their order. With `is_quick` only those
-- at the ends are examined, and the others are taken for traces.
local function parted(paths, is_quick)
   local traces, executables, i = {}, {}, 1
   while paths[i] do
      if is_quick and i == AT_ENDS + 1 then
         local count = #paths - 2 * AT_ENDS
         table.move(paths, i, i + count - 1, #traces + 1, traces)
         i = i + count
      end
      local list = core.is_executable(paths[i]) and executables or traces
      list[#list + 1] = paths[i]
      i = i + 1
   end
   return traces, executables
end

-- {====== Programs ======

-- Returns the program of a side: that of the option, else the next one of the list.
local function next_program(option, list)
   local exe = option
   if list[1] and (exe == nil or exe == list[1]) then
      exe = table.remove(list, 1)
   end
   return exe
end

local function check_no_more(exe, list, hint)
   if list[1] then
      failure.use("two executables: %s and %s%s", exe, list[1], hint)
   end
end

-- Sets the program of the old side. By default it is that of the new side: two runs of one program.
local function old_program(old, new, given)
   if old.exe or old.symbols then
      old.load_bias = given.diff_load_bias
      return
   end
   old.exe, old.symbols = new.exe, new.symbols
   old.load_bias = given.diff_load_bias or new.load_bias
end

-- }======

-- {====== --diff ======

local old_options = { "exe", "symbols", "mapping", "load_bias", "run" }

-- Refuses options of the old side without --diff.
local function check_no_old(given)
   for _, name in ipairs(old_options) do
      if given["diff_" .. name] then
         failure.use("--diff-%s is for the files of --diff: give --diff FILE too",
            (name:gsub("_", "-")))
      end
   end
end

-- A shell expands `--diff old* new` to `--diff old1 old2 new`, which would read old2 as a new run.
-- Files that directly follow `--diff FILE` are accepted as new runs only if there is one trace.
local function check_sides(given, traces)
   for _, words in ipairs(given.diff_followers or {}) do
      local following = parted(words)
      if #following > 0 and #traces > 1 then
         failure.use("--diff takes one FILE, and it is not certain that %s is a new run: write "
            .. "--diff=FILE for each old run (--diff=old1 --diff=old2 new), or -- before the new "
            .. "ones (--diff old -- new1 new2)", following[1])
      end
   end
end

-- Returns the old side: the files of --diff, and the second executable of the command line.
local function old_side(given, new, executables)
   local traces, own = parted(given.diff)
   if #traces == 0 then
      failure.use("--diff: %s is an executable, no trace; the program of the old runs is given by "
         .. "--diff-exe", given.diff[1])
   end
   local old = { traces = traces, symbols = given.diff_symbols,
      mapping = given.diff_mapping or new.mapping, run = given.diff_run or new.run }
   old.exe = next_program(next_program(given.diff_exe, own), executables)
   check_no_more(old.exe, own, " for the old runs")
   check_no_more(old.exe, executables, ": --exe names the new one and --diff-exe the old one")
   old_program(old, new, given)
   return old
end

-- }======

---Returns the runs of a command line; raises if the side of a file is not certain.
---@param given table of options.parse
---@param settles boolean|nil the caller opens the new side and then calls runs.settle
---@return profio.Side new
---@return profio.Side|nil old  nil without --diff
function runs.of(given, settles)
   local is_quick = settles and not given.diff and #given.files > MANY
   local traces, executables = parted(given.files, is_quick)
   local new = { is_unsure = is_quick, traces = traces, exe = next_program(given.exe, executables),
      symbols = given.symbols, mapping = given.mapping, load_bias = given.load_bias,
      run = given.run }
   if not given.diff then
      check_no_old(given)
      check_no_more(new.exe, executables, "")
   else
      check_sides(given, traces)
   end
   local old = given.diff and old_side(given, new, executables)
   if #traces == 0 then
      traces[1] = default(new.exe)
   end
   return new, old
end

---Examines files that have been taken for traces without being examined, except those of a sum,
---which are traces. If there is an executable among them, the side must be opened again.
---@param given table of options.parse
---@param side profio.Side
---@param trace profio.Trace|nil of the side; nil: it could not be opened
---@return boolean is_new the side has changed
function runs.settle(given, side, trace)
   if not side.is_unsure then
      return false
   end
   side.is_unsure = false
   local _, executables = parted(trace and file_sums.sources(traces_of(trace)) or side.traces)
   if #executables > 0 then
      side.traces, executables = parted(given.files)
      side.exe = next_program(given.exe, executables)
      check_no_more(side.exe, executables, "")
      return true
   end
   return false
end

-- Returns the files of one side as a line, the program first.
local function line_of(label, side)
   local words = {}
   for _, list in ipairs { { side.symbols }, { side.exe }, side.traces, side.run or {} } do
      for _, word in ipairs(list) do
         words[#words + 1] = plain(word)
      end
   end
   return label .. table.concat(words, " ") .. "\n"
end

---Returns the heading of a comparison: a line with the files of each side.
---@param new profio.Side
---@param old profio.Side
---@return string
function runs.heading(new, old)
   return line_of("new: ", new) .. line_of("old: ", old) .. "\n"
end

return runs
