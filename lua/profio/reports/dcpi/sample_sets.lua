-- Sets of samples that reports of DCPI compare: epochs, machines, labels or files.

local conditions = require "profio.internal.conditions"
local dcpi = require "profio.reports.dcpi.shares"
local epoch_order = require "profio.formats.dcpi.epoch_order"
local failure = require "profio.internal.command.failure"

local sets = {}

---The option that defines the sets.
sets.option = { name = "sets", type = "choice", default = "auto",
   choices = { "auto", "epoch", "platform", "label", "image", "file" },
   help = "column that defines the sets; auto: the first of these with several values" }

-- Returns the values of a column in the order of the files, epochs in that of time; for `file`,
-- none if there is only one file.
local function values_of(trace, column)
   local list = {}
   if column == "file" and not trace.info.files then
      return list
   end
   for value in trace.profiles:group(column):each(column) do
      list[#list + 1] = value or nil
   end
   if column == "epoch" then
      table.sort(list, epoch_order.is_before)
   end
   return list
end

---Returns the column and the names of the sets.
---@param trace profio.Trace
---@param wanted string of sets.option
---@return string column
---@return string[] names
function sets.of(trace, wanted)
   local columns = wanted ~= "auto" and { wanted } or { "epoch", "platform", "label", "file" }
   local names
   for _, column in ipairs(columns) do
      names = values_of(trace, column)
      if #names > 1 then
         return column, names
      end
   end
   failure.use "at least two sets are needed, here is one: name several epochs or files"
end

-- Notes the samples of files whose header does not state to which set they belong.
local function note_others(context, event, column)
   local is_other = { event = event, [column] = conditions.missing }
   if column == "file" or context.trace.profiles:where(is_other):limit(1):count() == 0 then
      return
   end
   local sum = context.trace.samples:where(is_other):aggregate { "n = sum(count)" }:rows()[1].n
   context:note(("%d samples are in no set, because their files state no %s"):format(sum, column))
end

---Adds up the samples of one event by keys, with a column for each set: set1, set2, ... Notes the
---samples that are in none of them.
---@param context profio.Context
---@param event string
---@param column string
---@param names string[]
---@return profio.View
function sets.side_by_side(context, event, column, names)
   local trace = context.trace
   local keys = dcpi.keys(trace)
   note_others(context, event, column)
   local by = table.move(keys, 1, #keys, 1, {})
   by[#by + 1] = column
   local sums, columns = {}, {}
   for i, name in ipairs(names) do
      sums[i] = ("set%d = sum(set%d)"):format(i, i)
      columns[i] = { name = name, column = "set" .. i }
   end
   return trace.samples:where { event = event }:group(table.unpack(by))
      :aggregate { "count = sum(count)" }:pivot(column, "count", columns)
      :group(table.unpack(keys)):aggregate(sums)
end

return sets
