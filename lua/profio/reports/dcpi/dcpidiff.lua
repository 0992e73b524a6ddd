-- Compares two sets of samples.

local dcpi = require "profio.reports.dcpi.shares"
local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"
local sets = require "profio.reports.dcpi.sample_sets"
local texts = require "profio.internal.texts"

local dcpidiff = {
   name = "dcpidiff",
   help = "DCPI: difference of the samples of two sets (scaled), with its significance",
   columns = dcpi.columns(dcpi.procedure_columns, {
      { name = "before", help = "samples of the old set" },
      { name = "after", help = "samples of the new set" },
      { name = "change", help = "after - factor * before: positive if it grew" },
      { name = "relative", help = "change divided by factor * before" },
      { name = "error", help = "the standard error of change" },
      { name = "significance", help = "change divided by its standard error" },
   }),
   options = { sets.option, dcpi.order_option,
      { name = "factor", type = "text",
         help = "factor for the samples of the old set; default 1" },
      { name = "old", type = "text",
         help = "the old set; default: the first or earliest, if it is not new" },
      { name = "new", type = "text",
         help = "the new set; default: the second, if it is not old" } },
   narrows = true,
   fits = dcpi.fits,
}

-- Returns the index of a set in the list of names; nil: no set is wanted.
local function number_of(names, wanted)
   if not wanted then
      return nil
   end
   for i, name in ipairs(names) do
      if name == wanted then
         return i
      end
   end
   failure.use("no set '%s'; there are: %s", wanted, table.concat(names, ", "))
end

-- Returns the two sets that are compared.
local function pair_of(names, given)
   local old, new = number_of(names, given.old), number_of(names, given.new)
   if #names > 2 and not (given.old and given.new) then
      failure.use("two sets are compared, here are %d: choose with --set old= and --set new=: %s",
         #names, table.concat(names, ", "))
   end
   old = old or new == 1 and 2 or 1
   return old, new or old == 1 and 2 or 1
end

local function factor_of(text)
   local factor = tonumber(text or "1")
   if not factor or factor <= 0 then
      failure.use("factor must be a number above 0, got '%s'", text)
   end
   return factor
end

-- Returns the rows, the event and the names of both sets.
local function rows_of(context)
   local given = context:report_options(dcpidiff)
   local event = dcpi.events(context.trace, given.order)[1].name
   local column, names = sets.of(context.trace, given.sets or "auto")
   local old, new = pair_of(names, given)
   local factor = factor_of(given.factor)
   local scaled = factor == 1 and "before" or texts.float("%.17g", factor) .. " * before"
   local view = sets.side_by_side(context, event, column, names)
      :derive { ("before = set%d"):format(old), ("after = set%d"):format(new) }
      :derive { "change = after - " .. scaled,
         ("error = sqrt(after + %s * before)"):format(texts.float("%.17g", factor * factor)) }
      :derive { "relative = change / (" .. scaled .. ")", "significance = change / error",
         "size = abs(change)" }
   return view:sort "-size", event, names[old], names[new], factor
end

---@param context profio.Context
---@return userdata
function dcpidiff.reader(context)
   return (rows_of(context)):reader()
end

---@param context profio.Context
---@param out profio.Output
function dcpidiff.text(context, out)
   local rows, event, old, new, factor = rows_of(context)
   local has_functions = dcpi.has_functions(context.trace)
   out:write(("Samples of type %s: after is %s, before is %s"):format(plain(event), plain(new),
      plain(old)), factor == 1 and "\n" or (" times %.10g\n"):format(factor))
   local head = "      change       +-  change%   sigma     before      after  "
      .. (has_functions and "procedure                 image" or "image")
   out:write(("="):rep(#head), "\n", head, "\n")
   out:listing({ template = "{shown:12.1} {error:8.1} {percent:7.2}% {significance:7.1} "
      .. "{before:10} {after:10}  "
      .. (has_functions and "{function:-25} {name}\n" or "{name:-25} {image}\n") },
      context:narrow(rows):derive { "percent = 100 * relative", "shown = change / 1" }:reader())
end

return dcpidiff
