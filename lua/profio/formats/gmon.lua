--- Options, addresses and warnings of the format gmon (gmon.out).
---
--- The decoder and the encoder are in csrc/formats/gmon/.

local later = require "profio.internal.later"
local gmon_segments = later "profio.formats.anonymising.gmon_segments"
local profile_notes = later "profio.formats.gmon.profile_notes"
local program = later "profio.formats.gmon.program"

local gmon = {}

gmon.name = "gmon"
gmon.help = "profiles of gprof: gmon.out, gmon.sum, BSD and Apple files, LD_PROFILE files"
gmon.extensions = { "out", "gmon", "sum", "profile" }
gmon.anonymiser = gmon_segments

gmon.options = {
   { name = "address_size", type = "int", default = 0,
     help = "bytes of an address, 4 or 8; 0: detect" },
   { name = "byte_order", type = "choice", choices = { "auto", "little", "big" }, default = "auto",
     help = "byte order of numbers" },
   { name = "dialect", type = "choice",
     choices = { "auto", "gnu", "4.4bsd", "bsd", "apple", "ld-profile" }, default = "auto",
     help = "form of the file" },
   { name = "counter_bits", type = "int", default = 0,
     help = "bits of a bin in BSD files, 8 16 32 64, negative for signed; 0: detect; 64 for what "
         .. "profio has written so" },
   { name = "arc_count_bits", type = "int", default = 0,
     help = "bits of an arc's count in 64-bit BSD files, 32 or 64; 0: detect" },
   { name = "rate", type = "int", default = 0,
     help = "samples per second, instead of the file's; 0: the file's" },
   { name = "extended_precision", type = "bool", default = false,
     help = "the profiled machine divided in extended precision (i386, m68k)" },
   { name = "any_executable", type = "bool", default = false,
     help = "use the names of an executable that is certainly not the profiled program" },
   { name = "elf_class", type = "int", default = 0,
     help = "bytes of an address in the executable, used if the file is ambiguous" },
   { name = "elf_order", type = "choice", choices = { "", "little", "big" }, default = "",
     help = "byte order of the executable, used if the file is ambiguous" },
}

gmon.write_options = {
   { name = "dialect", type = "choice", choices = { "gnu", "4.4bsd" }, default = "gnu",
     help = "form of the file" },
   { name = "address_size", type = "int", default = 0,
     help = "bytes of an address, 4 or 8; 0: as in the trace, else 8" },
   { name = "byte_order", type = "choice", choices = { "auto", "little", "big" }, default = "auto",
     help = "byte order of numbers; auto: as in the trace, else little" },
   { name = "counter_bits", type = "int", default = 0,
     help = "64: large counts of a GNU file in 8 bytes, which only profio reads" },
}

-- The columns of addresses that symbols resolve to functions, files and lines.
gmon.addresses = {
   histogram = { { column = "low", prefix = "" } },
   arcs = { { column = "from", prefix = "from_" }, { column = "to", prefix = "to_" } },
   blocks = { { column = "address", prefix = "" } },
}

---Returns how rows of a table are added up, or nil. Counts of basic blocks with the same address in
---several records or files are added, as gprof does.
---@param name string of a table
---@param parts userdata[] the files
---@return { key: string, sum: string }|nil
function gmon.summed(name, parts)
   local records = 0
   for _, part in ipairs(name == "blocks" and parts or {}) do
      records = records + (part:fact "block_records" or math.min(part:fact "blocks" or 0, 1))
   end
   return records > 1 and { key = "address", sum = "count" } or nil
end

---Returns the column that counts the histogram records of a file, and their number.
---@param part userdata
---@return string column
---@return integer used
function gmon.ids(part)
   return "set", (part:fact "sets")
end

---Returns what lies between two samples, if that is a whole number: the metric, its unit and the
---number. The rate is the number of samples in a second, or in a unit of another dimension.
---@param part userdata
---@return string|nil metric
---@return string|nil unit
---@return integer|nil period
function gmon.period(part)
   local rate, dimension = part:fact "rate" or 0, part:fact "dimension"
   if rate == 1 and dimension ~= "seconds" then
      return dimension, dimension, 1
   elseif rate > 0 and dimension == "seconds" then
      return "time", "nanoseconds", (1000000000 + rate // 2) // rate
   end
   return nil
end

-- The options with which a sum of files is opened, see internal/several/file_sums.lua.
gmon.sum_options = { counter_bits = 64 }

gmon.warnings = {
   ["gmon-bias-guessed"] = "the load address of the program is not its link address: it is guessed",
   ["gmon-address-size-guessed"] = "the file reads well with addresses of 4 and of 8 bytes",
   ["gmon-arc-padding"] = "the upper halves of the counts of arcs are taken as padding",
   ["gmon-bad-piece"] = "a piece of an Apple file has no known type or a size that does not fit",
   ["gmon-bad-tag"] = "a record has an unknown tag",
   ["gmon-count-too-large"] = "a count is above 2^63 - 1 and is shown as missing",
   ["gmon-counter-32"] = "the bins of a BSD file may have 32 bits",
   ["gmon-counter-type"] = "the type of counter in a BSD header is invalid",
   ["gmon-executable-mismatch"] = "the executable is not, or may not be, the profiled program",
   ["gmon-mcount"] = "time is spent in counting calls",
   ["gmon-no-bins"] = "a histogram has no bins",
   ["gmon-no-calls"] = "the file has samples, but no calls",
   ["gmon-no-rate"] = "the sampling rate is 0: there are no seconds",
   ["gmon-no-samples"] = "no sample was taken",
   ["gmon-not-written"] = "the written file cannot hold a table of the trace",
   ["gmon-odd-bins"] = "the size of all bins is not a multiple of the size of a bin",
   ["gmon-odd-histogram"] = "a histogram header has an impossible dimension or rate",
   ["gmon-old-blocks"] = "basic blocks of version 0 cannot be read",
   ["gmon-rate-guessed"] = "old BSD files do not state their sampling rate",
   ["gmon-reversed-range"] = "a histogram ends below its start: its bins have no addresses",
   ["gmon-samples-outside"] = "samples are at addresses that no symbol of the program covers",
   ["gmon-several-units"] = "the histograms count seconds and something else, or two things",
   ["gmon-threads"] = "calls that several threads make at the same time are not all counted",
   ["gmon-truncated"] = "the file ends inside a record",
   ["gmon-version-0"] = "the file has version 0 and is read as version 1",
   ["gmon-wide-block-number"] = "the number of basic blocks takes 8 bytes",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
gmon.remedies = {
   ["gmon-bias-guessed"] = "state it: --load-bias N, run-time address minus link-time address",
   ["gmon-address-size-guessed"] = "state it: --set address_size=4 or 8, or give the executable",
   ["gmon-arc-padding"] = "if counts of calls are wrong: --set arc_count_bits=64",
   ["gmon-bad-piece"] = "transfer the file again; what comes before is read",
   ["gmon-bad-tag"] = "transfer the file in binary mode; records before this byte are read",
   ["gmon-count-too-large"] = "table raw has the bytes as they are",
   ["gmon-counter-32"] = "if functions have impossible times: --set counter_bits=32",
   ["gmon-counter-type"] = "state the type: --set counter_bits=16",
   ["gmon-executable-mismatch"] = "give the executable that was profiled, not one built later",
   ["gmon-mcount"] = "leave it out: --ignore '~mcount'; or link without -static",
   ["gmon-no-bins"] = "the program had no sampling: only calls are counted",
   ["gmon-no-calls"] = "compile each source with -pg, too; profio help gprof-questions",
   ["gmon-no-rate"] = "state the samples per second: --set rate=100",
   ["gmon-no-samples"] = "let it run longer, or add several runs; call moncontrol(1) in a child of "
      .. "fork; profio help gprof-questions",
   ["gmon-not-written"] = "choose the form that holds it: --set dialect=gnu",
   ["gmon-odd-bins"] = "state the size of a counter: --set counter_bits=8, 16, 32 or 64",
   ["gmon-odd-histogram"] = "state the rate with --set rate=N, or transfer the file again",
   ["gmon-old-blocks"] = "build the program with a newer C library; the records before are read",
   ["gmon-rate-guessed"] = "state the samples per second of that system: --set rate=N",
   ["gmon-reversed-range"] = "transfer the file again; arcs and other histograms are read",
   ["gmon-samples-outside"] = "give the program that ran, unstripped; for LD_PROFILE the library",
   ["gmon-several-units"] = "look at the runs separately: their units cannot be added",
   ["gmon-threads"] = "take numbers of calls from a run with one thread; self times are right",
   ["gmon-truncated"] = "let the program end before the file is copied; what is complete is read",
   ["gmon-version-0"] = "none needed if the numbers make sense; else state --set dialect=bsd",
   ["gmon-wide-block-number"] = "none needed: the file of an unusual writer is read all the same",
}

-- Machines whose C library divided in extended precision: i386 and m68k.
local EM_386, EM_68K = 3, 4

---Sets options that are not given to the properties of the executable.
---@param options table of the format, changed
---@param facts table|nil of the executable, as profio.symbols gives them
function gmon.prepare(options, facts)
   if not facts then
      return
   end
   if options.elf_class == nil then
      options.elf_class = facts.address_size
   end
   if options.elf_order == nil then
      options.elf_order = facts.byte_order
   end
   if options.extended_precision == nil then
      options.extended_precision = facts.machine == EM_386 or facts.machine == EM_68K
   end
end

for _, name in ipairs { "guess_bias", "mismatch", "matches" } do
   gmon[name] = function(...)
      return program[name](...)
   end
end

---Returns notes about a profile of such files: see formats/gmon/profile_notes.lua. Without names, a
---profile with samples and calls has none.
---@param body profio.GraphBody exact
---@param facts table of the body
---@param part profio.core.Part the first file
---@param dictionary userdata|nil of the trace; nil: no symbols of the program are known
---@return { code: string, message: string }[]
function gmon.profile_notes(body, facts, part, dictionary)
   if not dictionary and facts.samples ~= 0 and facts.arc_rows > 0 then
      return {}
   end
   return profile_notes.of(body, facts, part, dictionary)
end

---Sets the write options that are not given to those of the trace that is copied.
---@param options table of writing, changed
---@param info { name: string, value: any }[] of the trace's first file; empty for another format
function gmon.save_defaults(options, info)
   for _, fact in ipairs(info) do
      if fact.name == "address_size" and (options.address_size or 0) == 0 then
         options.address_size = fact.value
      elseif fact.name == "byte_order" and (options.byte_order or "auto") == "auto" then
         options.byte_order = fact.value
      end
   end
end

return gmon
