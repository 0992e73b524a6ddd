-- Variation of the samples of images or procedures over sets, as dcpistats prints it.

local dcpi = require "profio.reports.dcpi.shares"
local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"
local sets = require "profio.reports.dcpi.sample_sets"
local texts = require "profio.internal.texts"

local dcpistats = {
   name = "dcpistats",
   help = "DCPI: range, sum, mean, deviation of samples over epochs, machines or files",
   columns = dcpi.columns(dcpi.procedure_columns, {
      { name = "range", help = "largest minus smallest count of a set" },
      { name = "range_share", help = "range divided by sum" },
      { name = "sum", help = "samples of all sets" },
      { name = "sum_share", help = "share of all samples" },
      { name = "sets", help = "number of sets; one without samples counts as 0" },
      { name = "mean", help = "sum divided by sets" },
      { name = "deviation", help = "standard deviation of the sets" },
      { name = "min", help = "the smallest count of a set" },
      { name = "max", help = "the largest count of a set" },
      { name = "error", help = "the standard error of sum, its square root" },
   }),
   options = { sets.option, dcpi.order_option,
      { name = "norm", type = "bool", default = false,
         help = "sort by range_share instead of range" },
      { name = "factors", type = "text",
         help = "factors for the samples of the sets: 1,0.5,2" } },
   narrows = true,
   fits = dcpi.fits,
}

-- Returns the factor of each set.
local function factors_of(text, count)
   local factors = {}
   for word in (text or ""):gmatch "[^,]+" do
      factors[#factors + 1] = tonumber(word) or
         failure.use("factors must be numbers, got '%s'", word)
   end
   if text and #factors ~= count then
      failure.use("factors must be one number for each of %d sets, got %d", count, #factors)
   end
   return factors
end

-- Returns "set1 * 2", "set2 * 0.5": the terms that are added up.
local function terms_of(factors, count)
   local terms = {}
   for i = 1, count do
      terms[i] = "set" .. i
      if factors[i] and factors[i] ~= 1 then
         terms[i] = ("set%d * %s"):format(i, texts.float("%.17g", factors[i]))
      end
   end
   return terms
end

-- Returns the sum of the squared differences from the mean.
local function squares(terms)
   local list = {}
   for i, term in ipairs(terms) do
      list[i] = ("(%s - mean) * (%s - mean)"):format(term, term)
   end
   return table.concat(list, " + ")
end

-- Adds the statistics over the sets.
local function derived(view, terms)
   local all = table.concat(terms, ", ")
   return view:derive { "sum = " .. table.concat(terms, " + "), "min = min(" .. all .. ")",
         "max = max(" .. all .. ")", ("sets = %d"):format(#terms) }
      :derive { "range = max - min", "mean = sum / sets", "error = sqrt(sum)" }
      :derive { "range_share = range / sum", "sum_share = sum / total(sum)",
         ("deviation = sqrt((%s) / sets)"):format(squares(terms)) }
end

-- Returns the rows, the event, the column of the sets and their names.
local function rows_of(context)
   local given = context:report_options(dcpistats)
   local event = dcpi.events(context.trace, given.order)[1].name
   local column, names = sets.of(context.trace, given.sets or "auto")
   local terms = terms_of(factors_of(given.factors, #names), #names)
   local view = derived(sets.side_by_side(context, event, column, names), terms)
   return view:sort(given.norm and "-range_share" or "-range"), event, column, names
end

---@param context profio.Context
---@return userdata
function dcpistats.reader(context)
   return (rows_of(context)):reader()
end

---@param context profio.Context
---@param out profio.Output
function dcpistats.text(context, out)
   local rows, event, column, names = rows_of(context)
   local has_functions = dcpi.has_functions(context.trace)
   out:write(("Number of samples of type %s\n"):format(plain(event)),
      ("Statistics calculated using the sample counts from %d different sets (%s):\n"):format(
         #names, column))
   for i, name in ipairs(names) do
      out:write(("  %3d  %s\n"):format(i, plain(name)))
   end
   local head = "    range  range%        sum    sum%   N         mean      std-dev        min"
      .. "        max  " .. (has_functions and "procedure                 image" or "image")
   out:write(("="):rep(#head), "\n", head, "\n")
   out:listing({ template = "{range:9} {range_percent:6.2}% {sum:10} {sum_percent:6.2}% {sets:3} "
      .. "{mean:12.2} {deviation:12.2} {min:10} {max:10}  "
      .. (has_functions and "{function:-25} {name}\n" or "{name:-25} {image}\n") },
      context:narrow(rows):derive { "range_percent = 100 * range_share",
         "sum_percent = 100 * sum_share" }:reader())
end

return dcpistats
