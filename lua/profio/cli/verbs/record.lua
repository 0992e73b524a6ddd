-- profio record: runs a Lua script under the recorder, and shows what it recorded.

local cli = require "profio.cli"
local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local messages = require "profio.cli.messages"
local options = require "profio.internal.options"
local processes = require "profio.cli.processes"
local recorder = require "profio.recorder"

-- Returns an option of the recorder as one of the command.
local function option_of(name, argument, added)
   return { "--" .. name, argument, options.find(recorder.options, name).help .. (added or "") }
end

local mode = option_of("mode", "M", "; default timed")

local record = {
   name = "record",
   help = "run a Lua script and record it",
   description = "Run a Lua script and record it. All words after the script are its own. On a "
      .. "terminal the report follows.",
   usage = "profio record [options] SCRIPT.lua [ARGUMENTS]",
   options = { mode, { "-o", "OUT",
         "the recording; default profio.out; mode calls also writes OUT.BIN, its timeline" },
      option_of("interval", "T", "; default 1ms"), option_of("clock", "CLOCK", "; default wall"),
      { "--set", "NAME=VALUE", "another option of the recorder: profio help recording",
         many = true } },
   argument = { "SCRIPT.lua", "the script, then its arguments" },
   stops = true,
   examples = {
      { "profio record script.lua 100", "each line with its time, then the hottest functions" },
      { "profio record --mode aggregate -o run.svg script.lua", "a flame graph" },
   },
}

-- Returns the options of the recorder, checked, as text for PROFIO_RECORD.
local function options_of(given)
   local list = { "path=" .. (given.out or "profio.out") }
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

-- Checks that the script can be read, before an older recording is replaced.
local function check_script(path)
   if not path then
      failure.use "record: the script is missing, as in profio record script.lua"
   end
   local file, message = core.file(path)
   if not file and path ~= "-" then
      failure.raise(failure.NOTHING, message)
   elseif file then
      file:close()
   end
end

-- The report of each mode after the recording.
local reports = { calls = "statistics", aggregate = "flat" }

-- Shows the recording, if it is one that profio can read.
local function show(path, asked, err)
   local name = reports[asked.mode] or "hotfunctions"
   local format = asked.mode == "aggregate" and (asked.format
      or exports.of_path(path) or "pprof")
   if format and format ~= "pprof" then
      return
   end
   io.stdout:write "\n"
   cli.main({ "--report", name, "--top", "20", path }, err)
   messages.say(err, ("recorded in %s: profio report %s shows more"):format(path, path))
end

---@param given table
---@param err file*
---@return integer status that of the script
function record.run(given, err)
   check_script(given.rest and given.rest[1])
   local text, asked = options_of(given)
   local status = processes.run_script(given.rest, { "-lprofio.recorder",
      variables = { "PROFIO_RECORD=" .. text } })
   if core.is_terminal(io.stdout) and not asked.path:find("%", 1, true) and asked.path ~= "-"
      and core.kind(asked.path) == "file" then
      show(asked.path, asked, err)
   end
   return status
end

return record
