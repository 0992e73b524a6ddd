--- What the Lua side knows about winIDEA's exports: options, side files and warnings.
---
--- The decoder is in csrc/formats/winidea/.

local winidea = {}

winidea.name = "winidea"
winidea.help = "exports of the winIDEA profiler: Text1, binary timelines (.BIN) 1.0 and 1.1"
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
   { name = "mapping_base", type = "choice", choices = { "auto", "10", "16" }, default = "auto",
     help = "base of the values of areas; auto: 10, but 16 of 8 or 16 digits or after 0x" },
   { name = "timeline_base", type = "choice", choices = { "auto", "10", "16" }, default = "auto",
     help = "base of the values of a Text1 timeline; auto as above" },
   { name = "context_area", type = "text", default = "",
     help = "variable, by name or handle, that has the context which a core runs" },
   { name = "dialect", type = "choice", choices = { "auto", "bin" }, default = "auto",
     help = "bin: the file is a binary timeline, whatever it looks like" },
}

winidea.roles = {
   { name = "mapping", help = "main file of a binary timeline, Text1 or XML" },
   { name = "timeline", help = "binary timeline of a main file" },
}

winidea.warnings = {
   ["winidea-ambiguous-row"] = "texts stand side by side in a row, and where one ends is a guess",
   ["winidea-bad-event"] = "a record has a type of event that there is not",
   ["winidea-bad-header"] = "the format in the header of a section cannot be read",
   ["winidea-bad-row"] = "a row is not as the header of its section says",
   ["winidea-no-mapping"] = "the file that should name the areas is no export",
   ["winidea-odd-flags"] = "a record has flags outside those that are documented",
   ["winidea-side-file"] = "a file that stands beside cannot be read",
   ["winidea-time-falls"] = "an event is earlier than the one before it",
   ["winidea-truncated"] = "the file ends inside a record",
   ["winidea-version-guessed"] = "nothing tells the version of a binary timeline",
   ["winidea-xml-timeline"] = "the timeline of an XML export is not read",
}

-- The names under which the other half of an export may stand beside a file: the binary timeline
-- has the name of the main file and one more ending.
local function beside(path)
   local name = path:match "[^/]*$"
   local stem = name:match "^(.+)%.[^.]*$" or name
   if name:lower():match "%.bin$" then
      return "mapping", { stem, stem .. ".txt", stem .. ".xml" }
   end
   return "timeline", { name .. ".BIN", stem .. ".BIN" }
end

---The main file of a binary timeline, or the binary timeline of a main file.
---@param main { path: string|nil }
---@return { role: string, path: string }[]
function winidea.side_files(main)
   if not main.path or main.path == "-" then
      return {}
   end
   local role, names = beside(main.path)
   local found = require("profio.inputs").beside(main.path, names)
   return { found and { role = role, path = found } }
end

return winidea
