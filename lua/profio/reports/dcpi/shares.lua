-- Shared functions of the reports of DCPI's profiles: events side by side, shares, and the standard
-- error of a count. All are views, so the core does the counting.

local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"
local texts = require "profio.internal.texts"
local traces = require "profio.internal.trace"

local dcpi = {}

---Returns whether the trace has this format.
---@param trace profio.Trace
---@return boolean
---@return string|nil reason
function dcpi.fits(trace)
   return trace.format == "dcpi", "it is for profiles of DCPI"
end

---Returns whether there are names of procedures: with --symbols or --exe.
---@param trace profio.Trace
---@return boolean
function dcpi.has_functions(trace)
   return traces.of(trace).symbols ~= nil
end

---Returns the key columns of rows: the procedure if it is known, and the image.
---@param trace profio.Trace
---@return string[]
function dcpi.keys(trace)
   if dcpi.has_functions(trace) then
      return { "function", "image", "name" }
   end
   return { "image", "name" }
end

-- {====== Events ======

---@class profio.DcpiEvent
---@field name string name in the files
---@field column string name of its column

-- Names of other columns of reports.
local taken = { image = true, name = true, spent = true, seconds = true, count = true,
   address = true, file = true, time = true, timed = true, line = true, running_share = true,
   ["function"] = true }

-- Returns an unused column name for an event.
local function column_for(name, used)
   local word = name:gsub("[^%w_]", "_")
   if taken[word] or not word:match "^[%a_]" then
      word = "event_" .. word
   end
   while used[word] do
      word = word .. "_"
   end
   used[word] = true
   return word
end

---Returns the events of a trace; rows are sorted by the first: `first`, else cycles.
---@param trace profio.Trace
---@param first string|nil
---@return profio.DcpiEvent[]
function dcpi.events(trace, first)
   local names, used, events = {}, {}, {}
   for name in trace.profiles:group "event":each "event" do
      names[#names + 1] = name or nil
   end
   for i, name in ipairs(names) do
      if name == (first or "cycles") then
         table.insert(names, 1, table.remove(names, i))
      end
   end
   if first and names[1] ~= first then
      failure.use("no event '%s'; there are: %s", first, table.concat(names, ", "))
   elseif #names == 0 then
      failure.use "no event is named in these files"
   end
   for i, name in ipairs(names) do
      events[i] = { name = name, column = column_for(name, used) }
   end
   return events
end

-- Sets `spent`; it is missing, and not 0, if no row has a time.
local function with_spent(view)
   return view:derive { "spent = time + 0 // timed" }
end

---Adds up samples by keys, with a column for each event, and `spent`, the time of the cycles.
---@param view profio.View over samples
---@param keys string[]
---@param events profio.DcpiEvent[]
---@return profio.View
function dcpi.by_event(view, keys, events)
   local times = { "time = sum(spent)", "timed = count(spent)" }
   if #events == 1 then
      return with_spent(view:group(table.unpack(keys)):aggregate {
         events[1].column .. " = sum(count)", table.unpack(times) })
   end
   local by = table.move(keys, 1, #keys, 1, {})
   by[#by + 1] = "event"
   local sums, columns = { "time = sum(time)", "timed = sum(timed)" }, {}
   for i, event in ipairs(events) do
      sums[#sums + 1] = ("%s = sum(%s)"):format(event.column, event.column)
      columns[i] = { name = event.name, column = event.column }
   end
   return with_spent(view:group(table.unpack(by)):aggregate { "count = sum(count)",
      table.unpack(times) }:pivot("event", "count", columns):group(table.unpack(keys))
      :aggregate(sums))
end

-- }======

-- {====== Shares and errors ======

---Sorts the rows by count and adds the share of each event, the running share, the standard error
---of each count (its square root), and seconds.
---@param view profio.View of by_event
---@param events profio.DcpiEvent[]
---@param totals table<string, integer>|nil totals by column; nil: those of the view's own rows
---@param most integer|nil only this many rows
---@return profio.View
function dcpi.ranked(view, events, totals, most)
   local list = {}
   for i, event in ipairs(events) do
      local name = event.column
      local total = totals and tostring(totals[name]) or ("total(%s)"):format(name)
      list[#list + 1] = ("%s_share = %s / %s"):format(name, name, total)
      list[#list + 1] = ("%s_error = sqrt(%s)"):format(name, name)
      if i == 1 then
         list[#list + 1] = ("running_share = running(%s) / %s"):format(name, total)
      end
   end
   list[#list + 1] = "seconds = spent / 1000000000"
   view = view:sort("-" .. events[1].column)
   return (most and view:limit(most) or view):derive(list)
end

---Returns the columns of such rows.
---@param keys string[]
---@param events profio.DcpiEvent[]
---@return string[]
function dcpi.listed(keys, events)
   local names = {}
   for i, event in ipairs(events) do
      table.move({ event.column, event.column .. "_error", event.column .. "_share" }, 1, 3,
         #names + 1, names)
      if i == 1 then
         names[#names + 1] = "running_share"
      end
   end
   names[#names + 1] = "seconds"
   names[#names + 1] = "spent"
   return table.move(keys, 1, #keys, #names + 1, names)
end

---Returns the first rows with --keep per cent of the samples; all without that option.
---@param view profio.View of ranked
---@param events profio.DcpiEvent[]
---@param given table options of the command line
---@return profio.View
function dcpi.kept(view, events, given)
   if not given.keep then
      return view
   end
   local text = given.keep:match "^(.-)%%?$"
   local percent = tonumber(text)
   if not percent or percent < 0 then
      failure.use("--keep must be per cent, 0 or more, got '%s'", given.keep)
   end
   return view:derive { ("is_kept = running_share - %s_share < %s"):format(events[1].column,
      texts.float("%.17g", percent / 100)) }:where { is_kept = 1 }
end

-- }======

-- {====== Text ======

---Returns "cycles = 47, imiss = 27": the samples of each event.
---@param view profio.View over samples
---@param events profio.DcpiEvent[]
---@return string
---@return table<string, integer> totals by column
function dcpi.totals(view, events)
   local known, words, totals = {}, {}, {}
   if #events == 1 then
      known[events[1].name] = view:aggregate { "count = sum(count)" }:each "count" ()
   else
      for event, count in view:group "event":aggregate { "count = sum(count)" }
         :each("event", "count") do
         known[event or false] = count
      end
   end
   for i, event in ipairs(events) do
      totals[event.column] = known[event.name] or 0
      words[i] = ("%s = %d"):format(plain(event.name), totals[event.column])
   end
   return table.concat(words, ", "), totals
end

---Returns head and template of a table with a count, its standard error and its share in per cent
---for each event; after the first event also the running share and the seconds.
---@param events profio.DcpiEvent[]
---@return string head
---@return string template
---@return string[] formulas of the columns in per cent
function dcpi.count_columns(events)
   local head, template, formulas = {}, {}, {}
   for i, event in ipairs(events) do
      local name = event.column
      local width = math.max(9, #plain(event.name))
      head[#head + 1] = ("%s%s %7s %7s"):format((" "):rep(width - #plain(event.name)),
         plain(event.name), "+-", "%")
      template[#template + 1] = ("{%s:%d} {%s_error:7.1} {%s_percent:6.2}%%"):format(name, width,
         name, name)
      formulas[#formulas + 1] = ("%s_percent = 100 * %s_share"):format(name, name)
      if i == 1 then
         head[#head + 1] = ("%7s %10s"):format("cum%", "seconds")
         template[#template + 1] = "{running_percent:6.2}% {seconds:10.3}"
         formulas[#formulas + 1] = "running_percent = 100 * running_share"
      end
   end
   return table.concat(head, " "), table.concat(template, " "), formulas
end

-- }======

---The columns that identify a procedure.
dcpi.procedure_columns = {
   { name = "function", help = "the procedure, with --symbols or --exe" },
   { name = "image", help = "identifier of the image" },
   { name = "name", help = "short name of the image" },
}

---The columns of the counts of each event.
dcpi.event_columns = {
   { name = "EVENT", help = "samples of each event; the column has the event's name" },
   { name = "EVENT_error", help = "the standard error of that count, its square root" },
   { name = "EVENT_share", help = "share of all samples of the event" },
   { name = "running_share", help = "share of the first event in this and all rows above" },
   { name = "seconds", help = "time of the cycles: samples * period / clock" },
   { name = "spent", help = "the same in ns" },
}

---Returns a list with the columns of two lists.
---@param first table[]
---@param second table[]
---@return table[]
function dcpi.columns(first, second)
   return table.move(second, 1, #second, #first + 1, table.move(first, 1, #first, 1, {}))
end

---The option `order` of these reports.
dcpi.order_option = { name = "order", type = "text",
   help = "event by whose counts rows are sorted; default: cycles" }

return dcpi
