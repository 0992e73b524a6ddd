-- The command `profio`: runs a command line and returns its exit status.

local later = require "profio.internal.later"
local command_line = require "profio.cli.command_line"
local conflicts = later "profio.cli.conflicts"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local format_list = later "profio.cli.help.format_list"
local messages = later "profio.cli.messages"
local output = require "profio.cli.output"
local raise = require "profio.internal.raise"
local row_export = later "profio.internal.exporting.row_export"
local script = later "profio.cli.script"
local selection = later "profio.internal.command.selection"
local session = later "profio.cli.session"
local values = later "profio.internal.command.values"
local verbs = later "profio.cli.verbs"

local cli = {}

-- {====== Options without a file ======

local without_file = {
   { "help", function(out, given)
      out:write(given.is_screen_asked and command_line.screen() or command_line.help(given.verb))
   end },
   { "version", function(out) out:write("profio " .. core.version .. "\n") end },
   { "list_formats", function(out) format_list.write(out) end },
}

-- }======

-- {====== Running ======

-- Checks the values of options that need no open file.
local function check_given(given)
   given.output = given.output and values.choice(given.output, "--output",
      given.verb and given.verb.outputs or given.limits and verbs.find("verdict").outputs
      or row_export.outputs) or "text"
   if given.out == "" then
      failure.use "-o expects the name of a file, got an empty one"
   end
   if given.unit then
      values.choice(given.unit, "--unit", { "ns", "us", "ms", "s" })
   end
   if given.top then
      values.number(given.top, "--top")
   end
   if given.from or given.to then
      selection.check(given)
   end
end

-- Runs the first given option that needs no file; returns whether there is one.
local function answer_alone(given)
   for _, mode in ipairs(without_file) do
      if given[mode[1]] then
         if mode[1] == "list_formats" then -- --help and --version answer in any case
            conflicts.check_alone(mode[1], { out = true, load = true }, given)
         end
         local out <close> = output.open(given.out, {}, { is_paged = true })
         mode[2](out, given)
         out:close()
         return true
      end
   end
   return false
end

local function run(argv, err)
   local given, message, help = command_line.parse(argv)
   if not given then
      failure.use("%s\n(%s lists the options)", message, help or "--help")
   end
   check_given(given)
   if given.load[1] then
      script.load(given)
   end
   if answer_alone(given) then
      return failure.READ
   elseif given.verb and given.verb.run then
      return given.verb.run(given, err)
   end
   local page <close> = given.verb and given.verb.prepare_output
      and given.verb.prepare_output(given)
   local status, is_closed = session.run(given, err)
   if page then
      given.verb.finish(given, err)
   end
   return status, is_closed
end

local function run_completely(argv, err)
   local status, is_closed = run(argv, err)
   output.check_standard()
   return status, is_closed
end

-- }======

-- {====== Errors ======

-- Errors raised by profio are usage errors; those of Lua itself are bugs.
local function is_bug(message)
   return message:find "attempt to" or message:find "stack overflow"
      or message:find "bad argument"
end

local function on_raise(message)
   if failure.is(message) then
      return message
   end
   local is_unread = message == core.unread()
   if type(message) == "table" and not (getmetatable(message) or {}).__tostring then
      message = "a table was raised as an error, which says nothing: raise a text"
   end
   message = tostring(message)
   if message:find "interrupted!$" -- by Ctrl-C, before files are open
      or message:find "interrupted by Ctrl%-C$" then
      return failure.new(failure.NOTHING, "interrupted: nothing was read or written")
   elseif message:find "not enough memory$" then
      return failure.new(failure.NOTHING, "not enough memory")
   elseif is_bug(message) then
      return failure.new(failure.NOTHING, raise.is_of_user(message) and message
         or debug.traceback(message, 2))
   end
   message = raise.positioned(message, "")
   local is_failure = is_unread or raise.is_of_user(message)
   return failure.new(is_failure and failure.NOTHING or failure.USE, message)
end

---Run the command.
---@param argv string[] with has_verb = true the first word is a verb, even if a file has this name;
---with units = {} the units of the columns of rows are set in that table
---@param err file*|nil file for messages; default: standard error
---@return integer status 0 read, 1 nothing read or written, 2 usage error, 3 read with damage, 4 a
---limit is exceeded
---@return boolean|nil is_closed all files are closed; a script may leave some open
function cli.main(argv, err)
   err = err or io.stderr
   core.ignore_broken_pipes()
   local ok, result, is_closed = xpcall(run_completely, on_raise, argv, err)
   if ok then
      return result, is_closed
   end
   if not failure.is(result) then -- out of memory: Lua does not call the handler
      result = on_raise(result)
   end
   if result.message then
      messages.say(err, messages.failure(result.message))
   end
   return result.status
end

raise.command = cli.main

-- }======

return cli
