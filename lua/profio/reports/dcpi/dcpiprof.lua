-- Samples by image, or by procedure if names are known, as dcpiprof prints them.

local dcpi = require "profio.reports.dcpi.shares"

local dcpiprof = {
   name = "dcpiprof",
   help = "DCPI: samples by image, by procedure with --symbols or --exe; a column per event",
   columns = dcpi.columns(dcpi.procedure_columns, dcpi.event_columns),
   options = { dcpi.order_option },
   narrows = true,
   uses = { "keep" },
   fits = dcpi.fits,
}

-- Returns the rows and the events that they show.
local function ranked(context)
   local events = dcpi.events(context.trace, context:report_options(dcpiprof).order)
   local rows = dcpi.by_event(context.trace.samples, dcpi.keys(context.trace), events)
   return dcpi.kept(dcpi.ranked(rows, events), events, context.given), events
end

---@param context profio.Context
---@return string[]
function dcpiprof.listed(context)
   local events = dcpi.events(context.trace, context:report_options(dcpiprof).order)
   return dcpi.listed(dcpi.keys(context.trace), events)
end

---@param context profio.Context
---@return userdata
function dcpiprof.reader(context)
   return (ranked(context)):reader()
end

local heading = [[
Total samples for event type %s

The counts given below are the number of samples for each listed event type;
+- is the standard error of a count, its square root.
]]

---@param context profio.Context
---@param out profio.Output
function dcpiprof.text(context, out)
   local rows, events = ranked(context)
   local head, template, formulas = dcpi.count_columns(events)
   local has_functions = dcpi.has_functions(context.trace)
   out:write(heading:format((dcpi.totals(context.trace.samples, events))))
   head = head .. (has_functions and "  procedure                 image" or "  image")
   template = template .. (has_functions and "  {function:-25} {name}\n"
      or "  {name:-25} {image}\n")
   out:write(("="):rep(#head), "\n", head, "\n")
   out:listing({ template = template }, context:narrow(rows):derive(formulas):reader())
end

return dcpiprof
