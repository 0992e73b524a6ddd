-- Changes the C core in one small place at a time and runs the specs: a change
-- that no spec detects (a survivor) shows a missing check. Run by
-- `make mutants` from the root:
--
--   lua5.4 spec/support/mutants.lua TREE COUNT SEED SECONDS [SINCE]
--
-- TREE is a folder for a copy of the project, which is kept for the next run. COUNT
-- mutants are drawn from the lines of csrc/*.c that changed since revision SINCE
-- (default: all); the same SEED draws the same ones. A change that does not compile, or
-- leaves the object code unchanged, is not counted.
--
-- First, all specs run on a build with --coverage, each file of specs separately, to
-- find which of them run a line. Of these, short ones and those that share words with
-- the path of the changed file run first, up to the first failure, and for at most
-- SECONDS; files of over a minute run only if no other one runs the line. A spec that
-- takes several times as long as in the run for coverage has failed, too. A failure
-- counts if the file passes on unchanged code. Survivors run again under the
-- sanitizers, also for at most SECONDS, which detect errors that change no result. The
-- status is always 0: some survivors are changes without any effect.

local function shell_quote(text)
   return "'" .. text:gsub("'", "'\\''") .. "'"
end

---Run a shell command.
---@return boolean fine, integer status
local function run(command, ...)
   local _, _, status = os.execute(command:format(...))
   return status == 0, status
end

local function output_lines(command, ...)
   local list = {}
   local pipe <close> = assert(io.popen(command:format(...)))
   for line in pipe:lines() do
      list[#list + 1] = line
   end
   return list
end

local function read(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:read "a"
end

local function write(path, text)
   local file <close> = assert(io.open(path, "wb"))
   assert(file:write(text))
end

-- The changes: in a line of code, each match of `pattern` is replaced by `by`.
-- clang-format puts blanks around binary operators, so patterns find just these.
local changes = {}

local function swap(kind, from, to)
   changes[#changes + 1] = { kind = kind, pattern = "()" .. from .. "()", by = to }
end

for from, to in pairs { [" < "] = " <= ", [" <= "] = " < ", [" > "] = " >= ", [" >= "] = " > ",
   [" == "] = " != ", [" != "] = " == " } do
   swap("relation", from, to)
end
swap("arithmetic", " %+ ", " - ")
swap("arithmetic", " %- ", " + ")
swap("arithmetic", " %+= ", " -= ")
swap("arithmetic", " %+ 1%f[^%w.]", "")
swap("arithmetic", " %- 1%f[^%w.]", "")
swap("arithmetic", "%+%+", "--")
swap("logic", " && ", " || ")
swap("logic", " || ", " && ")
swap("constant", "%f[%w_]true%f[^%w_]", "false")
swap("constant", "%f[%w_]false%f[^%w_]", "true")
swap("constant", "%f[%w_.]0%f[^%w_.]", "1")
swap("constant", "%f[%w_.]1%f[^%w_.]", "0")
changes[#changes + 1] = { kind = "condition", pattern = "%f[%w]if %(()().*%) ?{?$", by = "!",
   negates = true }
changes[#changes + 1] = { kind = "statement", pattern = "^%s*()[%w_%*][^{}]*;()$", by = ";",
   whole = true }
table.sort(changes, function(a, b) return a.pattern < b.pattern end)

-- Lines that are a statement by themselves follow a line that ended one.
local function begins_statement(before)
   return before:match "[;{}:]%s*$" or before:match "^%s*$" or before:match "else$"
end

---The text with comments and the inside of strings blanked, of the same length.
local function code_of(text)
   local function blank(part)
      return (part:gsub("[^\n]", " "))
   end
   text = text:gsub("/%*.-%*/", blank)
   text = text:gsub('"[^"\n]*"', blank)
   return (text:gsub("'\\?.[^'\n]?'", blank))
end

---Adds each possible change of a line of code to `list`.
local function add_changes(list, file, number, line, before)
   for _, change in ipairs(changes) do
      local at = 1
      while true do
         local _, stop, from, past = line:find(change.pattern, at)
         if not from then
            break
         end
         local word = line:match "^%s*([%w_]+)"
         if not change.whole or begins_statement(before) and word ~= "return" and word ~= "const"
            and word ~= "break" and word ~= "continue" and word ~= "goto" then
            list[#list + 1] = { file = file, line = number, from = from, past = past,
               kind = change.kind, by = change.by, negates = change.negates }
         end
         at = stop + 1
      end
   end
end

---The numbers of the lines that changed since a revision, by file; nil for all.
local function lines_since(revision)
   if not revision then
      return nil
   end
   local changed, file = {}, nil
   for _, line in ipairs(output_lines("git diff -U0 %s -- 'csrc/*.c'", shell_quote(revision))) do
      file = line:match "^%+%+%+ b/(.*)" or file
      local first, count = line:match "^@@ %-%S+ %+(%d+),?(%d*)"
      if first then
         changed[file] = changed[file] or {}
         for number = first, first + (count == "" and 1 or count) - 1 do
            changed[file][number] = true
         end
      end
   end
   return changed
end

---All changes of all files, in the order of files and lines.
local function all_changes(changed)
   local list = {}
   for _, file in ipairs(output_lines "git ls-files 'csrc/*.c' | sort") do
      local number, before, depth = 0, "", 0
      for line in (code_of(read(file)) .. "\n"):gmatch "([^\n]*)\n" do
         number = number + 1
         line = line:gsub("%s+$", "")
         if line:match "^%S" then
            depth = line:match "%)%s*{$" and 1 or 0
         elseif depth > 0 and (not changed or changed[file] and changed[file][number]) then
            add_changes(list, file, number, line, before)
         end
         before = line
      end
   end
   return list
end

---The text of a file after a change, and the changed line before and after.
local function changed_text(change)
   local lines = {}
   for line in (read(change.file)):gmatch "[^\n]*\n" do
      lines[#lines + 1] = line
   end
   local old = lines[change.line]
   local head, tail = old:sub(1, change.from - 1), old:sub(change.past)
   local new = head .. change.by .. tail
   if change.negates then
      new = head .. "!(" .. tail:gsub("%)( ?{?%s*)$", "))%1")
   end
   lines[change.line] = new
   return table.concat(lines), old:match "^%s*(.-)%s*$", new:match "^%s*(.-)%s*$"
end

-- The copy of the project, built without debug information, so that the same
-- object code is the same object file: in build/clean as it is, in build/mutant with
-- one change.
local tree, count, seed = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])
local most_seconds, since = tonumber(arg[4]), arg[5]
local compile = ("make -C %s --no-print-directory -j2 CFLAGS=-O1 WARN=-w"):format(tree)
-- Changed programs may allocate all memory or fill the disk. A browser reserves more addresses
-- than there is memory, so only data is limited.
local limits = "ulimit -d 16000000; ulimit -f 4000000;"

local function object_of(file, build)
   return tree .. "/build/" .. build .. "/obj" .. file:match "^csrc(/.*)%.c$" .. ".o"
end

---The programs that the specs start.
local function programs_of(build)
   local place = "build/" .. build .. "/c/"
   return place .. table.concat({ "kill", "units", "processes.so", "disk.so", "faults",
      "clock.so" }, " " .. place)
end

local function make_tree()
   assert(run("mkdir -p %s && cd %s && rm -rf csrc lua spec examples build/mutant", tree, tree))
   assert(run("git ls-files --cached --others --exclude-standard -z | tar c --null -T -"
      .. " | tar x -C %s", tree), "no copy of the project")
   assert(run("[ ! -d ../shared ] || ln -sfn $(realpath ../shared) %s/../shared", tree))
   assert(run(compile .. " B=build/clean modules %s >/dev/null", programs_of "clean"),
      "the copy does not compile")
   assert(run("cp -a %s/build/clean %s/build/mutant", tree, tree))
end

-- The specs that run under the sanitizers, and the flags of that build: an access out of
-- bounds or a leak changes no result.
local sanitizers = os.getenv "SANITIZERS"
local is_sanitized = {}
for spec in (os.getenv "SANITIZED" or ""):gmatch "%S+" do
   is_sanitized[spec] = true
end

local function build_sanitized()
   return run("make -C %s --no-print-directory -j2 B=build/sanitized CC=gcc WARN=-w CFLAGS=%s"
      .. " build/sanitized/bin/lua5.4 %s >%s/build/said.txt 2>&1", tree, shell_quote(sanitizers),
      programs_of "sanitized", tree)
end

---Runs a file of specs in the tree; under the sanitizers only their reports are failures.
---@return string? how "failed" or "timed out"; nil when it passed
local function run_spec(build, spec, limit)
   local before, options = limits, ""
   if build == "sanitized" then
      local place = "$PWD/build/sanitized/"
      before = ('rm -f %sreport.*; PATH="%sbin:$PATH" ASAN_OPTIONS=log_path="%sreport"'):format(
         place, place, place)
      options = "--ignore-lua "
   end
   local fine, status = run("cd %s && %s PROFIO_BUILD=build/%s timeout -k 5 %d lua5.4 %s %s--run=ci"
      .. " %s >build/said.txt 2>&1 </dev/null", tree, before, build, limit, os.getenv "BUSTED" or
      "/usr/bin/busted", options, spec)
   if fine or build == "sanitized"
      and not run("ls %s/build/sanitized/report.* >/dev/null 2>&1", tree) then
      return nil
   end
   return (status == 124 or status == 137) and "timed out" or "failed"
end

local specs = output_lines "git ls-files 'spec/*_spec.lua'" -- those in the copy
-- Seconds of each file of specs in the run for coverage.
local seconds_of = {}

---The seconds after which a file of specs has failed on changed code.
local function limit_of(spec)
   return 20 + 2 * (seconds_of[spec] or 60)
end

local passes = {} -- by file of specs: whether it passes on unchanged code

local function passes_unchanged(spec)
   if passes[spec] == nil then
      local failure = run_spec("clean", spec, limit_of(spec))
      passes[spec] = not failure
      if failure then
         print(("left out, since it %s on unchanged code: %s"):format(failure, spec))
      end
   end
   return passes[spec]
end

---Returns the folder with the output of one file of specs in the run for coverage.
local function place_of(spec)
   return tree .. "/build/covered/tested/" .. spec:match "^spec/(.*)%.lua$"
end

---Run all specs on a build with --coverage. The run of an earlier call is used
---again while the copy is the same.
local function cover()
   local state = output_lines("cd %s && find csrc lua spec -type f -exec cksum {} + | sort | cksum",
      tree)[1]
   local stamp = tree .. "/build/covered/stamp"
   if not run("echo %s | cmp -s - %s", shell_quote(state), stamp) then
      local make = ("make -C %s --no-print-directory -j2 B=build/covered WARN=-w CFLAGS='-O0 -g"
         .. " --coverage -fprofile-update=atomic -Dalways_inline=unused'"):format(tree)
      assert(run(make .. " all >/dev/null"))
      run("COVERED=1 %s run-test-all >%s/build/covered/said.txt 2>&1", make, tree)
      write(stamp, state .. "\n")
   end
   for line in io.lines(tree .. "/build/covered/said.txt") do
      local seconds, spec = line:match "^ *[%d.]+ s +([%d.]+) s  (%S+):"
      if spec then
         seconds_of[spec] = math.ceil(tonumber(seconds))
      end
   end
end

---The lines of a file that each file of specs runs: sets of line numbers.
---@return table<string, table<integer, true>> run by file of specs
---@return table<integer, true> code lines with code; a statement of several lines counts once
local function lines_run(file)
   local object = tree .. "/build/covered/obj" .. file:match "^csrc(/.*)%.c$"
   local absolute = output_lines("realpath -m %s", object)[1]
   local script, all, code = {}, {}, {}
   for i, spec in ipairs(specs) do
      local counts = place_of(spec) .. "/covered" .. absolute
      script[i] = ("[ ! -f %s.gcda ] || { ln -sf %s.gcno %s.gcno; echo 'specs %s';"
         .. " gcov -t %s.gcda 2>/dev/null; }"):format(counts, absolute, counts, spec, counts)
   end
   write(tree .. "/build/gcov.sh", table.concat(script, "\n"))
   local spec, wanted
   for _, text in ipairs(output_lines("sh %s/build/gcov.sh", tree)) do
      local times, number, rest = text:match "^ *([^: ]+): *(%d+):(.*)"
      spec = text:match "^specs (.*)" or spec
      all[spec] = all[spec] or {}
      if number == "0" and rest:match "^Source:" then
         wanted = rest:sub(-#file) == file
      elseif wanted and times and times ~= "-" then
         code[tonumber(number)] = true
         all[spec][tonumber(number)] = times:match "^%d" and true or nil
      end
   end
   return all, code
end

local function words_of(path)
   local words = {}
   for word in path:gsub("%.[^.]*$", ""):gmatch "%a%l+" do
      words[(word:gsub("s$", ""))] = true
   end
   words.csrc, words.spec, words.format, words.lua = nil, nil, nil, nil
   return words
end

---The files of specs that run a line: first those that are short, and more so those
---that share words with the changed file. Long ones only if there are no others.
local function specs_for(file, line)
   local wanted, list, long, weight = words_of(file), {}, {}, {}
   local all, code = lines_run(file)
   while line > 1 and not code[line] do
      line = line - 1
   end
   for spec, lines in pairs(all) do
      if lines[line] then
         local score = 1
         for word in pairs(words_of(spec)) do
            score = score + (wanted[word] and 4 or 0)
         end
         weight[spec] = (1 + (seconds_of[spec] or 60)) / score
         local to = (seconds_of[spec] or 60) > 60 and long or list
         to[#to + 1] = spec
      end
   end
   list = #list > 0 and list or long
   table.sort(list, function(a, b)
      return weight[a] < weight[b] or weight[a] == weight[b] and a < b
   end)
   return list
end

---Compile a change; true when there is other object code.
local function build(change, text)
   write(tree .. "/" .. change.file, text)
   return run(compile .. " B=build/mutant modules >%s/build/said.txt 2>&1", tree)
      and read(object_of(change.file, "mutant")) ~= read(object_of(change.file, "clean"))
end

local function take_back(change)
   write(tree .. "/" .. change.file, read(change.file))
   run("cp %s %s", object_of(change.file, "clean"), object_of(change.file, "mutant"))
end

---Run files of specs on a build, up to the first that fails, for at most the given seconds.
---@return string? killer the file of specs that failed, and how
---@return integer ran number of files that ran
local function find_killer(build_name, list)
   local began, ran = os.time(), 0
   local sanitized = build_name == "sanitized"
   for _, spec in ipairs(list) do
      if os.time() - began > most_seconds then
         break
      end
      if passes[spec] ~= false and (not sanitized or is_sanitized[spec]) then
         ran = ran + 1
         local failure = run_spec(build_name, spec, limit_of(spec) * (sanitized and 2 or 1))
         if failure and passes_unchanged(spec) then
            local where = sanitized and " under the sanitizers" or ""
            return ("%s in %s%s"):format(failure, spec, where), ran
         end
      end
   end
   return nil, ran
end

---Run the specs that run the changed line, first as usual, then under the sanitizers.
---@return string? killer
---@return string ran number of files of specs that ran, and of those that run the line
local function killer_of(change)
   local list = specs_for(change.file, change.line)
   local killer, ran = find_killer("mutant", list)
   local again = 0
   if not killer and sanitizers and build_sanitized() then
      killer, again = find_killer("sanitized", list)
   end
   return killer, ("%d of %d files of specs, %d under the sanitizers"):format(ran, #list, again)
end

make_tree()
assert(not sanitizers or build_sanitized(), "the copy does not compile for the sanitizers")
cover()
local list = all_changes(lines_since(since))
math.randomseed(seed)
local killed, same, survivors = 0, 0, {}
print(("%d possible changes, seed %d"):format(#list, seed))
while killed + #survivors < count and #list > 0 do
   local change = table.remove(list, math.random(#list))
   local text, old, new = changed_text(change)
   local where = ("%s:%d: %s: %s -> %s"):format(change.file, change.line, change.kind, old, new)
   if build(change, text) then
      local began = os.time()
      local killer, ran = killer_of(change)
      killed = killed + (killer and 1 or 0)
      survivors[#survivors + 1] = not killer and where or nil
      print(("%s: %s (%d s)"):format(where, killer or "SURVIVED " .. ran, os.time() - began))
      io.stdout:flush()
   else
      same = same + 1
   end
   take_back(change)
end
print(("%d mutants, %d killed (%.0f %%); %d that do not compile or compile to the same"):format(
   killed + #survivors, killed, 100 * killed / math.max(killed + #survivors, 1), same))
for _, survivor in ipairs(survivors) do
   print("survived: " .. survivor)
end
