--- Options, metrics and warnings of the format cpuprofile: profiles of V8.
---
--- The decoder is in csrc/formats/cpuprofile/.

local later = require "profio.internal.later"
local node_members = later "profio.formats.anonymising.node_members"

local cpuprofile = {}

cpuprofile.name = "cpuprofile"
cpuprofile.help = "profiles of Node.js, Chrome and VS Code: .cpuprofile, .heapprofile"
cpuprofile.extensions = { "cpuprofile", "heapprofile" }
cpuprofile.anonymiser = node_members

cpuprofile.options = {
   { name = "timeline", type = "bool", default = false,
     help = "table events: a function in samples that follow each other is a call" },
}

local timed = { table = "samples", lasts = "time", metrics = {
   { name = "samples", unit = "count" }, { name = "time", unit = "ns", column = "duration" } } }

---Returns the table of stacks, and the metrics: samples, and their time or size.
---@param part profio.core.Part
---@return table|nil
function cpuprofile.profile(part)
   for _, described in ipairs(part:tables()) do
      if described.name == "stacks" then
         local amount = described.fields[3].name
         local is_time = amount == "time"
         local metrics = { { name = "samples", unit = "count", column = "samples" } }
         if not is_time or part:fact "times" then
            metrics[2] = { name = is_time and "time" or "space", unit = is_time and "ns" or "bytes",
               column = amount }
         end
         return { table = "stacks", stack = "stack", metrics = metrics,
            usual = metrics[#metrics].name, timed = is_time and part:fact "times" and timed or nil }
      end
   end
   return nil
end

cpuprofile.first = { "flat" }

cpuprofile.warnings = {
   ["cpuprofile-circle"] = "nodes are children of each other",
   ["cpuprofile-id"] = "two nodes have one id",
   ["cpuprofile-no-node"] = "a sample is of no node that is known",
   ["cpuprofile-node"] = "the nodes cannot be read from a place on",
   ["cpuprofile-time-falls"] = "a sample is earlier than the one before it",
   ["cpuprofile-timeline"] = "calls are estimated from samples",
   ["cpuprofile-times"] = "there are fewer times than samples",
   ["cpuprofile-truncated"] = "the file ends before the end of its object",
}

-- The remedy for each of them.
cpuprofile.remedies = {
   ["cpuprofile-circle"] = "report it to the program that wrote the file; one of them is on top",
   ["cpuprofile-id"] = "report it to the program that wrote the file; samples are of the first one",
   ["cpuprofile-no-node"] = "copy the file again; such samples have no stack",
   ["cpuprofile-node"] = "copy the file again; the nodes before it are read",
   ["cpuprofile-time-falls"] = "none needed: V8 writes such times; the sample lasts no time until "
      .. "the one before it has ended",
   ["cpuprofile-timeline"] = "none needed: shares of time are right; samples that are taken more "
      .. "often show more calls",
   ["cpuprofile-times"] = "copy the file again; samples without a time last no time",
   ["cpuprofile-truncated"] = "copy the file again, or let the program end; what is there is read",
}

return cpuprofile
