-- The samples of each instruction, or of each source line, of a procedure in the order of the code,
-- as dcpilist lists them. DCPI's program also shows the code, which needs a disassembler for Alpha.

local conditions = require "profio.internal.conditions"
local dcpi = require "profio.reports.dcpi.shares"
local failure = require "profio.internal.command.failure"
local patterns = require "profio.internal.patterns"
local texts = require "profio.internal.texts"
local views = require "profio.internal.views"

local dcpilist = {
   name = "dcpilist",
   help = "DCPI: samples of each instruction or line of a procedure, in the order of the code",
   columns = dcpi.columns({
      { name = "offset", help = "offset of the instruction in the code of the image: its address - "
         .. "the address at which the code begins (tstart)" },
      { name = "address", help = "address of the instruction" },
      { name = "function", help = "its procedure, with --symbols or --exe" },
      { name = "source_file", help = "source file, with --exe" },
      { name = "line", help = "source line, with --exe" },
      { name = "image", help = "identifier of the image" },
      { name = "name", help = "short name of the image" },
   }, {
      { name = "EVENT", help = "samples of each event; the column has the event's name" },
      { name = "EVENT_share", help = "share of the samples of the event in all rows" },
   }),
   options = {
      { name = "procedure", type = "text", help = "only this procedure: its name, ~PATTERN, or the "
         .. "address of one of its instructions with samples (0x12006cbd0)" },
      { name = "by", type = "choice", choices = { "instruction", "line" }, default = "instruction",
         help = "a row for each instruction, or for each line of the source" },
      { name = "order", type = "text", help = "event that is the first column; default: cycles" },
   },
   narrows = true,
   fits = dcpi.fits,
}

-- {====== Procedures ======

-- Returns the names of the procedures that have samples at an address.
local function at_address(trace, address)
   local names = {}
   for name in trace.samples:where { address = address }:group "function":each "function" do
      names[#names + 1] = name
   end
   return names[1] and names or failure.raise(failure.NOTHING, ("%s: no samples of a named "
      .. "procedure at 0x%x: name an address with samples (--report dcpitopcounts shows them)")
      :format(trace.path, address))
end

-- Returns the condition for the names of procedures.
local function wanted_of(trace, text)
   local pattern, digits = text:match "^~(.+)$", text:match "^0[xX](%x+)$"
   if digits and #digits <= 16 then
      return at_address(trace, tonumber("0x" .. digits))
   elseif not pattern then
      return text
   end
   local compiled, problem = patterns.of(pattern)
   return compiled and conditions.match(pattern) or failure.use("%s", problem)
end

-- Returns the samples of the procedure of an option; nil: all samples.
local function samples_of(trace, procedure)
   if not procedure then
      return trace.samples
   elseif not dcpi.has_functions(trace) then
      failure.use "dcpilist: procedures have names with --exe IMAGE or --symbols FILE: give one"
   end
   local samples = trace.samples:where { ["function"] = wanted_of(trace, procedure) }
   if samples:limit(1):count() == 0 then
      failure.raise(failure.NOTHING, ("%s: no samples in a procedure '%s'; --report dcpiprof shows "
         .. "those that have some"):format(trace.path, procedure))
   end
   return samples
end

-- }======

-- {====== Rows ======

-- Returns the columns that identify a row, in the order by which rows are sorted.
local function keys_of(trace, by)
   local source = trace.info.files and "source_file" or "file"
   if by == "line" then
      return { "image", "name", "function", source, "line" }
   elseif dcpi.has_functions(trace) then
      return { "image", "name", "address", "function", source, "line" }
   end
   return { "image", "name", "address" }
end

-- Returns the columns that identify a row in the order in which they are shown.
local function shown_keys(trace, by)
   local keys = keys_of(trace, by)
   if by == "instruction" then
      table.insert(keys, 3, "offset")
   end
   return keys
end

-- Returns the address at which the code of each image begins; false if its files differ in that, or
-- do not state it. Adds a note on those.
local function starts_of(context)
   local starts, unknown = {}, 0
   for image, start in context.trace.profiles:each("image", "tstart") do
      local known = starts[image or ""]
      starts[image or ""] = (known == nil or known == start) and start or false
   end
   for _, start in pairs(starts) do
      unknown = unknown + (start and 0 or 1)
   end
   if unknown > 0 then
      context:note(("note: where the code of %s begins is not stated, or not in one way: those "
         .. "rows have addresses only"):format(texts.counted(unknown, "image")))
   end
   return starts
end

-- Returns rows with the offset of each instruction in its image.
local function with_offsets(context, rows)
   local trace = context.trace
   local fields, starts, list = rows:fields(), starts_of(context), {}
   table.insert(fields, 1, { name = "offset", type = "addr", help = "address - tstart" })
   for record in rows:records() do
      local start = starts[record.image or ""]
      record.offset = start and record.address - start or nil
      list[#list + 1] = record
   end
   return views.over(function()
      return views.reader_of(fields, list)
   end, trace)
end

-- Adds a note if names or lines are missing.
local function note(context, by)
   local trace = context.trace
   if not dcpi.has_functions(trace) then
      context:note("note: the names of procedures and lines are in the image: give it by --exe, or "
         .. "names by --symbols; without them the rows are offsets in the image only")
   elseif by == "line" then
      for line in trace.samples:group "line":each "line" do
         if line then
            return
         end
      end
      failure.raise(failure.NOTHING, trace.path .. ": no line numbers are known: give an image "
         .. "that was compiled with -g by --exe, or list instructions")
   end
end

-- Returns by what rows are listed, and the events.
local function chosen(context)
   local options = context:report_options(dcpilist)
   return options.by or "instruction", dcpi.events(context.trace, options.order)
end

-- Returns the rows.
local function listing(context)
   local trace, by, events = context.trace, chosen(context)
   if by == "line" and not dcpi.has_functions(trace) then
      failure.use "dcpilist: lines are known with --exe IMAGE: give it, or --set by=instruction"
   end
   note(context, by)
   local samples = samples_of(trace, context:report_options(dcpilist).procedure)
   local keys, list, _, totals = keys_of(trace, by), {}, dcpi.totals(samples, events)
   for i, event in ipairs(events) do
      local name = event.column
      list[i] = ("%s_share = %s / %d"):format(name, name, math.max(totals[name], 1))
   end
   local rows = dcpi.by_event(samples, keys, events):derive(list):sort(table.unpack(keys))
   return by == "instruction" and with_offsets(context, rows) or rows
end

-- }======

---@param context profio.Context
---@return string[]
function dcpilist.listed(context)
   local by, events = chosen(context)
   local keys, names = shown_keys(context.trace, by), {}
   for _, event in ipairs(events) do
      table.move({ event.column, event.column .. "_share" }, 1, 2, #names + 1, names)
   end
   return table.move(keys, 1, #keys, #names + 1, names)
end

---@param context profio.Context
---@return userdata
function dcpilist.reader(context)
   return listing(context):reader()
end

---@param context profio.Context
---@param out profio.Output
function dcpilist.text(context, out)
   local rows, by, events = listing(context), chosen(context)
   local keys = shown_keys(context.trace, by)
   local head, template, formulas = {}, {}, {}
   for i, event in ipairs(events) do
      local name = event.column
      local width = math.max(9, #event.name)
      head[i] = (" "):rep(width - #event.name) .. event.name .. "       %"
      template[i] = ("{%s:%d} {%s_percent:6.2}%%"):format(name, width, name)
      formulas[i] = ("%s_percent = 100 * %s_share"):format(name, name)
   end
   head, template = table.concat(head, " "), table.concat(template, " ")
   if by == "instruction" then
      head = head .. "  offset      pc                "
      template = template .. "  {offset:-10}  {address:-18}"
   end
   if dcpi.has_functions(context.trace) then
      head = head .. "  procedure                 image        source"
      template = ("%s  {function:-25} {name:-12} {%s}:{line}\n"):format(template, keys[#keys - 1])
   else
      head, template = head .. "  image", template .. "  {name}\n"
   end
   out:write(head, "\n")
   out:listing({ template = template }, context:narrow(rows):derive(formulas):reader())
end

return dcpilist
