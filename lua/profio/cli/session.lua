-- Answers a command line: opens its files, does what it asks for, and reports their warnings.

local later = require "profio.internal.later"
local conflicts = require "profio.cli.conflicts"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local follow = later "profio.cli.follow"
local inputs = require "profio.internal.opening.inputs"
local messages = require "profio.cli.messages"
local modes = require "profio.cli.modes"
local output = require "profio.cli.output"
local outputs = require "profio.internal.writing.outputs"
local progress = require "profio.cli.progress"
local runs = require "profio.cli.runs"
local traces = require "profio.internal.trace"
local warnings = require "profio.cli.warnings"

local session = {}

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

-- Returns the paths of all files from which the traces of both runs were read.
local function inputs_of(trace, old)
   local list = inputs.paths_of(traces.of(trace))
   local more = old and inputs.paths_of(traces.of(old)) or {}
   return table.move(more, 1, #more, #list + 1, list)
end

---Opens the files that the command line names, and does what it asks for.
---@param given table the options of the command line
---@param err file* for messages
---@return integer status
---@return boolean is_closed whether all files are closed
function session.run(given, err)
   modes.check(given)
   local new_side, old_side = runs.of(given, true)
   files.check_sources(given)
   if given.follow then
      follow.wait_for(new_side.traces, given, err)
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

return session
