-- profio record: runs a Lua program under the recorder, and tells where its time went.

local cli = require "profio.cli"
local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local messages = require "profio.cli.messages"
local options = require "profio.internal.options"
local processes = require "profio.cli.processes"
local profio = require "profio"
local recorded_text = require "profio.cli.recorded_text"
local recorder = require("profio.internal.recording").recorder
local resources = require "profio.internal.resources"

-- Returns an option of the recorder as one of the command.
local function option_of(name, argument)
   local option = options.find(recorder.options, name)
   local _, help = options.described(option)
   return { "--" .. name, argument, help }
end

local record = {
   name = "record",
   help = "run a Lua program, and tell where its time went",
   description = "Run a Lua program and record it. All words after the script are its own. At the "
      .. "end the functions with most time of their own follow on standard error.",
   usage = "profio record [options] SCRIPT.lua [ARGUMENTS]",
   options = { option_of("mode", "M"), { "-o", "OUT",
         "the recording; default profio.out. By its ending it is exported at once: .svg .html "
         .. ".json (speedscope) .folded .pb.gz .cpuprofile .pftrace" },
      { "--open", false, "show it as a page in the browser" },
      option_of("interval", "T"), option_of("clock", "CLOCK"),
      { "-e", "CODE", "run this, before the script if there is one", many = true },
      { "-l", "MODULE", "require this before the script", many = true },
      { "--set", "NAME=VALUE", "another option of the recorder: profio help recording",
         many = true } },
   argument = { "SCRIPT.lua", "the script (-: standard input), then its arguments" },
   stops = true,
   examples = {
      { "profio record -o run.html --open script.lua 100", "its time, and a page with it" },
      { "profio record --mode memory script.lua", "the functions that allocate most" },
   },
}

-- {====== What is asked ======

local own_formats <const> = { timed = "br", sampled = "br", calls = "winidea", aggregate = "pprof",
   memory = "pprof" }

-- Returns the format in which the recorder writes.
local function format_of(asked)
   local mode = asked.mode or options.find(recorder.options, "mode").default
   return asked.format or own_formats[mode]
end

-- Returns the format of a name, if profio reads it; some are only exports.
local function readable(name)
   for _, format in ipairs(profio.formats()) do
      if format.name == name then
         return format
      end
   end
end

-- Returns whether what is in a file of a format can be told. Folded stacks do not state their unit.
local function is_told(format)
   return readable(format) and format ~= "folded"
end

-- Returns whether an ending is one of recordings.
local function is_own(ending, format)
   for _, own in ipairs(readable(format).extensions) do
      if ending:lower() == own then
         return true
      end
   end
   return ending == "out"
end

-- Returns the export that the ending of a path asks for; nil: the path is the recording itself.
local function export_of(path, asked)
   local ending = path:match "%.([^./\\]*)$"
   local kind, format = exports.of_path(path), format_of(asked)
   if asked.format or kind == format or path == "-" or not ending then
      return nil
   elseif not kind and is_own(ending, format) then
      return nil
   elseif not kind then
      failure.use("record: nothing is written as '.%s'; use .svg, .html, .json (speedscope), "
         .. ".folded, .pb.gz, .cpuprofile, .pftrace, or .out for the recording", ending)
   end
   local export = exports.named(kind)
   if format ~= "winidea" and export.takes ~= "profile" and not export.write_profile then
      failure.use("record: export '%s' takes no profile; it needs --mode calls", kind)
   elseif path:find("%", 1, true) then
      failure.use "record: with %p the recordings of several processes cannot be exported at once"
   end
   return kind
end

-- Returns options of the recorder as text for PROFIO_RECORD, and checked.
local function options_of(given)
   local list = {}
   for _, name in ipairs { "mode", "interval", "clock" } do
      list[#list + 1] = given[name] and name .. "=" .. given[name]
   end
   table.move(given.set, 1, #given.set, #list + 1, list)
   for i, text in ipairs(list) do
      list[i] = text:gsub(",", "\\,")
   end
   local text = table.concat(list, ",")
   local asked = recorder.parse(text)
   options.check(recorder.options, asked, "profio record")
   return text, asked
end

-- Returns where the recorder writes: the output itself, or a file that is removed when it has been
-- exported.
local function path_of(out, kind)
   if not kind then
      return out
   end
   local path = out:gsub("%.[^./\\]*$", "") .. ".recording"
   if core.kind(path) then
      failure.raise(failure.NOTHING, ("record: %s is in the way: the recording is there until it "
         .. "has been exported; move or remove it"):format(path))
   end
   return path
end

-- Checks that the script can be read, before an older recording is replaced. Returns its first
-- bytes; those of a pipe are for the interpreter.
local function check_script(path, has_code)
   if not path then
      if not has_code then
         failure.use "record: the script is missing, as in profio record script.lua"
      end
   elseif path ~= "-" and core.kind(path) ~= "other" then
      local file <close>, message = core.file(path)
      if not file then
         failure.raise(failure.NOTHING, message)
      end
      return file:read(256) or ""
   end
   return ""
end

-- }======

-- {====== Running ======

-- Returns the name of the interpreter that the first line of a script names, or "".
local function interpreter_of(head)
   local line = head:match "^#!%s*([^\n]*)" or ""
   return line:match "env%s+%-?S?%s*([^%s/]+)" or line:match "([^%s/]+)%f[%s\0]" or ""
end

local shells = { sh = true, bash = true, dash = true, ksh = true, zsh = true }

-- Runs what the user gives; returns the status.
local function run(given, asked_text, head, err)
   local variables = { "PROFIO_RECORD=" .. asked_text }
   local name = interpreter_of(head)
   if shells[name] then
      if resources.program then
         failure.use("record: %s is a script of the shell, which starts another Lua: see "
            .. "profio help recording", given.rest[1])
      end
      return processes.run_wrapper(given.rest, name, variables)
   end
   local version = name:match "^lua(%d%.%d)$"
   if version and version ~= "5.4" or name:find "^luajit" or name == "luau"
      or name == "tarantool" then
      messages.say(err, ("the first line of %s asks for %s; it is run and recorded with Lua 5.4")
         :format(given.rest[1], name))
   end
   local words = { "-lprofio.recorder", variables = variables }
   for _, module in ipairs(given.l) do
      words[#words + 1] = "-l" .. module
   end
   for _, code in ipairs(given.e) do
      table.move({ "-e", code }, 1, 2, #words + 1, words)
   end
   return processes.run_script(given.rest or {}, words)
end

-- Removes a recording that is exported, with the timeline beside it.
local function remove(path)
   core.remove(path)
   core.remove(path .. ".BIN")
end

-- Returns words that name a page or picture after what was run, not after the file in between.
local function title_words(given, kind)
   for _, option in ipairs(exports.named(kind).options or {}) do
      if option.name == "title" or option.name == "name" then
         return "--set", ("%s=%s"):format(option.name, given.rest and given.rest[1] or "lua -e")
      end
   end
end

-- Prints what is in a recording, exports and shows it. The recorder has mentioned that it is empty.
-- Returns whether that was done.
local function finish(given, path, kind, format, err)
   local trace <close>, message = profio.open(path, { format = format })
   if not trace then
      failure.raise(failure.NOTHING, message)
   elseif not recorded_text.write(err, trace) then
      return true
   elseif kind then
      cli.main({ "--export", kind, "-o", given.out, path, title_words(given, kind) }, err)
      if core.kind(given.out) ~= "file" then
         messages.say(err, "the recording is " .. path)
         return false
      end
      messages.say(err, "written to " .. given.out)
   else
      messages.say(err, ("recorded in %s: profio view %s shows it"):format(path, path))
   end
   if given.open and not (kind == "html" and core.open_page(given.out)) then
      cli.main({ "view", path }, err)
   end
   return true
end

---@param given table
---@param err file*
---@return integer status that of the script; 1 if it is 0 and the recording was not exported
function record.run(given, err)
   local head = check_script(given.rest and given.rest[1], #given.e > 0)
   local text, asked = options_of(given)
   local format = format_of(asked)
   given.out = given.out or asked.path or "profio.out"
   local kind = export_of(given.out, asked)
   local path = path_of(given.out, kind)
   local status = run(given, ("%s,path=%s%s"):format(text, path:gsub(",", "\\,"),
      kind and ",format=" .. format or ""), head, err)
   if path == "-" or path:find("%", 1, true) or core.kind(path) ~= "file" then
      return status
   elseif not is_told(format) then
      messages.say(err, "written to " .. path)
      return status
   end
   local is_done = finish(given, path, kind, format, err)
   if kind and is_done then
      remove(path)
   end
   return is_done and status or math.max(status, failure.NOTHING)
end

-- }======

return record
