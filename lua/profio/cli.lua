-- The command `profio`: runs a command line and returns its exit status.

local command_line = require "profio.cli.command_line"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local later = require "profio.internal.later"
local output = require "profio.cli.output"
local raise = require "profio.internal.raise"
local conflicts = later "profio.cli.conflicts"
local files = later "profio.cli.files"
local format_list = later "profio.cli.help.format_list"
local inputs = later "profio.internal.opening.inputs"
local messages = later "profio.cli.messages"
local modes = later "profio.cli.modes"
local outputs = later "profio.internal.outputs"
local progress = later "profio.cli.progress"
local row_export = later "profio.internal.exporting.row_export"
local runs = later "profio.cli.runs"
local script = later "profio.cli.script"
local span = later "profio.internal.command.selection"
local traces = later "profio.internal.trace"
local warnings = later "profio.cli.warnings"
local words = later "profio.internal.command.values"

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
   given.output = given.output and words.choice(given.output, "--output",
      given.verb and given.verb.outputs or row_export.outputs) or "text"
   if given.out == "" then
      failure.use "-o expects the name of a file, got an empty one"
   end
   if given.unit then
      words.choice(given.unit, "--unit", { "ns", "us", "ms", "s" })
   end
   if given.top then
      words.number(given.top, "--top")
   end
   if given.from or given.to then
      span.check(given)
   end
end

-- After Ctrl-C an incomplete file replaces no file.
local function check_whole(interrupt, given, out)
   if interrupt:wait(0) and not given.follow and out.is_file then
      failure.raise(failure.NOTHING, ("interrupted: %s is as it was"):format(given.out))
   end
end

-- Does what the command line asks for, with the open trace and that of --diff (or nil). Returns the
-- exit status. A script handles Ctrl-C itself.
local function answer(trace, old, given, out, err, again)
   local interrupt <close> = core.interrupt()
   progress.watch(trace, interrupt, given, err)
   progress.watch(old, interrupt, given, err)
   out.interrupt = interrupt
   if given.script then
      interrupt:release()
   end
   local status, notes, now = modes.run(trace, given, out, old, again)
   check_whole(interrupt, given, out)
   out:close()
   if out.left_out then
      messages.say(err, ("columns that did not fit into %d characters: %s; --wide shows "
         .. "all"):format(out.width, table.concat(out.left_out, ", ")))
   end
   for _, note in ipairs(notes) do
      messages.say(err, note)
   end
   if given.check or given.follow and given.report then -- the file may still be growing
      return status
   end
   local has_damage = warnings.report(now or trace, err)
   has_damage = old and warnings.report(old, err) or has_damage
   if not given.script then -- before Ctrl-C works again: the output is complete
      trace:close()
      if now then
         now:close()
      end
      if old then
         old:close()
      end
   end
   local is_cut = interrupt:release() and not given.follow
   if is_cut and not given.merge and not out.is_file then -- those are complete, or not written
      err:write "profio: interrupted: this is what was counted so far\n"
      has_damage = true
   end
   return has_damage and math.max(failure.DAMAGE, status) or status
end

-- Opens the trace of --diff; returns it (or nil) and the status.
local function open_old(given, side, err, writes)
   if not side then
      return nil, failure.READ
   end
   return files.open(given, side, err, writes)
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

-- Returns the paths of all files from which the traces of both runs were read.
local function inputs_of(trace, old)
   local list = inputs.paths_of(traces.of(trace))
   local more = old and inputs.paths_of(traces.of(old)) or {}
   return table.move(more, 1, #more, #list + 1, list)
end

-- Opens the files that the command line names, and does what it asks for. Returns the exit status
-- and whether all files are closed.
local function read(given, err)
   modes.check(given)
   local new_side, old_side = runs.of(given, true)
   files.check_sources(given)
   if given.follow then
      require("profio.cli.follow").wait_for(new_side.traces, given, err)
   end
   local is_file = not outputs.is_in_place(given.out or "-")
   local is_whole = given.merge or is_file
   local again = { paths = new_side.traces, reopen = function()
      return (files.open(given, new_side, err, is_whole))
   end }
   outputs.check_inputs({ given.out or "-" }, files.named(given))
   local opened, status = files.open(given, new_side, err, is_whole)
   local trace <close> = opened
   modes.check_options(trace, given)
   local old <close>, old_status = open_old(given, old_side, err, is_whole)
   if old then
      conflicts.check_old(given, old)
   end
   given.heading = old_side and runs.heading(new_side, old_side)
   local out <close> = output.open(not (given.merge and is_file) and given.out or nil,
      inputs_of(trace, old), { wide = given.wide,
         is_paged = not (given.script or given.follow or given.merge) })
   status = math.max(status, old_status)
   return math.max(status, answer(trace, old, given, out, err, again)), not given.script
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
   local status, is_closed = read(given, err)
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
---@param argv string[] with has_verb = true the first word is a verb, even if a file has this name
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
