-- Prints the coverage of the C core in a build with --coverage, and fails if it is
-- below the bounds. Run by `make coverage` from the root:
--
--   lua5.4 spec/support/coverage.lua BUILD             one line for each file, then all
--   lua5.4 spec/support/coverage.lua BUILD FILE...     the lines of files that did not run
--
-- Code in headers counts once, even if several files include it. luaL_argcheck does not
-- return if its condition fails, so the branches on its result are not counted.

local json = require "dkjson"

-- The functions that do not run, by file. All others must run.
local never_run = {
   ["csrc/bytes/map.c"] = { pass_on = "a fault outside of our mappings ends the process" },
   ["csrc/lua/writer/emitter.c"] =
      { put_other = "no format with a ring has columns of these types" },
   ["csrc/model/writer/writer.c"] =
      { fail_without_space = "rows are checked before, in the emitter" },
}

local bounds = { lines = 0.97, branches = 0.90, lines_of_file = 0.85 }

-- By file, the numbers of the lines that call luaL_argcheck.
local checks = setmetatable({}, { __index = function(all, name)
   local lines, number = {}, 0
   for text in io.lines(name) do
      number = number + 1
      lines[number] = text:find("luaL_argcheck(", 1, true) and true or nil
   end
   all[name] = lines
   return lines
end })

---Returns the number of branches of a line that can be taken: all except the last two of
---luaL_argcheck.
local function branches_of(name, line)
   return #line.branches - (checks[name][line.line_number] and 2 or 0)
end

-- How often functions ran: functions[file][name].
local functions = {}

local function add_functions(name, list)
   functions[name] = functions[name] or {}
   for _, f in ipairs(list) do
      functions[name][f.name] = (functions[name][f.name] or 0) + f.execution_count
   end
end

---Compares the functions with the list above.
---@return boolean fine
local function check_functions()
   local faults = {}
   for file, list in pairs(functions) do
      local known = never_run[file] or {}
      for name, count in pairs(list) do
         if (count == 0) ~= (known[name] ~= nil) then
            faults[#faults + 1] = ("%s: %s %s"):format(file, name,
               count == 0 and "is never run" or "runs: take it off the list")
         end
      end
   end
   for file, known in pairs(never_run) do
      for name in pairs(known) do
         if not (functions[file] and functions[file][name]) then
            faults[#faults + 1] = ("%s: there is no function %s"):format(file, name)
         end
      end
   end
   table.sort(faults)
   print(table.concat(faults, "\n"))
   return #faults == 0
end

---Add the counts of gcov for one compiled file to `files`, by path.
local function add_object(files, object)
   for _, file in ipairs(object.files) do
      local name = file.file:match "%f[%w]csrc/.*"
      if name then
         add_functions(name, file.functions)
         local lines = files[name] or {}
         files[name] = lines
         for _, line in ipairs(file.lines) do
            local sum = lines[line.line_number] or { count = 0, branches = {} }
            lines[line.line_number] = sum
            sum.count = sum.count + line.count
            for i = 1, branches_of(name, line) do
               local key = (line.function_name or "") .. i
               sum.branches[key] = (sum.branches[key] or 0) + line.branches[i].count
            end
         end
      end
   end
end

---Reads the counts of all compiled files with gcov; functions that did not run have 0.
---@return table<string, table<integer, { count: integer, branches: table<string, integer> }>> files
local function read_counts(build)
   local files = {}
   local pipe <close> = assert(io.popen(("find %s/obj -name '*.gcno' | sort | xargs gcov"
      .. " --branch-probabilities --json-format --stdout 2>/dev/null"):format(build)))
   for text in pipe:lines() do
      add_object(files, assert(json.decode(text)))
   end
   assert(next(files), "no counts below " .. build .. "/obj")
   return files
end

---@return { lines: integer, lines_run: integer, branches: integer, branches_run: integer } sum
local function sum_of(lines)
   local sum = { lines = 0, lines_run = 0, branches = 0, branches_run = 0 }
   for _, line in pairs(lines) do
      sum.lines = sum.lines + 1
      sum.lines_run = sum.lines_run + (line.count > 0 and 1 or 0)
      for _, count in pairs(line.branches) do
         sum.branches = sum.branches + 1
         sum.branches_run = sum.branches_run + (count > 0 and 1 or 0)
      end
   end
   return sum
end

local function share(part, whole)
   return whole == 0 and 1 or part / whole
end

local function print_sum(sum, name)
   print(("%6.1f %%  %5d of %5d lines  %6.1f %%  %5d of %5d branches  %s"):format(
      100 * share(sum.lines_run, sum.lines), sum.lines_run, sum.lines,
      100 * share(sum.branches_run, sum.branches), sum.branches_run, sum.branches, name))
end

---Prints the files, the smallest share of lines last, and the sum.
---@return boolean fine whether all bounds are met
local function print_report(files)
   local list, all = {}, { lines = 0, lines_run = 0, branches = 0, branches_run = 0 }
   for name, lines in pairs(files) do
      local sum = sum_of(lines)
      list[#list + 1] = { name = name, sum = sum, share = share(sum.lines_run, sum.lines) }
      for key, count in pairs(sum) do
         all[key] = all[key] + count
      end
   end
   table.sort(list, function(a, b)
      return a.share > b.share or a.share == b.share and a.name < b.name
   end)
   for _, file in ipairs(list) do
      print_sum(file.sum, file.name)
   end
   print_sum(all, "all files")
   local lowest = list[#list]
   print(("bounds: %g %% of lines, %g %% of branches, %g %% of the lines of each file; lowest: %s")
      :format(100 * bounds.lines, 100 * bounds.branches, 100 * bounds.lines_of_file, lowest.name))
   return share(all.lines_run, all.lines) >= bounds.lines
      and share(all.branches_run, all.branches) >= bounds.branches
      and lowest.share >= bounds.lines_of_file
end

---Prints the lines of a file that did not run (#), or whose branches did not all run (2/4).
local function print_missing(name, lines)
   local number = 0
   for text in io.lines(name) do
      number = number + 1
      local line = lines[number]
      local taken, all = 0, 0
      for _, count in pairs(line and line.branches or {}) do
         taken, all = taken + (count > 0 and 1 or 0), all + 1
      end
      if line and (line.count == 0 or taken < all) then
         print(("%s:%d: %-4s %s"):format(name, number,
            line.count == 0 and "#" or taken .. "/" .. all, text))
      end
   end
end

local files = read_counts(arg[1])
for i = 2, #arg do
   print_missing(arg[i], assert(files[arg[i]], arg[i] .. " has no counts"))
end
if #arg == 1 then
   local fine = check_functions()
   os.exit(print_report(files) and fine)
end
