-- The profiles as dcpicat prints them.

local dcpi = require "profio.reports.dcpi.shares"
local failure = require "profio.internal.command.failure"
local traces = require "profio.internal.trace"
local writer = require "profio.internal.writing.writer"

local dcpicat = {
   name = "dcpicat",
   help = "DCPI: header and counts of each profile, as dcpicat prints them",
   columns = {
      { name = "address", help = "address of the instruction" },
      { name = "count", help = "samples" },
      { name = "event", help = "the counted event" },
      { name = "image", help = "identifier of the image" },
      { name = "name", help = "short name of the image" },
      { name = "label", help = "label of the profile" },
      { name = "epoch", help = "begin of the counting" },
      { name = "platform", help = "the machine" },
      { name = "file", help = "the file, if there are several" },
   },
   names = false,
   fits = dcpi.fits,
}

---@param context profio.Context
---@return userdata
function dcpicat.reader(context)
   return context.trace.samples:reader()
end

-- Files of one image, epoch, machine and label are one profile: their events are shown side by
-- side.
local function profiles_of(trace)
   local list, known = {}, {}
   for i, facts in ipairs(trace:facts()) do
      local by_name = {}
      for _, fact in ipairs(facts) do
         by_name[fact.name] = fact.value
      end
      local key = table.concat({ tostring(by_name.image), tostring(by_name.epoch),
         tostring(by_name.platform), tostring(by_name.label) }, "\n")
      if not known[key] then
         known[key] = {}
         list[#list + 1] = known[key]
      end
      table.insert(known[key], i)
   end
   return list
end

---@param context profio.Context
---@param out profio.Output
function dcpicat.text(context, out)
   local state = traces.of(context.trace)
   for i, numbers in ipairs(profiles_of(context.trace)) do
      local some = { parts = {}, paths = {}, notes = {} }
      for n, number in ipairs(numbers) do
         some.parts[n], some.paths[n] = state.parts[number], state.paths[number]
      end
      setmetatable(some, { __index = state })
      out:write(i > 1 and "\n" or "",
         failure.check(writer.save(some, nil, { dialect = "dcpicat" })))
   end
end

return dcpicat
