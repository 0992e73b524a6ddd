-- Programs built with -pg and run for the specs, under build/spec/programs.

local command = require "spec.support.command"
local lfs = require "lfs"

local programs = {}

local root = command.build .. "/spec/programs"

local function run(format, ...)
   local line = format:format(...)
   assert(os.execute("(" .. line .. ") >/dev/null 2>&1"), line)
end

---Returns whether a command is installed.
function programs.has(name)
   return os.execute("command -v " .. name .. " >/dev/null 2>&1") == true
end

local linking = {}

---Returns whether a compiler is installed, and can make programs: the libraries of another machine
---may be missing.
---@param compiler string
---@return boolean
function programs.can_compile(compiler)
   if linking[compiler] == nil then
      linking[compiler] = programs.has(compiler)
         and os.execute(("echo 'int main(void){return 0;}' | %s -x c - -o /dev/null 2>/dev/null")
            :format(compiler)) == true
   end
   return linking[compiler]
end

---Returns the output of a command, without standard error.
function programs.output(format, ...)
   local pipe <close> = assert(io.popen(format:format(...) .. " 2>/dev/null"))
   return pipe:read "a"
end

-- The results of profiled, by its arguments and the text of the source.
local made = {}

---Runs a profiled program once more.
---@param program string path
---@param i integer the number of the run, its argument
---@return string the gmon.out of the run
function programs.run_profiled(program, i)
   local folder, name = program:match "^(.*)/([^/]*)$"
   run("cd %s && ./%s %d && mv gmon.out gmon.%d", folder, name, i, i)
   return ("%s/gmon.%d"):format(folder, i)
end

---Compiles a source and runs the program `runs` times, with the number of the run as its argument,
---or returns what the same source and arguments gave before.
---@param name string of the program
---@param source string path
---@param flags string of the compiler
---@param runs integer|nil default 1
---@param compiler string|nil default gcc or g++
---@return string program
---@return string[] files the gmon.out of each run
function programs.profiled(name, source, flags, runs, compiler)
   local folder = root .. "/" .. name
   local file <close> = assert(io.open(source))
   local key = table.concat({ name, source, flags, runs or 1, file:read "a" }, "\n")
   if made[key] then
      return table.unpack(made[key])
   end
   run("mkdir -p %s", folder)
   compiler = compiler or source:match "%.cpp$" and "g++" or "gcc"
   run("%s -pg -g -O1 %s -o %s/%s %s", compiler, flags, folder, name, source)
   local program, files = folder .. "/" .. name, {}
   for i = 1, runs or 1 do
      files[i] = programs.run_profiled(program, i)
   end
   made[key] = { program, files }
   return table.unpack(made[key])
end

---Writes a source file for a program.
function programs.source(name, text)
   run("mkdir -p %s", root)
   local path = root .. "/" .. name
   local file <close> = assert(io.open(path, "w"))
   file:write(text)
   return path
end

---Runs a command; returns its output, its exit status and its text on standard error.
function programs.analyze(...)
   local words = {}
   for i, word in ipairs { ... } do
      words[i] = "'" .. word:gsub("'", "'\\''") .. "'"
   end
   local said = os.tmpname()
   local pipe = assert(io.popen(("lua5.4 examples/analyze.lua %s 2>%s"):format(
      table.concat(words, " "), said)))
   local text = pipe:read "a"
   local _, _, status = pipe:close()
   local file <close> = assert(io.open(said))
   local errors = file:read "a"
   os.remove(said)
   return text, status, errors
end

---Returns the files of a folder of the corpus with this ending, sorted; empty if it is absent.
function programs.corpus(folder, ending)
   local path, list = "../shared/corpus/" .. folder, {}
   if lfs.attributes(path, "mode") ~= "directory" then
      return list, path
   end
   for name in lfs.dir(path) do
      if name:sub(-#ending) == ending then
         list[#list + 1] = name:sub(1, -#ending - 1)
      end
   end
   table.sort(list)
   return list, path
end

return programs
