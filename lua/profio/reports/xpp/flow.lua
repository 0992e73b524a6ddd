-- The execution flow: the sequence of calls in each thread.

local conditions = require "profio.internal.conditions"
local plain = require "profio.internal.plain"
local xpp = require "profio.reports.xpp.entry_tables"

local flow = {
   name = "flow",
   help = "Xbase++: execution flow: enters and leaves; as rows the calls by thread and start",
   uses = { "span" },
   columns = {
      { name = "lane", help = "the thread" },
      { name = "depth", help = "number of calls on the stack, including this one" },
      { name = "area", help = "the function" },
      { name = "start", help = "when it was entered" },
      { name = "stop", help = "when it was left" },
      { name = "gross", help = "net and the gross time of its callees, in ns" },
      { name = "net", help = "time in it itself, in ns" },
      { name = "caller", help = "the calling function" },
      { name = "flags", help = "gap lost open orphan unwound: why it is incomplete" },
   },
   options = {
      { name = "per_thread", type = "bool", default = true,
        help = "in text, show one thread after the other; false: all in order of time" },
   },
}

flow.fits = xpp.fits

---@param context profio.Context
---@return userdata
function flow.reader(context)
   return context:calls_with {}:sort("lane", "start", "-stop", "depth"):reader()
end

-- {====== The text ======

local DEEPEST = 100   -- deeper calls are not indented further
local FEW_THREADS = 8 -- up to so many threads events are read once per thread, else sorted

-- Prints a row; the stack of its thread has the start times of open calls.
local function write_event(out, stack, time, event, area, flags)
   if flags:find "gap" then
      out:write "              what comes next does not go on with what was before\n"
      stack.starts = {}
   end
   local starts = stack.starts
   local enters = event == "enter"
   local depth = enters and #starts or math.max(#starts - 1, 0)
   local spent = not enters and starts[#starts] and xpp.ms(time - starts[#starts])
   local indent = ("   "):rep(math.min(depth, DEEPEST))
   out:write(("%14s%s  %s%s%s%s\n"):format(xpp.ms(time), stack.heading, indent,
      enters and "> " or "< ", plain(area), (spent and "  " .. spent .. " ms" or "")
         .. (flags ~= "" and "  (" .. flags .. ")" or "")))
   starts[enters and #starts + 1 or math.max(#starts, 1)] = enters and time or nil
end

local function write_thread(out, thread, is_first)
   out:write(is_first and "" or "\n", "Thread ", tostring(thread or "?"), "\n")
end

-- Writes events in the order of their rows; if they are sorted, each thread under a heading.
local function write_events(out, events, with_thread, is_sorted)
   local stacks, last = {}, nil
   for time, event, area, lane, flags in events:each("time", "event", "area", "lane", "flags") do
      local key = lane or 0
      if is_sorted and (not last or last.lane ~= lane) then
         write_thread(out, lane, last == nil)
         last, stacks = { lane = lane }, {}
      end
      stacks[key] = stacks[key] or { starts = {},
         heading = with_thread and ("  %5d"):format(key) or "" }
      write_event(out, stacks[key], time, event, area, flags or "")
   end
end

local function threads_of(events)
   local list = {}
   for row in events:group("lane"):records() do
      list[#list + 1] = row.lane or false
   end
   table.sort(list, function(a, b)
      return (a or -1) < (b or -1)
   end)
   return list
end

---@param context profio.Context
---@param out profio.Output
function flow.text(context, out)
   local events = context:within(context.trace.events)
   if events:limit(1):count() > 0 then
      out:write("     TIME (ms)  enters > and leaves <\n")
   end
   if context:report_options(flow).per_thread == false then
      return write_events(out, events, true)
   end
   local threads = threads_of(events)
   if #threads > FEW_THREADS then
      return write_events(out, events:sort "lane", false, true)
   end
   for i, thread in ipairs(threads) do
      write_thread(out, thread, i == 1)
      local missing = conditions.missing
      write_events(out, events:where { lane = thread or missing }, false)
   end
end

-- }======

return flow
