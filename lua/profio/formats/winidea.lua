--- Options, side files and warnings of the format winidea.
---
--- The decoder is in csrc/formats/winidea/.

local later = require "profio.internal.later"
local export_rows = later "profio.formats.anonymising.export_rows"
local companions = require "profio.internal.opening.side_files"

local winidea = {}

winidea.name = "winidea"
winidea.follows = true
winidea.several_runs = "ascending"
winidea.help = "exports of the winIDEA profiler: Text1, XML, binary timelines (.BIN) 1.0 and 1.1"
winidea.extensions = { "bin", "txt", "xml" }
winidea.anonymiser = export_rows

-- Formats of the rows of each section, for reading and for writing; `info` is the help of the first
-- one, which says what an empty one means.
local function row_formats(info)
   return { { name = "info_format", type = "text", default = "", help = info },
      { name = "contexts_format", type = "text", default = "",
        help = "rows of CONTEXTS: text and macros, %NAME%,%HANDLE%" },
      { name = "handle_format", type = "text", default = "",
        help = "rows of HANDLE: %HANDLE%,%NAME%,%VALUE%" },
      { name = "statistics_format", type = "text", default = "",
        help = "rows of STATISTICS: %HANDLE%,%VALUE%,%COUNT%,%T.NET%" },
      { name = "timeline_format", type = "text", default = "",
        help = "rows of TIMELINE: %HANDLE%,%EVENT%,%VALUE%,%TIME%" } }
end

winidea.options = {
   { name = "bin_version", type = "choice", choices = { "auto", "1.0", "1.1" }, default = "auto",
     help = "version of a binary timeline; auto detects it from the contents" },
   { name = "record_size", type = "int", default = 24,
     help = "bytes of a record of a binary timeline: 24, or 20 if DATA has 4 bytes" },
   { name = "swap_suspend_resume", type = "bool", default = false,
     help = "types 1 and 2 of a binary timeline mean resume and suspend" },
   { name = "input_type", type = "choice", choices = { "I64", "F64" }, default = "I64",
     help = "type of the values of AUX inputs, if the mapping does not state it" },
   { name = "mapping_base", type = "choice", choices = { "auto", "10", "16" }, default = "auto",
     help = "base of the values of areas; auto: 16 for 8 or 16 digits or after 0x, else 10" },
   { name = "timeline_base", type = "choice", choices = { "auto", "10", "16" }, default = "auto",
     help = "base of the values of a timeline in Text1 or XML; auto as above" },
   { name = "context_area", type = "text", default = "",
     help = "variables that hold the context which a core runs: names or handles, separated by "
         .. "commas; * stands for any text" },
   { name = "dialect", type = "choice", choices = { "auto", "bin" }, default = "auto",
     help = "bin: read the file as a binary timeline, whatever its contents look like" },
   table.unpack(row_formats(
      "rows of INFO, if its header was changed; if empty (so for all below): as it states")),
}

winidea.roles = {
   { name = "mapping", help = "main file of a binary timeline, Text1 or XML",
     refused = "winidea-no-mapping" },
   { name = "timeline", help = "binary timeline of a main file" },
}

winidea.write_options = {
   { name = "dialect", type = "choice", choices = { "auto", "text1", "bin" }, default = "auto",
     help = "form of the file; auto: as the trace, else text1" },
   { name = "bin_version", type = "choice", choices = { "auto", "1.0", "1.1" }, default = "auto",
     help = "version of a binary timeline; 1.0 has no cores; auto: as in the trace, else 1.1" },
   { name = "timeline_binary", type = "bool", default = false,
     help = "for text1: write the timeline into a second file, with .BIN appended to the name" },
   { name = "timeline_states", type = "bool", default = true,
     help = "write events of states; else entering a state is a write of its variable" },
   { name = "line_end", type = "choice", choices = { "crlf", "lf" }, default = "crlf",
     help = "end of the lines of text1" },
   { name = "total_time", type = "int", default = -1,
     help = "for INFO, in ns; below 0: as in the trace, or none" },
   table.unpack(row_formats(
      "rows of INFO; if empty (so for all below): as in the trace, else %TOTAL_TIME%")),
}

-- Statistics are shown first if there are some, because an export may have no timeline.
winidea.first = { "statistics", "rows" }

-- Records go into this table if none is named.
winidea.main_written = "timeline"

-- The end of each call is recorded, so a call that ends before those in it shows a wrong stack.
winidea.records_ends = true

-- The tables that other tables repeat.
winidea.redundant = { events = true }

winidea.warnings = {
   ["winidea-ambiguous-row"] = "texts in a row are not separated: the end of one is a guess",
   ["winidea-bad-event"] = "a record has an unknown type of event",
   ["winidea-bad-header"] = "the format in the header of a section cannot be read",
   ["winidea-bad-row"] = "a row does not have the form that the header of its section states",
   ["winidea-joined"] = "several files are written as one run, because their times ascend",
   ["winidea-no-context"] = "no event got a context",
   ["winidea-no-contexts"] = "the timeline does not state the contexts that the file declares",
   ["winidea-no-mapping"] = "the file that should name the areas is not an export",
   ["winidea-no-names"] = "a binary timeline has no main file beside it, which names the areas",
   ["winidea-no-timeline"] = "a main file has names only: its binary timeline is not beside it",
   ["winidea-not-written"] = "the written file cannot hold a table of the trace",
   ["winidea-odd-flags"] = "a record has flags that are not documented",
   ["winidea-side-file"] = "a file beside the trace cannot be read",
   ["winidea-swapped"] = "types 1 and 2 of a binary timeline may mean the opposite",
   ["winidea-time-falls"] = "an event is earlier than the one before it",
   ["winidea-truncated"] = "the file ends inside a record",
   ["winidea-unknown-core"] = "the core whose context a variable holds is unknown",
   ["winidea-unused-mapping"] = "a mapping is given for a file that itself names its areas",
   ["winidea-version-guessed"] = "the version of a binary timeline is ambiguous",
   ["winidea-xml-damage"] = "the XML is cut, or an element does not end as it should",
   ["winidea-xml-late"] = "an XML export has areas before its timeline, and more after it",
   ["winidea-xml-refused"] = "the XML has what is not read: an encoding, a DOCTYPE, extreme sizes",
   ["winidea-xml-unknown"] = "a section of an XML export has no element that could be a row",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
winidea.remedies = {
   ["winidea-ambiguous-row"] =
      "export with a separator between the macros that names do not contain",
   ["winidea-bad-event"] = "state the version: --set bin_version=1.0 or 1.1",
   ["winidea-bad-header"] = "export with macros of the vendor's help in the format of the section",
   ["winidea-bad-row"] =
      "export again; if all rows are bad, the header of the section is not theirs",
   ["winidea-joined"] = "if periods matter, read the files together, without --merge",
   ["winidea-no-context"] = "name the variable of the running task: --set context_area=VARIABLE",
   ["winidea-no-contexts"] =
      "export rows with %CONTEXT%, or a .BIN and read it with --set context_area=VARIABLE",
   ["winidea-no-mapping"] = "name the main file of this timeline: --mapping FILE",
   ["winidea-no-names"] = "name the main file of this timeline: --mapping FILE",
   ["winidea-no-timeline"] =
      "place the binary timeline beside the file, or open it: profio FILE.BIN --mapping FILE",
   ["winidea-not-written"] = "choose a form that holds it: text1 with a format of rows, or bin 1.1",
   ["winidea-odd-flags"] = "check the version with --set bin_version; the flags are in table raw",
   ["winidea-side-file"] =
      "check the file and the right to read it, or name another: --mapping FILE",
   ["winidea-swapped"] = "if suspended areas seem to run: --set swap_suspend_resume=true",
   ["winidea-time-falls"] =
      "export one session without markers; calls are computed with the time as it is",
   ["winidea-truncated"] = "export again, or wait until the export has ended: --follow",
   ["winidea-unknown-core"] = "export .BIN 1.1, with a variable per core: running[0], running[1]",
   ["winidea-unused-mapping"] =
      "leave out --mapping, or open the binary timeline: profio FILE.BIN --mapping FILE",
   ["winidea-version-guessed"] = "state it: --set bin_version=1.0 or 1.1",
   ["winidea-xml-damage"] = "export again; what is before that byte is read",
   ["winidea-xml-late"] = "move the areas before the timeline, or export again",
   ["winidea-xml-refused"] = "export as Text1, or as UTF-8 without a document type",
   ["winidea-xml-unknown"] = "export as Text1; the names of elements that are read are in the help",
}

-- Returns the role and the possible names of the other half of an export: the binary timeline has
-- the name of the main file and one more extension.
local function beside(path)
   local name = path:match "[^/]*$"
   local stem = name:match "^(.+)%.[^.]*$" or name
   if name:lower():match "%.bin$" then
      return "mapping", { stem, stem .. ".txt", stem .. ".xml" }
   end
   return "timeline", { name .. ".BIN", stem .. ".BIN" }
end

---Returns the main file of a binary timeline, or the binary timeline of a main file.
---@param main { path: string|nil }
---@return { role: string, path: string }[]
function winidea.side_files(main)
   if not main.path or main.path == "-" then
      return {}
   end
   local role, names = beside(main.path)
   local found = companions.beside(main.path, names)
   return { found and { role = role, path = found } }
end

---Returns the path of the binary timeline that is written with a text.
---@param path string|nil of the text
---@param options table of writing
---@return { role: string, path: string|nil }[]
function winidea.side_outputs(path, options)
   if not options.timeline_binary or options.dialect == "bin" then
      return {}
   elseif path == "-" then
      error("timeline_binary needs an output file: there can be no file beside standard output", 0)
   end
   return { { role = "timeline", path = path and path .. ".BIN" } }
end

---Returns the binary timelines of an older text, which would be read with the new one if that has
---no timeline.
---@param path string of the text
---@param options table of writing
---@return string[]
function winidea.replaced(path, options)
   local name = path:match "[^/]*$" .. ".BIN"
   return options.dialect == "bin" and {} or companions.all_beside(path, name)
end

---Sets the write options that are not given to those of the trace that is copied.
---@param options table of writing, changed
---@param info { name: string, value: any }[] of the trace's first file; empty for another format
function winidea.save_defaults(options, info)
   local value = {}
   for _, fact in ipairs(info) do
      value[fact.name] = fact.value
   end
   if (options.dialect or "auto") == "auto" then
      options.dialect = value.dialect == "bin" and "bin" or "text1"
   end
   if (options.bin_version or "auto") == "auto" and value.version then
      options.bin_version = value.version
   end
   if (options.total_time or -1) < 0 and value.total_time then
      options.total_time = value.total_time
   end
   for _, section in ipairs { "info", "contexts", "handle", "statistics", "timeline" } do
      local name = section .. "_format"
      if (options[name] or "") == "" then
         options[name] = value[name]
      end
   end
end

---Returns the columns that cannot be written; `none` is the value that loses nothing.
---@param options table of writing
---@return { table: string, column: string, none: any }[]
function winidea.unwritten(options)
   local is_bin = options.dialect == "bin" or options.timeline_binary
   local format = options.timeline_format or ""
   local lost = {}
   if is_bin and options.bin_version == "1.0" or not is_bin then
      lost[1] = { table = "timeline", column = "core", none = -1 }
   end
   if is_bin or not format:upper():find("%CONTEXT%", 1, true) then
      lost[#lost + 1] = { table = "timeline", column = "context" }
   end
   return lost
end

return winidea
