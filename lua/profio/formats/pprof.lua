--- Options, metrics and warnings of the format pprof (profile.proto).
---
--- The decoder and the encoder are in csrc/formats/pprof/.

local later = require "profio.internal.later"
local profile_strings = later "profio.formats.anonymising.profile_strings"

local pprof = {}

pprof.name = "pprof"
pprof.help = "profiles of Go's pprof (profile.proto, gzipped or plain); profio saves profiles so"
pprof.extensions = { "pprof", "pb", "pb.gz" }
pprof.anonymiser = profile_strings

pprof.options = {}

-- Locations without names get those of the executable; no table has a column of addresses.
pprof.addresses = {}
pprof.names_addresses = true

pprof.write_options = {
   { name = "packed", type = "bool", default = true, help = "gzip the file" },
   { name = "time_nanos", type = "int", default = 0,
     help = "start of the recording, ns since 1970" },
   { name = "duration_nanos", type = "int", default = 0, unit = "ns",
     help = "duration of the recording" },
   { name = "period", type = "int", default = 0,
     help = "events between two samples, in the unit of the last metric" },
}

---Returns the tables that two files have with different columns, each with the reason. The help of
---a column of samples states its unit.
---@return table<string, string>
function pprof.differing(first, part)
   local names, others = { first:fact "sample_type" }, { part:fact "sample_type" }
   local is_equal = #names == #others and first:is_like(part, {}, true)
   for i, name in ipairs(names) do
      is_equal = is_equal and name == others[i]
   end
   return is_equal and {} or { samples = "the files have different sample types, so there is no "
      .. "table 'samples'; profiles have the types of all, a merged file those in common" }
end

-- Returns one metric for each sample type, and a table with their names in the file as keys. If two
-- have the same name, the second one gets the name of its column, because metrics are asked for by
-- name.
local function metrics_of(fields, names)
   local metrics, known = {}, {}
   for i = 2, #fields do
      local field, name = fields[i], names[i - 1]
      metrics[i - 1] = { name = known[name] and field.name or name,
         unit = field.help:match "in (.*)$" or "", column = field.name }
      known[name] = true
   end
   return metrics, known
end

---Returns the stack and the metrics of a profile. The metric that is shown first is the file's
---default sample type, else the last one, as in Go's pprof.
function pprof.profile(part)
   for _, described in ipairs(part:tables()) do
      if described.name == "samples" and #described.fields > 1 then
         local names, default = { part:fact "sample_type" }, part:fact "default_sample_type"
         local metrics, known = metrics_of(described.fields, names)
         return { table = "samples", stack = "stack", metrics = metrics,
            usual = known[default or false] and default or metrics[#metrics].name }
      end
   end
   return nil
end

-- Profiles keep the header fields of the file.
pprof.keeps_header = true

-- The tables that other tables repeat.
pprof.redundant = { samples = true }

pprof.first = { "flat" }

pprof.warnings = {
   ["pprof-bad-field"] = "a message ends inside a field or a number, or has bytes that are neither",
   ["pprof-bad-id"] = "a function or location has no id, or the id of another one",
   ["pprof-executable-mismatch"] = "no mapping of the file is that of the executable",
   ["pprof-first-string"] = "the first text of the table is not empty",
   ["pprof-has-names"] = "an executable is given for a file whose functions all have names",
   ["pprof-many-lines"] = "a location has more inlined lines than are read",
   ["pprof-many-types"] = "there are more sample types than are read",
   ["pprof-no-function"] = "a location refers to an unknown function",
   ["pprof-no-location"] = "a sample refers to an unknown location",
   ["pprof-no-string"] = "an index of the string table is out of range",
   ["pprof-not-written"] = "the written file cannot hold a table of the trace",
   ["pprof-overflow"] = "a time does not fit into 64 bits in nanoseconds: the value is missing",
   ["pprof-truncated"] = "the file ends inside a field, or has bytes that are not a field",
   ["pprof-types-differ"] = "a sample type is left out of a merged file: not all files have it",
   ["pprof-unnamed"] = "the executable has no function at some addresses of its mapping",
   ["pprof-values"] = "a sample has more or fewer values than there are sample types",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
pprof.remedies = {
   ["pprof-bad-field"] = "transfer the file again, in binary mode; all before the damage is read",
   ["pprof-bad-id"] = "report it to the program that wrote the file; all that is valid is read",
   ["pprof-executable-mismatch"] = "give the program that was profiled, as it was built then",
   ["pprof-first-string"] = "none needed: texts are found by their index",
   ["pprof-has-names"] = "none needed: the names are those of the file",
   ["pprof-many-lines"] = "none needed: the innermost lines are read",
   ["pprof-many-types"] = "none needed: the first ones are read",
   ["pprof-no-function"] =
      "report it to the program that wrote the file; the name is (unknown function)",
   ["pprof-no-location"] =
      "report it to the program that wrote the file; all that is valid is read",
   ["pprof-no-string"] = "report it to the program that wrote the file; all that is valid is read",
   ["pprof-not-written"] = "save in a format that holds it",
   ["pprof-overflow"] = "report it to the program that wrote the file; a merge of files keeps it",
   ["pprof-truncated"] = "transfer the file again, in binary mode; what is complete is read",
   ["pprof-types-differ"] = "merge files with the same sample types",
   ["pprof-unnamed"] = "give the unstripped program; addresses stand for these functions",
   ["pprof-values"] = "report it to the program that wrote the file; all that is valid is read",
}

return pprof
