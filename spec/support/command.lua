-- Runs the command as a user does, on small traces.

local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local lfs = require "lfs"
local wait = require "spec.support.wait"

local command = {}

-- Returns a path of the checkout that a shell reads as one word, because specs write it into many
-- lines of shell. If the path of the folder has blanks, this is a link in /tmp.
local function plain_root()
   local root = lfs.currentdir()
   if not root:find "[^%w/._+:-]" then
      return root
   end
   local pipe <close> = assert(io.popen([[link=/tmp/profio-specs-$(pwd | cksum | cut -d' ' -f1) &&
      ln -sfn "$PWD" "$link" && echo "$link"]]))
   return assert(pipe:read "l", "no link to " .. root)
end

local root = plain_root()
local build = os.getenv "PROFIO_BUILD" or "build"
if not build:find "^/" and not build:find "^%a:" then
   build = root .. "/" .. build
end
local folder = build .. "/spec/cli"
disk.folder(folder)

command.root = root
command.build = build
command.folder = folder

-- In front of `lua5.4 SCRIPT` in a line of shell: the script finds the modules of the checkout, its
-- specs' and those of the build.
command.in_tree = ("LUA_PATH='%s/?.lua;%s/lua/?.lua;%s/lua/?/init.lua;;' "):format(root, root, root)
   .. ("LUA_CPATH='%s/?.so;%s/c/?.so;;' "):format(build, build)
-- The command: that of the checkout, an installed one that PROFIO_COMMAND names, or the single file
-- PROFIO_PROGRAM.
command.program = os.getenv "PROFIO_PROGRAM"
command.analyze = command.program
   or "lua5.4 " .. (os.getenv "PROFIO_COMMAND" or root .. "/examples/analyze.lua")

---Writes a file into the folder of these specs.
---@return string path
function command.file(name, bytes)
   local path = folder .. "/" .. name
   local file <close> = assert(io.open(path, "wb"))
   file:write(bytes)
   return path
end

function command.read(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:read "a"
end

-- A note of the recorder that depends on the load of the machine: no spec expects it or not.
local OF_LOAD <const> = "profio%.recorder: the cost of %d+ hooks was subtracted[^\n]*\n"

---Runs a line of shell in the folder; `profio` in it is the command, and `wait_until CONDITION`
---waits until another line succeeds (spec/support/wait.lua).
---@return string output
---@return integer status
---@return string errors
function command.run(line)
   local said = folder .. "/stderr"
   local pipe = assert(io.popen(("%scd %s && profio() { %s \"$@\"; }; { %s\n} 2>%s"):format(
      wait.shell, folder, command.analyze, line, said)))
   local text = pipe:read "a"
   local _, _, status = pipe:close()
   return text, status, (command.read(said):gsub(OF_LOAD, ""))
end

---Returns the output of a line that succeeds, perhaps with notes; raises if it does not.
---@param line string as of run
---@return string output
function command.fine(line)
   local text, status, errors = command.run(line)
   if status ~= 0 then
      error(("%s\n%s%s(status %s)"):format(line, text, errors, status), 2)
   end
   return text
end

---Returns a condition of run_in_steps: the output or the messages so far contain a text.
---@param text string without quotes
---@return string
function command.said(text)
   return ("grep -qsF '%s' output stderr"):format(text)
end

---Runs a command in the folder, and does something at moments that conditions describe, not times.
---A command whose step is not reached within a minute is killed.
---@param line string of the command; `profio` is not defined, command.analyze is
---@param steps string[][] in order: a condition, which is a line of shell, and a line of shell that
---       is run as soon as the condition is true; `$pid` is the command
---@return string output
---@return integer status
---@return string errors
function command.run_in_steps(line, steps)
   local script = {}
   for i, step in ipairs(steps) do
      script[i] = ("seen=\nif wait_until \"pid=\\$(cat pid) && { %s; }\"; then %s\n"
         .. "else kill -9 $pid; exit\nfi"):format(step[1]:gsub('[\\"$`]', "\\%0"), step[2])
   end
   script[#script + 1] = "exit 0"
   command.file("steps.sh", wait.shell .. table.concat(script, "\n") .. "\n")
   command.file("line.sh", "echo $$ >pid\nexec " .. line .. "\n")
   return command.run("rm -f pid output; : >output; sh steps.sh & steps=$!; "
      .. "sh line.sh >output; status=$?; wait $steps; cat output; (exit $status)")
end

---Returns the names in a folder, sorted: temporary files show here.
---@param path string
---@return string[]
function command.names(path)
   local list = {}
   for name in lfs.dir(path) do
      list[#list + 1] = name ~= "." and name ~= ".." and name or nil
   end
   table.sort(list)
   return list
end

---Compiles a program in C together with files of csrc, and runs it in the folder.
---@param name string of the program
---@param text string its source
---@param ... string paths in csrc
---@return string output
function command.run_c(name, text, ...)
   command.file(name .. ".c", text)
   local sources = {}
   for i, path in ipairs { ... } do
      sources[i] = ("'%s/csrc/%s'"):format(root, path)
   end
   local _, status, errors = command.run(("cc -std=c11 -D_POSIX_C_SOURCE=200809L -pthread "
      .. "-I'%s/csrc' %s.c %s '%s'/csrc/os/posix/*.c -o %s"):format(root, name,
      table.concat(sources, " "), root, name))
   assert(status == 0, errors)
   return (command.run("timeout 60 ./" .. name))
end

---Three functions of 256 bytes; work has most samples, main calls it and it calls leaf.
local function bins()
   local list = {}
   for i = 1, 192 do
      list[i] = 0
   end
   list[2], list[70], list[71], list[140] = 10, 30, 5, 15
   return list
end

---The bytes of a small gmon.out: 60 samples at 100 Hz, two arcs.
function command.trace()
   return gmon("<", 8):header():histogram { low = 0x1000, high = 0x1300, bins = bins() }
      :arc(0x1010, 0x1104, 5):arc(0x1110, 0x1204, 20):bytes()
end

command.nm = "0000000000001000 T main\n0000000000001100 T work\n0000000000001200 T leaf\n"
   .. "0000000000001300 T etext\n"

command.file("gmon.out", command.trace())
command.file("small.nm", command.nm)
command.file("cut.gmon", command.trace():sub(1, -5))

return command
