-- The format xpp: traces of the Alaska Xbase++ profiler (PRF), their packets, memo files (PRV) and
-- settings (PRI). The decoder and the encoder are in csrc/formats/xpp/, over csrc/formats/dbf/.
--
--    local trace <close> = assert(profio.open "Coffee.prf")
--    for time, op, call in trace.entries:each("time", "op", "call") do print(time, op, call) end

local later = require "profio.internal.later"
local prf_fields = later "profio.formats.anonymising.prf_fields"
local breaks = require "profio.formats.xpp.breaks"
local companions = require "profio.internal.opening.side_files"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local dbf = require "profio.formats.dbf"
local packets = require "profio.formats.xpp.packets"
local pri = require "profio.formats.xpp.pri"

local xpp = {
   name = "xpp",
   help = "traces of the Alaska Xbase++ profiler: PRF as table or text, packets, PRI",
   extensions = { "prf" },
   anonymiser = prf_fields,
   first = { "xpppat" },
   follows = true,
   several_runs = "detected",
   time_unit = "ms", -- in which the profiler measures
}

xpp.roles = {
   { name = "memo", help = "file of the parameters (.prv), instead of the one beside it" },
   { name = "pri", help = "settings of the run (.pri), instead of those beside it",
     converted = pri.packed },
   dbf.cpg_role,
   { name = "packet", help = "packet of rows; packets beside the file are found" },
}

xpp.options = {
   { name = "map", type = "text", default = "",
     help = "roles of the fields, if names and values do not show them: "
        .. "thread=F,time=F,op=F,call=F,line=F,params=F; F is a name, or a number from 1" },
   { name = "form", type = "choice", choices = { "auto", "foxdbe", "deldbe", "text" },
     default = "auto", help = "the file is a table, or delimited text (deldbe or text)" },
   { name = "separator", type = "text", default = "",
     help = "character between the fields of a text, or tab; default: detect" },
   { name = "idle", type = "text", default = "",
     help = "functions in which a thread waits, such as Sleep,AppEvent: their time is not counted "
        .. "in calls" },
   { name = "deleted", type = "choice", choices = { "skip", "show" }, default = "skip",
     help = "records marked as deleted: left out, or shown with the flag deleted" },
   { name = "code_page", type = "text", default = "auto",
     help = "encoding of text: CP850, CP1252, ... as iconv names it; raw passes bytes through; "
        .. "auto: as the file states, except in memos that it marks as no text" },
}

xpp.write_options = {
   { name = "form", type = "choice", choices = { "foxdbe", "deldbe", "text" },
     default = "foxdbe", help = "a table, or delimited text (deldbe or text)" },
   { name = "layout", type = "choice", choices = { "binary", "text-fields" }, default = "binary",
     help = "numbers of a table: binary in Visual FoxPro, or digits as in dBASE III" },
   { name = "fields", type = "text", default = "",
     help = "fields of the table, such as TID I, TIME I, OP C(1), MSG C(20), FOO N(5); fields that "
        .. "no trace has are copied; default: those of the saved trace" },
   { name = "map", type = "text", default = "",
     help = "roles of the fields, if the names do not show them: op=F,call=F,..." },
   { name = "names", type = "choice", choices = { "stored", "doc" }, default = "stored",
     help = "names of the fields: TID, MSG, PARAMS, or as documented THREAD_ID, CALL, PARAMETERS" },
   { name = "symbol_size", type = "int", default = 20, unit = "bytes",
     help = "size of a function's name" },
   { name = "params", type = "bool", default = true,
     help = "write a field for parameters, and a memo file if there are any" },
   { name = "separator", type = "text", default = ",",
     help = "character between the fields of a text, or tab" },
   { name = "header_row", type = "bool", default = false,
     help = "the text begins with the names of the fields" },
   { name = "code_page", type = "text", default = "CP1252",
     help = "encoding of the text of a table; raw writes bytes as they are; pages that no table "
        .. "can state (UTF-8, ISO-8859-2, ...) are stated in a .cpg file beside it" },
   { name = "changed", type = "text",
     help = "date in the table's header, YYYY-MM-DD; default: today" },
   { name = "round", type = "bool", default = false,
     help = "round times to whole ms, because a table holds no others" },
   { name = "flush_every", type = "int", default = 0,
     help = "entries between two flushes, or of a packet; 0: write at the end" },
   { name = "packets", type = "bool", default = false,
     help = "write each flush_every entries into a file of its own: OUT.000001, ...; packets of an "
        .. "older trace are removed" },
   { name = "settings", type = "bool", default = false,
     help = "write a settings file (.pri) for such a run beside the file" },
}

xpp.warnings = {
   ["xpp-break"] = "functions have no leave, and it is not known exactly when they were left",
   ["xpp-bad-number"] = "the text of a field is not a number: the value is missing",
   ["xpp-clock-wrapped"] = "the 32-bit clock has wrapped, as every 49 days: later times follow",
   ["xpp-columns"] = "a row has more or fewer fields than the others",
   ["xpp-count"] = "the header states more records than there are",
   ["xpp-delete-flag"] = "a record has an unknown delete flag",
   ["xpp-deleted"] = "records marked as deleted are left out",
   ["xpp-fields-guessed"] = "the roles of the fields are guessed from their values",
   ["xpp-joined"] = "several files are written as one run, because their times ascend",
   ["xpp-lost-rows"] = "bytes between two records are not a record: rows are lost",
   ["xpp-no-roles"] = "no field is known to hold the operation or the function",
   ["xpp-not-written"] = "text has no place for the mark of deleted records",
   ["xpp-odd-quote"] = "a quote inside a text is not written twice",
   ["xpp-open-quote"] = "a text in quotes does not end",
   ["xpp-packet-double"] = "a packet repeats earlier rows and is left out",
   ["xpp-packet-gap"] = "packets are missing between others",
   ["xpp-partial-row"] = "the file ends inside a row",
   ["xpp-run-begins"] = "time starts again: another run begins in the same file",
   ["xpp-side-file"] = "a file found beside the trace cannot be read",
   ["xpp-stale-count"] = "the header states fewer records than there are: all are read",
   ["xpp-stray-end"] = "there is an end mark between rows",
   ["xpp-symbol-cut"] = "names fill their field: longer ones were cut",
   ["xpp-time-back"] = "a time is earlier than the one before in its thread",
   ["xpp-trailing"] = "there are bytes after the end mark",
   ["xpp-two-fields"] = "two fields have the same role: the first one is used",
   ["xpp-unknown-op"] = "an operation is none of i, I, O, o",
}

-- The remedy for each of them: a sentence that tells users how to proceed.
xpp.remedies = {
   ["xpp-break"] = "trace with line numbers, unfiltered (OPERATIONMODE=4105) and compiled with "
      .. "/profile; times of functions of one source file are then exact",
   ["xpp-bad-number"] = "if all times are missing, state the fields: --set map=time=FIELD",
   ["xpp-clock-wrapped"] = "none needed: times go on after the largest value of the clock",
   ["xpp-columns"] = "state the separator: --set separator=;",
   ["xpp-count"] = "copy the trace when the program has ended; complete records are read",
   ["xpp-delete-flag"] = "look at the record in table raw: rows may have shifted",
   ["xpp-deleted"] = "to see them: --set deleted=show",
   ["xpp-fields-guessed"] =
      "if columns are wrong, state them: --set map=thread=F,time=F,op=F,call=F",
   ["xpp-joined"] = "if periods matter, read the files together, without --merge",
   ["xpp-lost-rows"] = "copy the trace when the program has ended; rows after the gap are flagged",
   ["xpp-no-roles"] = "state the fields: --set map=op=F,call=F with names, or numbers from 1",
   ["xpp-not-written"] = "save a table: --set form=foxdbe; or leave deleted records out",
   ["xpp-odd-quote"] = "none needed: the quote is part of the text",
   ["xpp-open-quote"] =
      "none needed: the quote is a character; if rows are wrong, copy the trace again",
   ["xpp-packet-double"] = "none needed: its rows were read before",
   ["xpp-packet-gap"] = "put the missing packets beside the others; rows after a gap are flagged",
   ["xpp-partial-row"] = "copy the trace when the program has ended; complete rows are read",
   ["xpp-run-begins"] = "none needed: no call is open from one run to the next",
   ["xpp-side-file"] = "check the file and the right to read it; the trace is read without it",
   ["xpp-stale-count"] = "none needed: a program is writing the trace, or did not close it",
   ["xpp-stray-end"] = "none needed: rows after the mark are read",
   ["xpp-symbol-cut"] = "record with a larger Size for symbols: names that begin alike are one",
   ["xpp-time-back"] = "none needed: calls are computed with the time as it is",
   ["xpp-trailing"] = "none needed: the bytes are in table raw",
   ["xpp-two-fields"] = "state which field it is: --set map=time=FIELD",
   ["xpp-unknown-op"] = "state the field of the operation: --set map=op=FIELD",
}

for code, words in pairs(dbf.warnings) do
   xpp.warnings[code], xpp.remedies[code] = words, dbf.remedies[code]
end

---Returns the names of the functions in which threads wait.
---@param options table of the format
---@return string[]
function xpp.idle_of(options)
   local names = {}
   for name in (options.idle or ""):gmatch "[^,%s]+" do
      names[#names + 1] = name
   end
   return names
end

-- Table `events`, from which calls are computed: the enters and leaves among the entries.
xpp.derived = { events = { from = "entries", stage = function(reader, options, state, again)
   return core.events(reader, { idle = xpp.idle_of(options), details = true,
      ranges = breaks.ranges(state, again) })
end, note = breaks.note } }

---Returns the memo file, the settings and the packets beside a trace.
---@param main { path: string|nil, source: userdata, options: table }
---@return { role: string, path: string }[]
function xpp.side_files(main)
   if pri.is_one(main.source) then
      return { { role = "settings", path = main.source:path(),
         data = pri.packed(main.source:read(0, main.source:size())) } }
   elseif not main.path or main.path == "-" then
      return {}
   end
   local base = packets.base(main.path)
   local stem = base:match "[^/]*$":gsub("%.[^.]*$", "")
   local found = dbf.side_files { path = base, source = main.source, options = main.options }
   local settings = companions.beside(base, { stem .. ".pri" })
   if settings and settings ~= main.path then
      found[#found + 1] = { role = "pri", path = settings }
   end
   for _, path in ipairs(packets.beside(main.path)) do
      found[#found + 1] = { role = "packet", path = path }
   end
   return found
end

---Returns the file that stands for all packets of a trace: the header packet, or for text without
---one, the first packet.
---@param path string
---@return string[]
function xpp.expand(path)
   return { packets.first(path) }
end

-- {====== Writing ======

-- Returns a path with another extension, in upper case if the old extension is.
local function with_extension(path, extension)
   local stem, old = path:match "^(.-)%.([^./]*)$"
   local is_upper = (old or ""):match "%u" ~= nil
   return (stem or path) .. "." .. (is_upper and extension:upper() or extension)
end

local function writes_text(options)
   return options.form == "deldbe" or options.form == "text"
end

---Returns the files that are written beside a trace: parameters, packets, settings, code page. The
---.cpg file is written at the end, so packets and a table that grows while it is written have none.
---@param path string|nil
---@param options table of writing
---@param is_stream boolean|nil the table grows while it is written
---@return { role: string, path: string|nil }[]
function xpp.side_outputs(path, options, is_stream)
   local side_files = {}
   local has_path = path ~= nil and path ~= "-"
   if options.packets and has_path then
      side_files[1] = { role = "packet", path = path .. ".000001", numbered = true }
   end
   local is_text = writes_text(options)
   if not is_text and path ~= "-" then -- after the packets, which refer to it
      side_files[#side_files + 1] = { role = "memo", path = path and with_extension(path, "prv") }
   end
   local page = not is_text and has_path and not options.packets and not is_stream
      and dbf.cpg_of(path) or nil
   if page then
      options.cpg = 1
      side_files[#side_files + 1] = { role = "cpg", path = page }
   end
   if options.settings and path ~= "-" then
      side_files[#side_files + 1] = { role = "pri", path = path and with_extension(path, "pri") }
   end
   options.settings = nil
   return side_files
end

---Returns the files of an older trace beside a path that would be read as part of the new one; nil,
---message, code: they cannot be replaced.
---@param path string
---@param options table of writing
---@return string[]|nil
---@return string|nil message
---@return string|nil code
function xpp.replaced(path, options)
   local older, message, code = packets.replaced(path, options.packets == true)
   if not older or writes_text(options) then
      return older, message, code
   end
   local pages
   pages, message, code = dbf.replaced(path)
   return pages and table.move(pages, 1, #pages, #older + 1, older), message, code
end

-- Returns the definition of the field that is written for a row of table `structure`.
local function field_text(field)
   local letter = field.type
   if letter == "C" or letter == "N" or letter == "F" or letter == "V" or letter == "Q" then
      local has_decimals = field.decimals > 0 and (letter == "N" or letter == "F")
      local decimals = has_decimals and "," .. field.decimals or ""
      letter = ("%s(%d%s)"):format(letter, field.size, decimals)
   end
   return field.name .. " " .. letter .. (field.nullable and " null" or "")
end

---Sets the write options that are not given to those of the trace that is copied.
---@param options table of writing, changed
---@param info { name: string, value: any }[] of the trace's first file; empty for another format
---@param part userdata|nil that file; nil for another format
---@param path string|nil of the copy; "-": nothing can stand beside it
function xpp.save_defaults(options, info, part, path)
   local value = {}
   for _, fact in ipairs(info) do
      value[fact.name] = fact.value
   end
   options.form = options.form or value.dialect
   if options.form ~= "foxdbe" or value.dialect ~= "foxdbe" then
      options.header_row = options.header_row == nil and value.header_row or options.header_row
      return
   end
   local fields, roles = {}, {}
   for _, field in ipairs(core.rows(part:reader "structure")) do
      if field.type ~= "0" then
         fields[#fields + 1] = field_text(field)
         roles[#roles + 1] = field.role and field.role .. "=" .. field.name
      end
   end
   local is_own = not (options.fields or options.layout or options.symbol_size
      or options.params ~= nil)
   if is_own then
      options.fields, options.map = table.concat(fields, ", "), table.concat(roles, ",")
      options.layout = value.version == 0x30 and "binary" or "text-fields"
   end
   local has_place = path and path ~= "-" and not options.packets
   local is_stated = value.code_page_mark ~= 0 or has_place
   options.code_page = options.code_page or (is_stated and value.code_page or "raw")
end

---Returns the columns that cannot be written; `none` is the value that loses nothing.
---@param options table of writing
---@param given table options of the trace that is copied
---@return { table: string, column: string, none: any }[]
function xpp.unwritten(options, given)
   local function flag(word)
      return { table = "entries", column = "flags", none = conditions.no(conditions.match(word)) }
   end
   return { flag "gap", writes_text(options) and given.deleted == "show" and flag "deleted" or nil }
end

---Returns whether the files have a field for a column of entries; else all its values are missing.
---@param trace profio.Trace
---@param name string such as "line" or "params"
---@return boolean
function xpp.has_column(trace, name)
   local fields = trace.info.fields -- "thread=TID time=TIME ..."; nil: it differs between files
   return type(fields) ~= "string" or (" " .. fields):find(" " .. name .. "=", 1, true) ~= nil
end

-- A BREAK leaves functions without a leave, which is no sign of a wrong stack.
xpp.has_breaks = true

-- The tables that repeat the entries.
xpp.redundant = { structure = true, events = true, settings = true }

-- }======

return xpp
