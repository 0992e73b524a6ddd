-- The instructions with most samples: what dcpitopcounts prints.

local dcpi = require "profio.reports.dcpi"
local words = require "profio.cli.words"

local SHOWN = 20 -- rows of the text, when nothing says how many

local dcpitopcounts = {
   name = "dcpitopcounts",
   also = "topcounts",
   help = "DCPI: addresses with most samples, their running share; --top N, --keep P",
   columns = {
      { name = "address", help = "of the instruction" },
      { name = "function", help = "the procedure it is in, with --symbols or --exe" },
      { name = "source_file", help = "source file, with --exe" },
      { name = "line", help = "source line, with --exe" },
      { name = "image", help = "identifier of the image" },
      { name = "name", help = "short name of the image" },
      { name = "EVENT", help = "for each event, by its name: samples" },
      { name = "EVENT_error", help = "the standard error of that count, its square root" },
      { name = "EVENT_share", help = "the count as a part of all samples of the event" },
      { name = "running_share", help = "the part of the first event in this row and those above" },
      { name = "seconds", help = "time of the cycles: samples * period / clock" },
      { name = "spent", help = "the same in ns" },
   },
   options = { dcpi.order_option },
   narrows = true,
   uses = { "keep" },
   fits = dcpi.fits,
}

-- The columns that tell one instruction from another. Several files make the constant column
-- `file`, and the source file is called otherwise beside it.
local function keys_of(trace)
   local keys = { "address", "image", "name" }
   if dcpi.has_functions(trace) then
      local source = trace.info.files and "source_file" or "file"
      table.move({ "function", source, "line" }, 1, 3, #keys + 1, keys)
   end
   return keys
end

-- Where no address can come twice, nothing is to be summed up: a file of one event.
local function counts(trace, keys, events)
   if trace.info.files or trace.info.dialect == "dcpicat" then
      return dcpi.by_event(trace.samples, keys, events)
   end
   return trace.samples:pivot("event", "count",
      { { name = events[1].name, column = events[1].column } })
end

-- How many rows are read at all: fewer than all are found without putting all in order.
local function most_of(given, fallback)
   if given.keep or given.where[1] then
      return nil
   end
   return given.top and words.number(given.top, "--top") or fallback
end

-- The rows and the events they show; `fallback` of them, when nothing says how many.
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
