--- Options, metrics and warnings of the format callgrind: files of Valgrind's callgrind and
--- cachegrind, and of Xdebug.
---
--- The decoder is in csrc/formats/callgrind/.

local later = require "profio.internal.later"
local cost_lines = later "profio.formats.anonymising.cost_lines"

local callgrind = {}

callgrind.name = "callgrind"
callgrind.help = "exact counts of Valgrind's callgrind and cachegrind; Xdebug's profiles"
callgrind.extensions = { "callgrind", "cachegrind" }
callgrind.anonymiser = cost_lines

callgrind.options = {}

-- Columns of table costs that are no events.
local OTHERS <const> = { ["function"] = true, file = true, object = true, line = true,
   instr = true }

---Returns the tables of costs and of calls, and the metrics: the events of the file. The first one
---is shown.
---@param part profio.core.Part
---@return table|nil
function callgrind.profile(part)
   for _, described in ipairs(part:tables()) do
      if described.name == "costs" then
         local metrics = {}
         for _, field in ipairs(described.fields) do
            if not OTHERS[field.name] then
               metrics[#metrics + 1] = { name = field.name, column = field.name,
                  unit = field.help:match "%[(.-)%]$" }
            end
         end
         return { table = "costs", call_costs = "call_costs", metrics = metrics,
            usual = metrics[1].name }
      end
   end
   return nil
end

-- Metrics in events have no noise.
callgrind.counts_all = true

callgrind.first = { "flat" }

callgrind.warnings = {
   ["callgrind-cycle"] = "functions that call each other in a circle have more than the whole",
   ["callgrind-events"] = "a part of the file counts other events than the first one",
   ["callgrind-last-line"] = "the last line has no end, so that its numbers may be cut off",
   ["callgrind-line"] = "a line is none of the format, or its numbers cannot be read",
   ["callgrind-no-name"] = "a number in brackets stands for a name that no line before states",
   ["callgrind-sums"] = "the counts of the lines are not those of the summary: lines are missing",
}

-- The remedy for each of them.
callgrind.remedies = {
   ["callgrind-cycle"] = "look at self; or record with callgrind's option separate-recs, so that "
      .. "levels of recursion are functions of their own",
   ["callgrind-events"] = "record all parts with the same options",
   ["callgrind-last-line"] = "if the file was copied or is being written, copy it again; the line "
      .. "is read as it is",
   ["callgrind-line"] = "report it to the program that wrote the file; all other lines are read",
   ["callgrind-no-name"] = "copy the file again, from its beginning; its lines have no function",
   ["callgrind-sums"] = "copy the file again, or record again; what is there is read",
}

return callgrind
