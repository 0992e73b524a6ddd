-- --follow: prints rows as a file grows, or a report again each second. Waits for files that do not
-- exist yet.

local contexts = require "profio.cli.context"
local core = require "profio.core"
local failure = require "profio.cli.failure"
local lfs = require "lfs"
local query = require "profio.cli.query"
local show = require "profio.cli.show"
local messages = require "profio.cli.messages"
local words = require "profio.cli.values"

local follow = {}

local LOOK, REDRAW = 0.2, 1 -- seconds between two looks, and between two reports
local CLEAR = "\27[H\27[2J" -- moves to the upper left and clears the screen

-- {====== Files that are not there yet ======

-- Returns the first path that does not exist or is an empty file.
local function missing(paths)
   for _, path in ipairs(paths) do
      local about = path ~= "-" and lfs.attributes(path)
      if path ~= "-" and (not about or about.mode == "file" and about.size == 0) then
         return path
      end
   end
end

---Waits until all files exist and are not empty. Ctrl-C ends the command.
---@param paths string[]
---@param err file* file for the message that the command waits
function follow.wait_for(paths, err)
   local told
   local interrupt <close> = core.interrupt()
   local path = missing(paths)
   while path do
      if path ~= told then
         messages.say(err, "waiting for " .. path)
         told = path
      end
      if interrupt:wait(LOOK) then
         failure.raise(failure.READ)
      end
      path = missing(paths)
   end
end

-- }======

---Writes the rows of a table as they come, until Ctrl-C or --top.
---@param context profio.Context
---@param rows profio.View
function follow.rows(context, rows)
   local given, out, trace = context.given, context.out, context.trace
   if given.output == "json" then
      failure.use "--follow shows rows as they come, and json has an end: take --output ndjson"
   end
   rows = query.apply(rows, given)
   local reader, options, left = rows:reader(), show.options(context, rows), given.top
   left = left and words.number(left, "--top")
   repeat
      local count = out:rows(options, reader)
      out:flush()
      options.header = false
      left = left and left - count
      trace:refresh()
   until (left and left <= 0) or out.interrupt:wait(LOOK)
end

-- {====== A report again and again ======

-- Returns a text with the sizes and modification times of files, which changes when a file changes.
local function state_of(paths)
   local list = {}
   for i, path in ipairs(paths) do
      local about = lfs.attributes(path) or {}
      list[i] = ("%s %s"):format(about.size, about.modification)
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
      number, seen = 1, state_of(paths)
      draw(context, report, number)
   end
   while not context.out.interrupt:wait(REDRAW) do
      local now = state_of(paths)
      if now ~= seen and try(context, report, reopen, number + 1) then
         number, seen = number + 1, now
      end
   end
end

-- }======

return follow
