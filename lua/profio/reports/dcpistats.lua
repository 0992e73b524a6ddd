-- How much the samples of images or procedures vary over sets: what dcpistats prints.

local dcpi = require "profio.reports.dcpi"
local failure = require "profio.cli.failure"
local plain = require "profio.reports.plain"
local sets = require "profio.reports.dcpi_sets"

local dcpistats = {
   name = "dcpistats",
   also = "stats",
   help = "DCPI: range, sum, mean, deviation of samples over epochs, machines or files",
   columns = {
      { name = "function", help = "the procedure, with --symbols or --exe" },
      { name = "image", help = "identifier of the image" },
      { name = "name", help = "short name of the image" },
      { name = "range", help = "the most samples of a set less the fewest" },
      { name = "range_share", help = "range as a part of sum" },
      { name = "sum", help = "samples of all sets" },
      { name = "sum_share", help = "sum as a part of all samples" },
      { name = "sets", help = "how many sets there are; one without samples counts as 0" },
      { name = "mean", help = "sum divided by sets" },
      { name = "deviation", help = "standard deviation of the sets" },
      { name = "min", help = "the fewest samples of a set" },
      { name = "max", help = "the most" },
      { name = "error", help = "the standard error of sum, its square root" },
   },
   options = { sets.option, dcpi.order_option,
      { name = "norm", type = "bool", default = false,
         help = "order by range_share, not by range" },
      { name = "factors", type = "text",
         help = "what the samples of each set are multiplied by: 1,0.5,2" } },
   narrows = true,
   fits = dcpi.fits,
}

-- The factor of each set.
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

-- "set1 * 2", "set2 * 0.5": the terms that are added up.
local function terms_of(factors, count)
   local terms = {}
   for i = 1, count do
      terms[i] = "set" .. i
      if factors[i] and factors[i] ~= 1 then
         terms[i] = ("set%d * %.17g"):format(i, factors[i])
      end
   end
   return terms
end

-- The squares of the differences from the mean, added up.
local function squares(terms)
   local list = {}
   for i, term in ipairs(terms) do
      list[i] = ("(%s - mean) * (%s - mean)"):format(term, term)
   end
   return table.concat(list, " + ")
end

-- The statistics of the sets beside each other.
local function derived(view, terms)
   local all = table.concat(terms, ", ")
   return view:derive { "sum = " .. table.concat(terms, " + "), "min = min(" .. all .. ")",
         "max = max(" .. all .. ")", ("sets = %d"):format(#terms) }
      :derive { "range = max - min", "mean = sum / sets", "error = sqrt(sum)" }
      :derive { "range_share = range / sum", "sum_share = sum / total(sum)",
         ("deviation = sqrt((%s) / sets)"):format(squares(terms)) }
end

-- The rows, the event, what the sets are and their names.
local function rows_of(context)
   local given = context:report_options(dcpistats)
   local event = dcpi.events(context.trace, given.order)[1].name
   local column, names = sets.of(context.trace, given.sets or "auto")
   local terms = terms_of(factors_of(given.factors, #names), #names)
   local view = derived(sets.side_by_side(context.trace, event, column, names), terms)
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
