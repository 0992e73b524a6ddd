--- Metrics and warnings of the format perfscript: the text that `perf script` of Linux prints.
---
--- The decoder is in csrc/formats/perfscript/.

local later = require "profio.internal.later"
local sampled_lines = later "profio.formats.anonymising.sampled_lines"

local perfscript = {}

perfscript.name = "perfscript"
perfscript.help = "samples of Linux perf, as `perf script` prints them"
perfscript.extensions = { "perf", "perfscript", "script" }
perfscript.anonymiser = sampled_lines

perfscript.options = {
   { name = "timeline", type = "bool", default = false,
     help = "table events: a function in samples of a thread that follow each other is a call" },
   { name = "gap", type = "int", default = 10000000, unit = "ns",
     help = "of the timeline: how long a stack lasts at most, if no sample of its thread follows" },
}

-- Returns the metrics of the columns of events. If there are several events, the count of the
-- samples of each is in front of its periods, so that comparisons know their precision.
local function metrics_of(fields)
   local metrics, counted = {}, {}
   for _, field in ipairs(fields) do
      counted[field.name] = true
   end
   for _, field in ipairs(fields) do
      local name, unit = field.help:match "^the period of (.*) %[(.-)%]$"
      local count = "samples_of_" .. field.name
      if unit and counted[count] then
         metrics[#metrics + 1] = { name = "samples of " .. name, column = count, unit = "count" }
      end
      if unit then
         metrics[#metrics + 1] = { name = name, column = field.name, unit = unit }
      end
   end
   metrics[#metrics + 1] = { name = "samples", unit = "count" }
   return metrics
end

-- Returns the metric that is shown first: a time, else the periods of the first event, else
-- samples.
local function usual_of(metrics)
   for _, metric in ipairs(metrics) do
      if metric.unit == "ns" then
         return metric.name
      end
   end
   return (#metrics > 2 and metrics[2] or metrics[1]).name
end

---Returns the stack and the metrics: the periods of each event, and the number of samples.
---@param part profio.core.Part
---@return table|nil
function perfscript.profile(part)
   for _, described in ipairs(part:tables()) do
      if described.name == "samples" then
         local metrics = metrics_of(described.fields)
         return { table = "samples", stack = "stack", metrics = metrics, usual = usual_of(metrics),
            timed = part:fact "times" and { lanes = "thread" } or nil }
      end
   end
   return nil
end

perfscript.first = { "flat" }

perfscript.warnings = {
   ["perfscript-left-out"] = "samples have lines with further fields, which are not read",
   ["perfscript-line"] = "a line is none of the format, or a sample lacks what the others have",
   ["perfscript-many-events"] = "there are more events than have a metric",
   ["perfscript-no-end"] = "no empty line is after the last sample: its stack may be cut off",
   ["perfscript-time"] = "a time does not fit into 64 bits in nanoseconds: the value is missing",
   ["perfscript-timeline"] = "calls are estimated from samples",
   ["perfscript-truncated"] = "the file ends inside a line",
}

-- The remedy for each of them.
perfscript.remedies = {
   ["perfscript-left-out"] = "none needed: table raw has them; source lines, registers, branches "
      .. "and instructions are no part of the stacks",
   ["perfscript-line"] = "print the text again, with messages apart: perf script 2>errors.txt; "
      .. "all other samples are read",
   ["perfscript-many-events"] = "print fewer events, or look at samples: all events have these",
   ["perfscript-no-end"] = "if the file was copied or is being written, copy it again; the sample "
      .. "is read as it is",
   ["perfscript-time"] = "report it to the program that wrote the file; the sample is read",
   ["perfscript-timeline"] = "none needed: shares of time are right; samples that are taken more "
      .. "often show more calls",
   ["perfscript-truncated"] = "copy the file again; its last sample is left out, all others are "
      .. "read",
}

return perfscript
