---@meta profio.core

-- What the C core looks like from Lua, for editors and readers. It is never
-- loaded; a spec holds it against the core. All of this is internal: the module
-- `profio` is what scripts use.
--
-- Where a line says "or nil, message, code", code is one of io, format,
-- truncated, unsupported, limit. Wrong use raises.

---@class profio.core
---@field version string
local core = {}

---@alias profio.core.Code "io"|"format"|"truncated"|"unsupported"|"limit"

---@class profio.core.Field
---@field name string
---@field type "int"|"num"|"addr"|"bool"|"name"|"area"|"stack"|"bytes"|"handle"
---@field help string|nil

-- {====== Bytes ======

---Check a file that a trace names, without opening it: it must be a regular file of at most
---`max_size` bytes, and its real path below that of one of the folders.
---@param path string
---@param folders string[]|nil nil or empty: anywhere
---@param max_size integer|nil nil: of any size
---@return string|nil real_path
---@return string|nil message
---@return profio.core.Code|nil code "io": no such file; "unsupported", "limit": it may not be read
function core.named_file(path, folders, max_size) end

---The bytes of a file, of a pipe ("-" is standard input), or unpacked of gzip data. Of those that
---end early or are damaged `part` has what could be unpacked.
---@param path string
---@param max_size integer|nil most bytes a pipe or packed file may unpack to
---@return profio.core.Source|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return profio.core.Source|nil part
function core.source(path, max_size) end

---The same of two files at once, each as a table: { source } or { nil, message, code, part }.
---@param path string
---@param other string
---@param max_size integer|nil
---@return table
---@return table
function core.source_pair(path, other, max_size) end

---The bytes of a plain file that others write on: parts see more of it after part:grow().
---@param path string
---@return profio.core.Source|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.source_live(path) end

---The bytes of a string; gzip data is unpacked.
---@param bytes string
---@param label string what messages call it
---@param max_size integer|nil
---@return profio.core.Source|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return profio.core.Source|nil part
function core.source_data(bytes, label, max_size) end

---Bytes with an owner. Closing unmaps them; what reads them raises from then on.
---@class profio.core.Source
local source = {}

function source:close() end

---@return integer bytes
function source:size() end

---The path, or the label of a string.
---@return string
function source:path() end

---@param offset integer 0 is the first byte
---@param count integer
---@return string bytes shorter at the end
function source:read(offset, count) end

---for line in source:lines() do: lines end with LF or CR LF.
---@return fun(): string|nil
function source:lines() end

-- }======

-- {====== Names ======

---@return profio.core.Dictionary
function core.dictionary() end

---Strings as numbers, shared by all that belongs to one trace.
---@class profio.core.Dictionary
local dictionary = {}

---The frames of a stack, the innermost first. Raises for a number that was never given.
---@param number integer a value of a column of stacks
---@return { area: string, class: string, file: string, line: integer, value: integer }[]
function dictionary:stack(number) end

-- }======

-- {====== Traces ======

---The names of the core's formats, in order.
---@return string[]
function core.formats() end

---{ { name, score }, ... } of the formats with a score above 0, the surest first.
---@param bytes profio.core.Source
---@return { [1]: string, [2]: integer }[]
function core.detect(bytes) end

---One file with what belongs to it, as a format.
---@param format string
---@param sources { role: string, source: profio.core.Source }[] the main one first
---@param options table<string, any>
---@param strict boolean the first oddity is a failure
---@param names profio.core.Dictionary
---@return profio.core.Part|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.open(format, sources, options, strict, names) end

---@class profio.core.Part
local part = {}

function part:close() end

---Take what has been written behind its sources since it was opened live.
---@return boolean more
function part:grow() end

---One more source; readers see it when they ask for more.
---@param role string
---@param from profio.core.Source
function part:add(role, from) end

---@return { name: string, rows: integer|nil, fields: profio.core.Field[] }[]
function part:tables() end

---The facts of the header, in the file's order.
---@return { name: string, type: string, value: any }[]
function part:info() end

---Warnings from number `from` on.
---@param from integer|nil
---@return profio.Warning[]
function part:warnings(from) end

---Whether several readers of one of its tables may run in threads of their own.
---@return boolean
function part:parallel() end

---How many numbers its columns with part_numbers use.
---@return integer
function part:numbers_used() end

---A reader over the rows of a table, or over `count` of them from number `from` on (from 0),
---which it then cannot leave.
---@param table_name string
---@param from integer|nil
---@param count integer|nil
---@return profio.core.Reader|nil
---@return string|nil message
---@return profio.core.Code|nil code
function part:reader(table_name, from, count) end

-- }======

-- {====== Readers ======

---A stage: rows in batches. It can be read once.
---@class profio.core.Reader
local reader = {}

function reader:close() end

---@return profio.core.Field[]
function reader:fields() end

---The message of the last raise of a reader whose input could not be read, without a position.
---@return string|nil
function core.unread() end

---A reader whose rows f(put) supplies; f runs as a coroutine.
---@param fields { [1]: string, [2]: string }[]
---@param f fun(put: fun(...))
---@param names profio.core.Dictionary
---@param label string what messages call it
---@param opened profio.core.Source|nil  once it is closed, reading raises
---@return profio.core.Reader
function core.decoder(fields, f, names, label, opened) end

---A reader over an array of arrays of values.
---@param fields profio.core.Field[]
---@param rows any[][]
---@param names profio.core.Dictionary|nil
---@return profio.core.Reader
function core.rows_reader(fields, rows, names) end

---Rows for which all tests hold: { column=, op=, negate= } with, for op "eq" value=, "in" values=,
---"between" low= and high=, "match" pattern=; "missing" has nothing more.
---@param over profio.core.Reader
---@param tests table[]
---@return profio.core.Reader
function core.where(over, tests) end

---@param over profio.core.Reader
---@param f fun(...): any
---@param columns string[]
---@return profio.core.Reader
function core.filter(over, f, columns) end

---@param over profio.core.Reader
---@param n integer|nil
---@param skip integer|nil
---@return profio.core.Reader
function core.limit(over, n, skip) end

---How many rows have come through a reader of core.limit.
---@param limit profio.core.Reader
---@return integer
function core.passed(limit) end

---Entries with letters (columns op and call, maybe thread, time, flags) as enters and leaves: their
---columns, flags, event, overhead, compiled.
---@param over profio.core.Reader
---@return profio.core.Reader
function core.unfilter(over) end

---The same as a table of events: time, event, area, lane, flags.
---@param over profio.core.Reader
---@param options table|nil { idle = names of functions in which threads wait: the time of these is
---   taken out of their clocks; by_line = true: calls that begin at different lines are areas;
---   details = true: with columns line and params of the entries }
---@return profio.core.Reader
function core.events(over, options) end

---Of such entries the outer ones of each pair of letters.
---@param over profio.core.Reader
---@return profio.core.Reader
function core.refilter(over) end

---The rows with from <= column < to; found by bisection where the reader can seek.
---@param over profio.core.Reader
---@param column string of type int
---@param from integer|nil
---@param to integer|nil
---@return profio.core.Reader
function core.range(over, column, from, to) end

---Add the columns class, handle, value, parent, file and line of the area in a column.
---@param over profio.core.Reader
---@param column string
---@return profio.core.Reader
function core.with_area(over, column) end

---Columns computed from others.
---@param over profio.core.Reader
---@param formulas { name: string, steps: any[][], overflows: profio.core.Counter|nil }[]
---@return profio.core.Reader
function core.derive(over, formulas) end

---@class profio.core.Counter
local counter = {}

---How many rows one reading found to overflow.
---@return integer
function counter:value() end

---A counter of overflows for a formula.
---@return profio.core.Counter
function core.counter() end

---Add a column for each of `columns`: the value in rows with that name in `key`, else 0.
---@param over profio.core.Reader
---@param key string
---@param value string
---@param columns { name: string, column: string }[]
---@return profio.core.Reader
function core.pivot(over, key, value, columns) end

---Events as rows of the Best Trace Format: kind, time, source, source_instance, type, target,
---target_instance, event, note, number.
---@param over profio.core.Reader of time, event, area, and perhaps lane, value, number, core
---@param options table base, from, close, lines, stimuli, activations, interrupts (names of lanes)
---@return profio.core.Reader
function core.btf(over, options) end

---How busy lanes or cores were in pieces of time: start, stop, lane (or core), busy, load_share.
---@param over profio.core.Reader of time, event, area, and perhaps lane, core
---@param options { from: integer, to: integer, width: integer, by_core: boolean|nil }
---@return profio.core.Reader
function core.load(over, options) end

---The rows of all readers, with a column of names per constant.
---@param readers profio.core.Reader[]
---@param constants { name: string, values: string[] }[]
---@param numbers integer[]|nil how many part numbers each reader uses
---@return profio.core.Reader
function core.chain(readers, constants, numbers) end

---A row per combination of keys. The parts are more readers: they have the same rows between them,
---and are read in threads where the answers are the same.
---@param over profio.core.Reader
---@param keys table[] { column=, bucket=, octave=, name= } or { fn=, columns=, name=, type= }
---@param aggregates { fn: string, column: string|nil, name: string }[]
---@param parts profio.core.Parts|nil
---@return profio.core.Reader
function core.group(over, keys, aggregates, parts) end

---@class profio.core.Parts the readers in their order
---@field [integer] profio.core.Reader
---@field part profio.core.Part what they read from

---@param over profio.core.Reader
---@param keys { column: string, descending: boolean|nil }[]
---@return profio.core.Reader
function core.sort(over, keys) end

---The calls that events make: { recursion = "all"|"outermost", partial = "include"|"exclude",
---edges = "exclude"|"include", from =, to =, last =, max_depth = integers }.
---@param events profio.core.Reader
---@param options table
---@return profio.core.Reader
function core.calls(events, options) end

---How many threads the machine runs at once.
---@return integer
function core.processors() end

---What the calls come to: { by = "area"|"context"|"caller", quantiles = { "p50", ... }, parts =
---more readers of the same events, rows =, threads = } and the options of calls.
---@param events profio.core.Reader
---@param options table
---@return profio.core.Reader
function core.statistics(events, options) end

---The calls of events as what opens and closes on tracks, so that it nests; reads all events.
---@param events profio.core.Reader
---@param options profio.core.SpanOptions
---@return profio.core.Spans|nil
---@return string|nil message
---@return string|nil code
function core.kept_spans(events, options) end

---@class profio.core.SpanOptions
---@field from integer|nil
---@field to integer|nil
---@field last integer|nil
---@field lines boolean|nil
---@field variables boolean|nil
---@field rests boolean|nil

---@class profio.core.SpanTrack
---@field kind "lane"|"states"|"values"
---@field value any of a lane
---@field variable string|nil
---@field area integer
---@field run integer how often times began again before it
---@field rows integer opens and closes

---@class profio.core.Spans
local spans = {}

---The tracks by first sight.
---@return profio.core.SpanTrack[]
function spans:tracks() end

---The first and the last time of the events.
---@return integer first
---@return integer last
function spans:ends() end

---Returns a reader of the opens and closes of a track: kind, time, frame, name, net, flags.
---@param track integer from 1
---@param origin integer|nil subtracted from all times
---@return profio.core.Reader
function spans:reader(track, origin) end

---Returns a reader of the frames: frame, area, name.
---@return profio.core.Reader
function spans:frames() end

---How many frames there are.
---@return integer
function spans:frame_count() end

function spans:close() end

---Adds function, file and line of addresses.
---@param over profio.core.Reader
---@param names profio.core.Symbols
---@param bias integer run-time address minus link-time address
---@param columns { column: string, prefix: string }[]
---@param raw boolean|nil names as the symbol table has them
---@return profio.core.Reader
function core.symbolize(over, names, bias, columns, raw) end

-- }======

-- {====== The ends of a chain ======

---An iterator over values. The first is false when it is missing, the others nil.
---@param over profio.core.Reader
---@param columns string[]|nil
---@return fun(): ...
function core.each(over, columns) end

---An iterator over fresh tables; missing values are absent.
---@param over profio.core.Reader
---@param columns string[]|nil
---@return fun(): table
function core.records(over, columns) end

---@param over profio.core.Reader
---@param columns string[]|nil
---@return table[]
function core.rows(over, columns) end

---Read everything and keep nothing. Without `all` only what stages need is decoded.
---@param over profio.core.Reader
---@param all boolean|nil
---@return integer rows
function core.drain(over, all) end

---Whether a column has nanoseconds.
---@param over profio.core.Reader
---@param column string
---@return boolean
function core.is_time(over, column) end

---@param over profio.core.Reader
---@param options table output, columns, header, color, max_width, width, unit, percent
---@param out file*|nil
---@return integer|string|nil rows written, or without a file the text and the rows
---@return integer|string|nil
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.write_rows(over, options, out) end

---Each row by the template of its kind.
---@param over profio.core.Reader
---@param options { kind: string, templates: table<string, string> }
---@param out file*|nil
---@return integer|string|nil rows written, or without a file the text and the rows
---@return integer|string|nil
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.write_listing(over, options, out) end

-- }======

-- {====== Symbols ======

---@param exe profio.core.Source
---@param debug profio.core.Source|nil the separate debug file
---@param rule "exact"|"gprof" which symbols count
---@param names profio.core.Dictionary
---@return profio.core.Symbols|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.symbols_elf(exe, debug, rule, names) end

---@param text profio.core.Source what nm printed
---@param exe profio.core.Source|nil
---@param debug profio.core.Source|nil
---@param rule "exact"|"gprof"
---@param names profio.core.Dictionary
---@return profio.core.Symbols|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.symbols_nm(text, exe, debug, rule, names) end

---The facts of an executable alone.
---@param exe profio.core.Source
---@return table|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.executable(exe) end

---The check sum by which an executable names its debug file.
---@param debug profio.core.Source
---@return integer
function core.debug_crc(debug) end

---@class profio.core.Symbols
local symbols = {}

function symbols:close() end

---Cut them where the source line changes, as gprof's -l does; before anything reads them.
function symbols:by_line() end

---@return table facts address_size, byte_order, machine, ...
function symbols:facts() end

---@return integer
function symbols:count() end

---@param address integer as linked
---@return table|nil symbol
function symbols:find(address) end

---@return table[] in order of address
function symbols:all() end

---@param address integer
---@return string|nil file
---@return integer|nil line
function symbols:line(address) end

-- }======

-- {====== The command ======

---A file that can be opened twice: no pipe, no directory, and there.
---@param path string
---@return boolean
function core.is_plain_file(path) end

---The names in a folder but "." and "..", in no order.
---@param folder string
---@return string[]|nil
---@return string|nil message it cannot be read to its end
---@return string|nil code
function core.names_in(folder) end

---Writing to a pipe whose reader left becomes a failure of the write.
function core.ignore_broken_pipes() end

---Ctrl-C that waits for a stage to see it.
---@class profio.core.Interrupt
local interrupt = {}

---From here on Ctrl-C waits, until release.
---@return profio.core.Interrupt
function core.interrupt() end

---Sleep, or until a Ctrl-C.
---@param seconds number
---@return boolean interrupted whether there was one
function interrupt:wait(seconds) end

---Ctrl-C works again.
---@return boolean interrupted whether there was one
function interrupt:release() end

---The rows until a Ctrl-C; a bar on `screen` when it takes long.
---@param over profio.core.Reader
---@param total integer|nil rows, when known
---@param screen file*|nil
---@return profio.core.Reader
function interrupt:watch(over, total, screen) end

---The rows that are printed, until a Ctrl-C that no stage before has seen.
---@param over profio.core.Reader
---@return profio.core.Reader
function interrupt:guard(over) end

-- }======

return core
