-- The instructions with most samples, as dcpitopcounts prints them.

local dcpi = require "profio.reports.dcpi.shares"
local words = require "profio.internal.command.values"

local SHOWN = 20 -- rows of the text by default

local dcpitopcounts = {
   name = "dcpitopcounts",
   help = "DCPI: addresses with most samples, their running share; --top N, --keep P",
   columns = dcpi.columns({
      { name = "address", help = "address of the instruction" },
      { name = "function", help = "its procedure, with --symbols or --exe" },
      { name = "source_file", help = "source file, with --exe" },
      { name = "line", help = "source line, with --exe" },
      { name = "image", help = "identifier of the image" },
      { name = "name", help = "short name of the image" },
   }, dcpi.event_columns),
   options = { dcpi.order_option },
   narrows = true,
   uses = { "keep" },
   fits = dcpi.fits,
}

-- Returns the columns that identify an instruction. With several files the source file has another
-- name, because `file` is then a constant column.
local function keys_of(trace)
   local keys = { "address", "image", "name" }
   if dcpi.has_functions(trace) then
      local source = trace.info.files and "source_file" or "file"
      table.move({ "function", source, "line" }, 1, 3, #keys + 1, keys)
   end
   return keys
end

-- Returns the counts; a file of one event needs no sums, since no address occurs twice.
local function counts(trace, keys, events)
   if trace.info.files or trace.info.dialect == "dcpicat" then
      return dcpi.by_event(trace.samples, keys, events)
   end
   return trace.samples:pivot("event", "count",
      { { name = events[1].name, column = events[1].column } })
end

-- Returns the most rows that are needed, so that not all have to be sorted; nil: all.
local function most_of(given, fallback)
   if given.keep or given.where[1] then
      return nil
   end
   return given.top and words.number(given.top, "--top") or fallback
end

-- Returns the rows and the events that they show; `fallback` rows by default.
local function ranked(context, fallback)
   local trace, given = context.trace, context.given
   local events = dcpi.events(trace, context:report_options(dcpitopcounts).order)
   local _, totals = dcpi.totals(trace.samples, events)
   local rows = dcpi.ranked(counts(trace, keys_of(trace), events), events, totals,
      most_of(given, fallback))
   return dcpi.kept(rows, events, given), events
end

---@param context profio.Context
---@return string[]
function dcpitopcounts.listed(context)
   local events = dcpi.events(context.trace, context:report_options(dcpitopcounts).order)
   return dcpi.listed(keys_of(context.trace), events)
end

---@param context profio.Context
---@return userdata
function dcpitopcounts.reader(context)
   return (ranked(context, nil)):reader()
end

---@param context profio.Context
---@param out profio.Output
function dcpitopcounts.text(context, out)
   local trace = context.trace
   local rows, events = ranked(context, SHOWN)
   local head, template, formulas = dcpi.count_columns(events)
   if dcpi.has_functions(trace) then
      local source = trace.info.files and "source_file" or "file"
      head = head .. "  procedure                 pc                 image        source"
      template = template .. "  {function:-25} {address:-18} {name:-12} {" .. source .. "}:{line}\n"
   else
      head = head .. "  pc                 image"
      template = template .. "  {address:-18} {name}\n"
   end
   rows = context:narrow(rows)
   if not context.given.top and not context.given.keep then
      rows = rows:limit(SHOWN)
   end
   out:write(head, "\n")
   out:listing({ template = template }, rows:derive(formulas):reader())
end

return dcpitopcounts
