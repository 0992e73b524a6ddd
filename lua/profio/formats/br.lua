--- Options, profile and warnings of the format br (Business Rules! BASIC).
---
--- The decoder and the encoder are in csrc/formats/br/.

local later = require "profio.internal.later"
local br_records = later "profio.formats.anonymising.br_records"

local br = {}

br.name = "br"
br.help = "Business Rules! BASIC: DEBUG PROFILE SAMPLED and TIMED; recordings of Lua programs"
br.follows = true
br.extensions = { "prf", "br", "log" }
br.anonymiser = br_records

---Returns the reports that the command shows first: the listing that BR itself prints, or for a
---recording of a Lua program the functions and lines with the longest times.
---@param trace profio.Trace
---@return string[] reports
function br.first(trace)
   return trace.info.recorded_by and { "hotfunctions", "hotlines" } or { "listing" }
end

br.options = {
   { name = "backtrace_order", type = "choice", choices = { "auto", "inner_first", "outer_first" },
     default = "auto",
     help = "which frame of a backtrace comes first; auto: detected by the main routine" },
   { name = "semantics", type = "choice", choices = { "auto", "self", "inclusive" },
     default = "auto", help = "whether the time of a line includes the lines that it called" },
   { name = "wall", type = "int", default = 0,
     help = "duration of the run in ns: times that add up to more are inclusive" },
   { name = "max_depth", type = "int", default = 65536,
     help = "frames kept of one backtrace; the others are counted" },
   { name = "code_page", type = "text", default = "auto",
     help = "encoding of the names and of the sources: CP437, CP850, ... as iconv names it; raw "
        .. "passes bytes through; auto: CP437, unless the names are UTF-8, as those of profio's "
        .. "recorder are" },
}

br.write_options = {
   { name = "recorded_by", type = "text", default = "",
     help = "program that recorded; written as the first mapped module, which no line uses" },
   { name = "code_page", type = "text",
     help = "encoding of the written names: CP437, CP850, ...; raw writes bytes as they are" },
}

---Sets the write options that are not given: the program that recorded, and the code page.
---@param options table of writing, changed
---@param info { name: string, value: any }[] of the trace's first file; empty for another format
function br.save_defaults(options, info)
   local value = {}
   for _, fact in ipairs(info) do
      value[fact.name] = fact.value
   end
   options.recorded_by = options.recorded_by or value.recorded_by
   options.code_page = options.code_page or value.code_page
end

---Returns the metrics of the samples: a TIMED profile has the self time of each line, and a
---recording of samples states their interval.
---@param part profio.core.Part
---@return table
function br.profile(part)
   local dialect = part:fact "dialect"
   local metrics = { { name = "samples", unit = "count" } }
   if dialect == "timed" or dialect == "mixed" then
      metrics = { { name = "time", unit = "ns", column = "self" },
         { name = "lines", unit = "count" } }
   elseif part:fact "interval" then
      table.insert(metrics, 1, { name = "time", unit = "ns", column = "self" })
   end
   local timed = metrics[1].name == "time" and { lasts = "time" } or nil
   return { table = "samples", stack = "stack", metrics = metrics, timed = timed }
end

---Returns what lies between two samples, if a recording states it: the metric, its unit and the
---number.
---@param part profio.core.Part
---@return string|nil metric
---@return string|nil unit
---@return integer|nil period
function br.period(part)
   local interval = part:fact "interval"
   return interval and "time", interval and "nanoseconds", interval
end

br.warnings = {
   ["br-bad-type"] = "a record has an unknown type",
   ["br-deep"] = "a group has more backtraces than are kept",
   ["br-empty-name"] = "a module has an empty name",
   ["br-late-mapping"] = "a module is mapped inside a group",
   ["br-little-endian"] = "the first length is valid only in the other byte order",
   ["br-long-time"] = "a line took more than 10^18 ns",
   ["br-mixed"] = "some groups have a time and others none",
   ["br-nested"] = "a group begins inside another one, which ends there",
   ["br-not-inclusive"] = "an inclusive time is less than that of the lines it includes",
   ["br-odd-line"] = "a line number is not from 1 to 99999",
   ["br-order-contradicts"] =
      "the main routine is at both ends of backtraces, or not at the assumed one",
   ["br-padding"] = "the file ends in zeros",
   ["br-remapped"] = "a module's number is given to another file",
   ["br-stray"] = "a record that belongs into a group is outside of all groups",
   ["br-stray-tag"] = "a function name, GOSUB or MAIN does not follow a frame",
   ["br-time-too-large"] = "a time is above 2^63 - 1 and is shown as missing",
   ["br-truncated"] = "the file ends inside a record or a group",
   ["br-two-tags"] = "a frame has more than one of function name, GOSUB and MAIN",
   ["br-two-times"] = "a group has several times, which are added up",
   ["br-unmapped"] = "a line is in a module whose name has not been given",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
br.remedies = {
   ["br-bad-type"] = "transfer the file in binary mode; records before this byte are read",
   ["br-deep"] = "keep more frames: --set max_depth=N",
   ["br-empty-name"] = "none needed: the module is shown as module#N",
   ["br-late-mapping"] = "none needed: the name holds from there on",
   ["br-little-endian"] = "none needed: the format is big-endian; ask who wrote the file",
   ["br-long-time"] = "look at the line in table raw: the clock may have been changed",
   ["br-mixed"] = "record with one of SAMPLED and TIMED; groups without a time count as samples",
   ["br-nested"] =
      "check whether the recording was interrupted; the group before counts as complete",
   ["br-not-inclusive"] = "state what times mean: --set semantics=self",
   ["br-odd-line"] = "none needed: the line is read as it is",
   ["br-order-contradicts"] = "state the order: --set backtrace_order=inner_first or outer_first",
   ["br-padding"] = "none needed: the zeros after the last record are ignored",
   ["br-remapped"] =
      "none needed: lines before it belong to the old file, lines after it to the new one",
   ["br-stray"] =
      "check whether the file is one recording from its beginning; the record is ignored",
   ["br-stray-tag"] = "none needed: the word is ignored",
   ["br-time-too-large"] = "table raw has the bytes as they are",
   ["br-truncated"] = "stop the profiler before the file is copied; what is complete is read",
   ["br-two-tags"] = "none needed: the first one holds",
   ["br-two-times"] = "none needed: the times of a group are added",
   ["br-unmapped"] = "record from the start of the program, so that the names are in the file",
}

return br
