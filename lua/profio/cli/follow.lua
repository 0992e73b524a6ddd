-- --follow: prints rows as a file grows, or a report again each second. Waits for files that do not
-- exist yet. What a killed writer has left in its ring is shown as without --follow, and ends it.

local contexts = require "profio.cli.context"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local query = require "profio.internal.command.query"
local show = require "profio.cli.show"
local messages = require "profio.cli.messages"
local ring_parts = require "profio.internal.opening.ring_parts"
local words = require "profio.internal.command.values"

local follow = {}

local LOOK, REDRAW = 0.2, 1 -- seconds between two looks, and between two reports
local CLEAR = "\27[H\27[2J" -- moves to the upper left and clears the screen

-- {====== Files that are not there yet ======

-- Returns whether a file does not exist or is empty. A ring has its records if the writer was
-- killed, and a report shows those of a living one too.
local function is_awaited(path, given)
   local kind = core.kind(path)
   if kind and (kind ~= "file" or core.file_state(path) ~= 0) then
      return false
   end
   local is_alive = ring_parts.state(path, given.trust_paths)
   return is_alive == nil or is_alive and not given.report
end

-- Returns the first path that is awaited.
local function missing(paths, given)
   for _, path in ipairs(paths) do
      if path ~= "-" and is_awaited(path, given) then
         return path
      end
   end
end

-- Returns whether writers of some files were killed, and none writes the others through a ring.
local function is_over(paths, given)
   local has_left = false
   for _, path in ipairs(paths) do
      local is_alive = ring_parts.state(path, given.trust_paths)
      if is_alive then
         return false
      end
      has_left = has_left or is_alive == false
   end
   return has_left
end

---Waits until all files exist and are not empty. Ctrl-C ends the command. If their writer was
---killed they do not grow: `given.is_over` is set, and they are opened as without --follow.
---@param paths string[]
---@param given table
---@param err file* file for the message that the command waits
function follow.wait_for(paths, given, err)
   local told
   local interrupt <close> = core.interrupt()
   local path = missing(paths, given)
   while path do
      if path ~= told then
         messages.say(err, "waiting for " .. path)
         told = path
      end
      if interrupt:wait(LOOK) then
         failure.raise(failure.READ)
      end
      path = missing(paths, given)
   end
   given.is_over = is_over(paths, given)
end

-- }======

-- {====== Rows as they come ======

-- Writes the rows after those that were shown, of files whose writer was killed. Returns the trace,
-- whose warnings are still to be shown.
local function rest(context, view_of, again, shown, left)
   local given = context.given
   given.is_over = true
   local now = again.reopen()
   local of_now = contexts.new(now, given, context.out, context.old)
   local rows = query.apply(view_of(of_now), given):limit(left or math.maxinteger, shown)
   local options = show.options(of_now, rows)
   options.header = shown == 0
   context.out:rows(options, rows:reader())
   return now
end

---Writes the rows of a table as they come, until Ctrl-C or --top, or until their writer was killed.
---@param context profio.Context
---@param view_of fun(context: profio.Context): profio.View
---@param again { reopen: fun(): profio.Trace, paths: string[] }
---@return profio.Trace|nil now the trace as it is without --follow, of which the last rows were
function follow.rows(context, view_of, again)
   local given, out, trace = context.given, context.out, context.trace
   if given.output == "json" then
      failure.use "--follow shows rows as they come, and json has an end: take --output ndjson"
   end
   local rows = query.apply(view_of(context), given)
   local reader, options, left = rows:reader(), show.options(context, rows), given.top
   local shown = 0
   left = left and words.number(left, "--top")
   repeat
      local count = out:rows(options, reader)
      out:flush()
      options.header = false
      left, shown = left and left - count, shown + count
      if given.is_over or left and left <= 0 then
         return nil
      end
      local is_new = trace:refresh()
      if count == 0 and not is_new and is_over(again.paths, given) then
         return rest(context, view_of, again, shown, left)
      end
   until out.interrupt:wait(LOOK)
   return nil
end

-- }======

-- {====== A report again and again ======

-- Returns a text with the sizes and modification times of files, and the positions of their rings,
-- which changes when a file changes.
local function state_of(paths, given)
   local list = {}
   for i, path in ipairs(paths) do
      local size, time = core.file_state(path)
      local is_alive, position = ring_parts.state(path, given.trust_paths)
      list[i] = ("%s %s %s %s"):format(size, time, is_alive, position)
   end
   return table.concat(list, "\n")
end

-- Draws a report: in place on a terminal, else after the previous ones.
local function draw(context, report, number)
   local out = context.out
   if out.is_terminal then
      out:write(CLEAR)
   elseif number > 1 then
      out:write "\n"
   end
   out.is_written = false
   show.report(report, context)
   out:flush()
end

-- Draws a report of the current files; returns false if they cannot be read now (they may be
-- being replaced), or the report does not fit them yet.
local function try(context, report, reopen, number)
   local opened, trace = pcall(reopen)
   if not opened then
      return false
   end
   local now <close> = trace
   local fits = report.fits(now)
   if fits then
      draw(contexts.new(now, context.given, context.out, context.old), report, number)
   end
   return fits
end

---Shows a report each second in which the files have changed, until Ctrl-C.
---@param context profio.Context
---@param report table
---@param reopen fun(): profio.Trace
---@param paths string[] of the files
function follow.report(context, report, reopen, paths)
   local number, seen = 0, nil
   if report.fits(context.trace) then
      number, seen = 1, state_of(paths, context.given)
      draw(context, report, number)
   end
   while not context.out.interrupt:wait(REDRAW) do
      local now = state_of(paths, context.given)
      if now ~= seen and try(context, report, reopen, number + 1) then
         number, seen = number + 1, now
      end
   end
end

-- }======

return follow
