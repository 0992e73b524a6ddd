--- What the Lua side knows about winIDEA's exports: options, side files and warnings.
---
--- The decoder is in csrc/formats/winidea/.

local winidea = {}

winidea.name = "winidea"
winidea.help = "exports of the winIDEA profiler: binary timelines (.BIN) 1.0 and 1.1"
winidea.extensions = { "bin", "txt", "xml" }

winidea.options = {
   { name = "bin_version", type = "choice", choices = { "auto", "1.0", "1.1" }, default = "auto",
     help = "version of a binary timeline; auto tells by what stands in it" },
   { name = "record_size", type = "int", default = 24,
     help = "bytes of a record of a binary timeline: 24, or 20 where DATA has 4" },
   { name = "swap_suspend_resume", type = "bool", default = false,
     help = "types 1 and 2 of a binary timeline mean resume and suspend" },
   { name = "input_type", type = "choice", choices = { "I64", "F64" }, default = "I64",
     help = "type of the values of AUX inputs where the mapping does not tell it" },
}

winidea.warnings = {
   ["winidea-bad-event"] = "a record has a type of event that there is not",
   ["winidea-odd-flags"] = "a record has flags outside those that are documented",
   ["winidea-time-falls"] = "an event is earlier than the one before it",
   ["winidea-truncated"] = "the file ends inside a record",
   ["winidea-version-guessed"] = "nothing tells the version of a binary timeline",
}

return winidea
