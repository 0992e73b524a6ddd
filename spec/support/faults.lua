-- Commands whose system calls fail one at a time (spec/c/faults.c), and a check of the outcome:
-- allowed are the complete result, or a reported error with unchanged files.

local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local kinds = require "spec.support.kinds"
local lfs = require "lfs"
local profio = require "profio"
local traced = require "spec.support.traced"

local faults = {}

local folder = command.folder .. "/faults"
local said = command.folder .. "/said-of-faults" -- beside it: not to be listed

faults.kinds = { "EIO", "ENOSPC", "ENOMEM", "EMFILE", "EINTR", "SHORT", "SIGINT", "SIGKILL" }

-- {====== The commands ======

local function write(name, options, rows)
   options.path = nil
   local writer = assert(profio.create(folder .. "/in/" .. name, options))
   for _, row in ipairs(rows) do
      assert(writer:write(table.unpack(row)))
   end
   assert(writer:close())
end

local function write_inputs()
   os.execute(("rm -rf %s %s && mkdir -p %s/in %s/out %s"):format(folder, said, folder, folder,
      said))
   command.file("faults/in/gmon.out", command.trace())
   command.file("faults/in/small.nm", command.nm)
   command.file("faults/in/dcpi", dcpi():header():chunk(0x40, { 10, 5 }):footer():bytes())
   local calls, events, samples, table_rows = {}, {}, {}, {}
   for i = 1, 12 do
      local is_enter = i % 2 == 1
      calls[i] = { { thread = 1, time = i * 1000000, op = is_enter and "i" or "o", call = "A",
         params = ("p"):rep(i * 40) } }
      events[i] = { { time = i * 1000, event = is_enter and "enter" or "leave", area = "f" } }
      samples[i] = { { module = "m", line = i, spent = i * 1000000, kind = "function",
         ["function"] = "g" } }
      table_rows[i] = { { ID = "r" .. i, NOTE = ("x"):rep(i * 60) } }
   end
   write("calls.prf", { format = "xpp", form = "foxdbe" }, calls)
   write("text.prf", { format = "xpp", form = "text" }, calls)
   write("time.txt", { format = "winidea", dialect = "text1", timeline_binary = true }, events)
   write("table.dbf", { format = "dbf", fields = "ID C(4), NOTE M" }, table_rows)
   write("lines.br", { format = "br" }, samples)
   local trace <close> = assert(profio.open(folder .. "/in/gmon.out"))
   assert(trace:export("pprof", folder .. "/in/g.pb.gz"))
end

-- A Lua script: `do_` is its code, which uses `assert` for all failures.
local function script(name, lines)
   local path = command.file("said-of-faults/" .. name .. ".lua", ([[
local profio = require "profio"
local folder = %q
local function tell(trace)
   for _, warning in ipairs(trace.warnings) do
      io.stderr:write(warning.message, "\n")
   end
end
local ok, message = pcall(function()
%s
end)
if not ok then
   io.stderr:write("profio: ", (tostring(message):gsub("^%%S+%%.lua:%%d+: ", "")), "\n")
   os.exit(1, true)
end
]]):format(folder, lines))
   return command.in_tree .. "@ lua5.4 " .. path
end

local function cli(line)
   return "@ " .. command.analyze .. " " .. line
end

-- Commands by name: a line of shell in which @ stands for the harness, and the files in out/ that
-- it may write.
local function make_cases()
   local list = {}
   local function add(name, line, ...)
      list[#list + 1] = { name = name, line = line, outputs = { ... } }
   end
   local inputs = { gmon = "gmon.out", xpp = "calls.prf", ["xpp text"] = "text.prf",
      winidea = "time.txt", dbf = "table.dbf", br = "lines.br", dcpi = "dcpi", pprof = "g.pb.gz" }
   for name, input in pairs(inputs) do
      local path = folder .. "/in/" .. input
      add("report of " .. name, cli(path))
      add("json of " .. name, cli("--info --output json " .. path))
      local out = name == "dbf" and "merged.dbf" or name == "xpp" and "merged.prf" or "merged"
      local second = name == "winidea" and "" or path -- one timeline is one run
      add("--merge of " .. name, cli(("--merge %s %s -o %s/out/%s"):format(path, second, folder,
         out)), out, name == "dbf" and "merged.fpt" or name == "xpp" and "merged.prv" or nil)
   end
   local timeline = folder .. "/in/time.txt"
   add("statistics", cli("--report statistics " .. timeline))
   add("load", cli("--report load " .. timeline))
   add("calls into a file", cli(("--report calls --output csv -o %s/out/calls %s"):format(folder,
      timeline)), "calls")
   add("database", cli(("--merge %s/in/dcpi -o %s/out/db/"):format(folder, folder)), "db")
   for _, kind in ipairs { "csv", "clickhouse", "sqlite", table.unpack(kinds) } do
      add("export " .. kind, cli(("--export %s -o %s/out/exported %s"):format(kind, folder,
         kind == "pprof" and folder .. "/in/gmon.out" or timeline)), "exported")
   end
   for name, given in pairs {
      text1 = "time.txt { format = 'winidea', dialect = 'text1' }",
      bin = "time.txt { format = 'winidea', dialect = 'bin' }",
      deldbe = "calls.prf { format = 'xpp', form = 'deldbe' }",
      packets = "calls.prf { format = 'xpp', packets = true, flush_every = 8 }",
      dcpicat = "dcpi { format = 'dcpi', dialect = 'dcpicat' }",
      ["4.4bsd"] = "gmon.out { format = 'gmon', dialect = '4.4bsd' }",
   } do
      local input, options = given:match "^(%S+) (.*)$"
      local outputs = name == "packets" and { "saved", "saved.000001", "saved.prv" }
         or { "saved", "saved.BIN", "saved.prv" }
      add("save " .. name, script("save-" .. name:gsub("%W", ""), ([[
         local trace <close> = assert(profio.open(folder .. "/in/%s"))
         assert(trace:save(folder .. "/out/saved", %s))
         tell(trace)]]):format(input, options)),
         table.unpack(outputs))
   end
   add("ring", script("ring", [[
         local w <close> = assert(profio.create(folder .. "/out/ring.br",
            { format = "br", ring = { size = "64K" } }))
         for i = 1, 3000 do
            assert(w:write { module = "m", line = i, spent = 1000, kind = "main" })
         end
         assert(w:close())]]), "ring.br", "ring.br.ring")
   add("recorder", script("recorder", [[
         local recorder = require "profio.recorder"
         assert(recorder.start { mode = "timed", path = folder .. "/out/recorded.prf" })
         for i = 1, 100 do tostring(i):rep(3) end
         local facts = recorder.stop()
         assert(not facts.failure, facts.failure)]]), "recorded.prf", "recorded.prf.ring")
   table.sort(list, function(a, b) return a.name < b.name end)
   return list
end

-- }======


-- {====== Running ======

-- Of each file that was there before.
local function old_of(name)
   return name .. " that was there before\n"
end

local is_recording = { ring = true, recorder = true }

local function read(path)
   local file <close> = io.open(path, "rb")
   return file and file:read "a"
end

-- All files in out/: path below it -> bytes.
local function listed(below, found)
   found = found or {}
   for name in lfs.dir(folder .. "/out" .. below) do
      local path = below .. "/" .. name
      if name ~= "." and name ~= ".." then
         if lfs.attributes(folder .. "/out" .. path, "mode") == "directory" then
            listed(path, found)
         else
            found[path] = read(folder .. "/out" .. path) or false
         end
      end
   end
   return found
end

---Runs a command of the list with a fault.
---@param case table
---@param kind string of faults.kinds, or NONE
---@param number integer of the call that fails
---@return table { status, text, errors, files, calls, failed }
function faults.run(case, kind, number)
   os.execute(("rm -rf %s/out && mkdir %s/out"):format(folder, folder))
   for i, name in ipairs(case.outputs) do
      if name ~= "db" and (i == 1 or not is_recording[case.name]) then
         command.file("faults/out/" .. name, old_of(name))
      end
   end
   local line = case.line:gsub("@", function() return traced.words(folder, kind, number) end, 1)
   local _, _, status = os.execute(("cd %s && timeout 60 env %s >%s/text 2>%s/errors"):format(
      folder, line, said, said))
   local calls, failed = traced.calls()
   return { status = status, text = read(said .. "/text"), errors = read(said .. "/errors"),
      files = listed "", calls = calls, failed = failed }
end

-- Checks the files of a recording, which grow: no other may be there.
local function wrong_recording(case, right, got)
   local may = {}
   for _, name in ipairs(case.outputs) do
      may["/" .. name] = true
   end
   for path in pairs(got.files) do
      if not may[path] and not right.files[path] and not path:find "%-%d+%." then
         return path .. " was left behind"
      end
   end
   return nil
end

-- The names of what a killed process may leave.
local function is_leftover(path)
   return path:match "^/%.profio%-%x+$" or path:match "^/%.profio%-packet%-%x+$"
      or path:match "^/%.profio%-former%-" or path:match "^/%.profio%-%x+/"
end

-- Checks that the files are those that were there before, or those of a complete run, and not some
-- of each; after a kill the main file may be missing, if the old one lies beside it.
local function wrong_files(case, right, got)
   if is_recording[case.name] then
      return wrong_recording(case, right, got)
   end
   local old = {}
   for _, name in ipairs(case.outputs) do
      old["/" .. name] = name ~= "db" and old_of(name) or nil
   end
   local is_killed = got.status == 137
   local main, is = case.outputs[1], { old = true, new = true }
   local paths = {}
   for _, files in ipairs { got.files, old, right.files } do
      for path in pairs(files) do
         paths[path] = true
      end
   end
   for path in pairs(paths) do
      local bytes = got.files[path]
      if not (is_killed and is_leftover(path)) then
         is.old, is.new = is.old and bytes == old[path], is.new and bytes == right.files[path]
      end
      if not is.old and not is.new then
         local former = got.files["/.profio-former-" .. tostring(main)]
         local is_kept = is_killed and not got.files["/" .. tostring(main)]
            and former == old_of(tostring(main))
         return not is_kept and path .. " makes the files neither the old ones nor the new ones"
            or nil
      end
   end
   return nil
end

local function same_files(case, right, got)
   for path, bytes in pairs(right.files) do
      if got.files[path] ~= bytes and case.name ~= "recorder" then
         return false
      end
   end
   return true
end

---Returns the reason why the result of a run with a fault is wrong, or nil.
---@param case table
---@param right table the result without a fault
---@param got table
---@return string|nil
function faults.wrong(case, right, got)
   local is_interrupt = got.status == 130 or got.errors:find "interrupted" ~= nil
   local errors = got.errors
   local is_said = errors ~= "" and errors ~= right.errors
   if got.failed == "none" then
      return nil
   elseif got.status == 137 then
      return wrong_files(case, right, got)
   elseif (got.status or 255) >= 124 and not is_interrupt then
      return "ends with status " .. tostring(got.status)
   elseif errors:find "attempt to" or errors:find "profio/[%w/_-]+%.lua:%d+: " or
         errors:find "stack traceback" then
      return "says an internal error"
   elseif got.failed ~= "unlink" and not (is_said and got.status ~= 1 and got.status ~= 2) and
         wrong_files(case, right, got) then
      return wrong_files(case, right, got)
   elseif is_interrupt then
      return nil
   elseif got.status == right.status then
      if (got.text ~= right.text or not same_files(case, right, got)) and not is_said then
         return "has another result, and says nothing of it"
      end
      local is_whole = got.status ~= 0 or same_files(case, right, got)
      return not is_whole and not is_said and "did not write its file" or nil
   elseif got.status == 1 or got.status == 2 or got.status == 3 then
      return not is_said and "says no reason" or nil
   end
   return "ends with status " .. tostring(got.status)
end

---Writes the inputs. Returns the commands, or nil and the reason why none can run.
---@return table[]|nil
---@return string|nil
function faults.cases()
   local missing = traced.missing()
   if missing then
      return nil, missing
   end
   write_inputs()
   return make_cases()
end

function faults.remove()
   os.execute(("rm -rf %s %s"):format(folder, said))
end

-- }======

return faults
