--- Options, warnings, profile and directories of the format dcpi (DIGITAL's Continuous Profiling
--- Infrastructure).
---
--- The decoder is in csrc/formats/dcpi/, the encoder in dcpi/encode.lua.

local later = require "profio.internal.later"
local dcpi_lines = later "profio.formats.anonymising.dcpi_lines"
local core = require "profio.core"
local database = require "profio.formats.dcpi.database"
local encoder = require "profio.formats.dcpi.encode"
local merge = require "profio.formats.dcpi.merge"
local sampling = require "profio.internal.bodies.sampling"

local dcpi = {}

dcpi.name = "dcpi"
dcpi.help = "profiles of DIGITAL's Continuous Profiling Infrastructure, and the text of dcpicat"
dcpi.extensions = { "dcpi" }
dcpi.anonymiser = dcpi_lines

-- The files of a trace are those of the images and events of one database, not runs.
dcpi.is_one_run = true

dcpi.options = {
   { name = "dialect", type = "choice", choices = { "auto", "pdb", "dcpicat" }, default = "auto",
     help = "form of the file: as the daemon writes it, or as dcpicat prints it" },
   { name = "byte_order", type = "choice", choices = { "auto", "little", "big" }, default = "auto",
     help = "byte order of numbers; auto: little, as on all DCPI machines" },
   { name = "offset_unit", type = "choice", choices = { "byte", "insn" }, default = "byte",
     help = "unit of the offset of a chunk: bytes, or instructions" },
   { name = "insn_size", type = "int", default = 4,
     help = "bytes from one counted address to the next" },
   { name = "zeros", type = "bool", default = false,
     help = "also rows for addresses without samples, where the file has counts of 0" },
   { name = "cpuspeed", type = "int", default = 0,
     help = "clock rate of the processors in MHz, where the file does not state it" },
   { name = "header_limit", type = "int", default = 65536,
     help = "bytes within which the header must end" },
   { name = "image", type = "text",
     help = "in a database: only this image, by identifier, name or path" },
   { name = "event", type = "text", help = "in a database: only files that count this event" },
   { name = "epoch", type = "text", help = "in a database: only this epoch, as digits" },
   { name = "label", type = "text", help = "in a database: only profiles with this label" },
   { name = "platform", type = "text", help = "in a database: only this machine" },
}

-- {====== Profile ======

local MOST_METRICS = 8 -- of a profile

-- Returns the events of all files, "cycles" first, and whether their time is known.
local function events_of(state)
   local names, known, has_time = {}, {}, false
   for _, part in ipairs(state.parts) do
      for _, row in ipairs(core.rows(part:reader "profiles", { "event", "cpuspeed" })) do
         has_time = has_time or row.event == "cycles" and (row.cpuspeed or 0) > 0
         if row.event and not known[row.event] then
            known[row.event] = true
            table.insert(names, row.event == "cycles" and 1 or #names + 1, row.event)
         end
      end
   end
   return names, has_time
end

-- Adds a note, once, about the events that a profile leaves out: those from a number on.
local function note_left_out(state, names, from)
   if names[from] and not state.noted_events then
      state.noted_events = true
      state.notes[#state.notes + 1] = { code = "dcpi-many-events", kind = "note",
         message = ("a profile has at most %d metrics: it leaves out %s"):format(MOST_METRICS,
            table.concat(names, ", ", from)) }
   end
end

-- Returns the metrics of a profile, and the pivot columns that hold the counts of the events.
local function metrics_of(state)
   local names, has_time = events_of(state)
   local metrics, columns = {}, {}
   if has_time then
      metrics[1] = { name = "time", unit = "ns", column = "spent" }
   end
   for i = 1, math.min(#names, MOST_METRICS - #metrics) do
      columns[i] = { name = names[i], column = "metric" .. i }
      metrics[#metrics + 1] = { name = names[i], unit = "count", column = "metric" .. i }
   end
   note_left_out(state, names, #columns + 1)
   return metrics, columns
end

---Returns from which columns a profile is built: functions are images, or procedures if symbols
---are loaded. An image without a name is known by its identifier.
---@param _ userdata
---@param state table of the trace
---@return table|nil
function dcpi.profile(_, state)
   local metrics, columns = metrics_of(state)
   local has_lines = state.symbols and state.symbols.facts.has_lines
   local source = #state.parts > 1 and "source_file" or "file"
   return #metrics > 0 and { table = "samples", metrics = metrics,
      ["function"] = state.symbols and "function" or "name",
      fallback = not state.symbols and "image" or nil,
      file = has_lines and source or state.symbols and "name" or nil,
      line = has_lines and "line" or nil,
      shape = function(reader)
         return core.pivot(reader, "event", "count", columns)
      end } or nil
end

---Returns how often the samples of each event were taken.
---@param state table of the trace
---@return profio.SamplingRate[]
function dcpi.sampling(state)
   local list, known = {}, {}
   for _, part in ipairs(state.parts) do
      for _, row in ipairs(core.rows(part:reader "profiles", { "event", "period" })) do
         local one = row.event and (row.period or 0) > 0
            and sampling.of_events(row.period, row.event)
         if one and not known[one.text] then
            known[one.text], list[#list + 1] = true, one
         end
      end
   end
   return list
end

-- }======

-- The tables that repeat the header.
dcpi.redundant = { profiles = true }

-- The report of DCPI's own tool is shown first.
dcpi.first = { "dcpiprof" }

---Checks a record, and writes a file: see profio.formats.dcpi.encode.
function dcpi.check(...)
   encoder.check(...)
end

function dcpi.encode(...)
   encoder.encode(...)
end

dcpi.write_options = {
   { name = "dialect", type = "choice", choices = { "auto", "0.07", "dcpicat" }, default = "auto",
     help = "form of the file; auto: dcpicat's text for a trace of such a text, else 0.07" },
   { name = "epochs", type = "choice", choices = { "merged", "kept" }, default = "merged",
     help = "for a database: merge all epochs into the earliest one, or keep each" },
   { name = "header", type = "text",
     help = "header lines, such as \"cpuspeed 333\", instead of the trace's own" },
}

-- The columns of addresses that symbols resolve to functions, files and lines.
dcpi.addresses = {
   samples = { { column = "address", prefix = "" } },
}

dcpi.warnings = {
   ["dcpi-address-order"] = "the addresses of dcpicat's text are not in ascending order",
   ["dcpi-address-wrap"] = "a chunk goes beyond the last address there is",
   ["dcpi-bad-counts"] = "a line of dcpicat's text does not have one count for each event",
   ["dcpi-bad-epoch"] = "the epoch is not a valid time",
   ["dcpi-bad-line"] = "a line has another form than the lines around it",
   ["dcpi-bad-value"] = "the value of a header line has an invalid form",
   ["dcpi-bad-version"] = "the version is missing, or does not have the form pdb-0.07",
   ["dcpi-beyond-text"] = "a chunk or an address lies outside of the code of the image",
   ["dcpi-byte-order"] = "a chunk is valid only in the other byte order",
   ["dcpi-carriage-return"] = "a header line ends with CR LF",
   ["dcpi-chunk-order"] = "the offsets of chunks are not in ascending order",
   ["dcpi-chunk-overlap"] = "a chunk begins inside the one before it",
   ["dcpi-control-byte"] = "the header has a control character",
   ["dcpi-count-too-large"] = "a count is above 2^63 - 1 and is shown as missing",
   ["dcpi-duplicate-line"] = "a required header line is present twice: the first one is used",
   ["dcpi-empty-chunk"] = "a chunk has no counts",
   ["dcpi-event-sum"] = "the counts of an event do not add up to its sum",
   ["dcpi-executable-mismatch"] = "the names of functions are of one image, the samples of several",
   ["dcpi-footer-addresses"] = "the footer states another number of addresses than was counted",
   ["dcpi-footer-impossible"] = "the footer states more addresses than there is room for",
   ["dcpi-footer-samples"] = "the footer states another sum of samples than was counted",
   ["dcpi-hex-prefix"] = "a hexadecimal number begins with 0x",
   ["dcpi-long-word"] = "a header line begins with a very long word",
   ["dcpi-many-events"] = "a profile leaves out events, because there are too many for it",
   ["dcpi-missing-line"] = "a required header line is missing",
   ["dcpi-no-footer"] = "the file ends after the header, without a footer",
   ["dcpi-not-written"] = "the written file cannot hold a table of the trace",
   ["dcpi-number-too-large"] = "a chunk states more counts than fit any file of this size",
   ["dcpi-odd-terminator"] = "there is text after the word \"samples\" that ends the header",
   ["dcpi-offset-unit"] = "the offsets of chunks may count instructions, not bytes",
   ["dcpi-other-minor"] = "the minor version is neither 6 nor 7",
   ["dcpi-stray-bytes"] = "the bytes before the footer are not a chunk",
   ["dcpi-sum-wrapped"] = "the footer has the sum of samples modulo 2^32",
   ["dcpi-text-mode"] = "the file was copied in text mode, which inserts carriage returns",
   ["dcpi-too-many-events"] = "dcpicat's text has more events than are read",
   ["dcpi-trailing-bytes"] = "there are bytes after the footer",
   ["dcpi-truncated"] = "the file ends inside a chunk or a line",
   ["dcpi-truncated-footer"] = "the file ends inside its footer",
   ["dcpi-unreadable"] = "a file of a database cannot be read",
   ["dcpi-unaligned"] = "the offset of a chunk is not a multiple of the size of an instruction",
   ["dcpi-unsupported-major"] = "the data of version 1 cannot be read: its form was not published",
   ["dcpi-value-too-large"] = "a number of the header is above 2^64 - 1",
   ["dcpi-wrong-number"] = "a chunk states another number of counts than it has",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
dcpi.remedies = {
   ["dcpi-address-order"] = "none needed: the rows are read in the order of the file",
   ["dcpi-address-wrap"] =
      "state the unit of offsets, --set offset_unit=insn, or transfer the file again",
   ["dcpi-bad-counts"] = "repeat dcpicat without other output between its lines",
   ["dcpi-bad-epoch"] = "none needed: the epoch is shown as it is in the header",
   ["dcpi-bad-line"] = "check whether the text was edited; the line is ignored",
   ["dcpi-bad-value"] = "none needed: the header table has the line as it is",
   ["dcpi-bad-version"] =
      "none needed: it is read as 0.07; for dcpicat's text state --set dialect=dcpicat",
   ["dcpi-beyond-text"] = "give the image that was profiled, or state --set offset_unit=insn",
   ["dcpi-byte-order"] = "state it: --set byte_order=big or little",
   ["dcpi-carriage-return"] = "transfer profiles in binary mode",
   ["dcpi-chunk-order"] = "none needed: all chunks are read",
   ["dcpi-chunk-overlap"] = "transfer the file again: counts of an address may be there twice",
   ["dcpi-control-byte"] = "transfer the file in binary mode",
   ["dcpi-count-too-large"] = "table raw has the bytes as they are",
   ["dcpi-duplicate-line"] = "table header has both lines",
   ["dcpi-empty-chunk"] = "none needed: it has no samples",
   ["dcpi-event-sum"] = "repeat dcpicat: lines of the text may be missing",
   ["dcpi-executable-mismatch"] = "choose one image: --set image=NAME",
   ["dcpi-footer-addresses"] = "transfer the file again: counts may be missing",
   ["dcpi-footer-impossible"] = "transfer the file again: counts may be missing",
   ["dcpi-footer-samples"] = "transfer the file again: counts may be missing",
   ["dcpi-hex-prefix"] = "none needed: the number is read",
   ["dcpi-long-word"] = "table header has the line",
   ["dcpi-many-events"] = "table samples has all; in a database choose one: --set event=NAME",
   ["dcpi-missing-line"] = "transfer the file again; what the line would state is missing",
   ["dcpi-no-footer"] = "flush the profiles (dcpiflush) before the file is copied",
   ["dcpi-not-written"] = "choose a form that holds it: --set dialect=pdb or dcpicat",
   ["dcpi-number-too-large"] = "transfer the file again; chunks before it are read",
   ["dcpi-odd-terminator"] = "transfer the file again; the line counts as one of an unknown word",
   ["dcpi-offset-unit"] = "state it: --set offset_unit=byte or insn",
   ["dcpi-other-minor"] = "none needed: it is read as 0.07",
   ["dcpi-stray-bytes"] = "transfer the file again; the bytes are in table raw",
   ["dcpi-sum-wrapped"] = "none needed: the counts are read and added without loss",
   ["dcpi-text-mode"] = "transfer the file in binary mode: counts are damaged",
   ["dcpi-too-many-events"] = "print fewer events at once with dcpicat",
   ["dcpi-trailing-bytes"] = "none needed: the bytes are in table raw",
   ["dcpi-truncated"] =
      "flush the profiles (dcpiflush) before the file is copied; what is complete is read",
   ["dcpi-truncated-footer"] = "transfer the file again; all counts are read",
   ["dcpi-unreadable"] = "check the file and the right to read it; the others are read",
   ["dcpi-unaligned"] = "state the unit of offsets: --set offset_unit=insn",
   ["dcpi-unsupported-major"] = "print it on its machine with dcpicat, and read that text",
   ["dcpi-value-too-large"] = "table header has the line as it is",
   ["dcpi-wrong-number"] = "transfer the file again; as many counts as the footer allows are read",
}

---Returns the column that counts the files, and 1 for each file.
---@return string column
---@return integer used
function dcpi.ids()
   return "profile", 1
end

---Returns whether a directory is a database.
---@param path string
---@return boolean
function dcpi.directory(path)
   return database.is_one(path)
end

---Returns the files of a database.
---@param path string
---@param options table of reading
---@return string[]|nil
---@return string|nil message
---@return string|nil code
function dcpi.expand(path, options)
   if core.kind(path) ~= "folder" then
      return nil
   end
   return database.files(path, options)
end

---Splits a text that has several profiles.
---@param source userdata
---@param options table of reading
---@return { number: integer, data: string }[]|nil
---@return string|nil message
---@return string|nil code
function dcpi.pieces(source, options)
   return database.pieces(source, options)
end

---Returns what lies between two samples, if the file has samples of one event and states it: the
---event, its unit and the number of events.
---@param part userdata
---@return string|nil metric
---@return string|nil unit
---@return integer|nil period
function dcpi.period(part)
   return part:fact "event", "count", part:fact "period"
end

---Returns why names of functions may be wrong: the samples come from several images, and the names
---from one.
---@param parts userdata[] the files
---@return { words: string }[]
function dcpi.mismatch(parts)
   local images, count = {}, 0
   for _, part in ipairs(parts) do
      for _, image in ipairs { part:fact "image" } do
         count = count + (images[image] and 0 or 1)
         images[image] = true
      end
   end
   return count > 1 and { { words = ("the files have samples of %d images, the names are of one "
      .. "(choose an image)"):format(count) } } or {}
end

---Writes a trace as a database: see profio.formats.dcpi.merge.
dcpi.save_directory = merge.save

---Sets the write options that are not given to those of the trace that is copied.
---@param options table of writing, changed
---@param info { name: string, value: any }[] of the trace's first file; empty for another format
function dcpi.save_defaults(options, info)
   for _, fact in ipairs(info) do
      if fact.name == "dialect" and fact.value == "dcpicat"
         and (options.dialect or "auto") == "auto" then
         options.dialect = "dcpicat"
      end
   end
end

return dcpi
