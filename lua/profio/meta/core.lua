---@meta profio.core

-- The C core as seen from Lua, for editors and readers. This file is never
-- loaded; a spec compares it with the core. The core is internal: scripts use
-- the module `profio`.
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

---Checks a file that a trace names, without opening it: it must be a regular file of at most
---`max_size` bytes, and its real path must be below one of the folders.
---@param path string
---@param folders string[]|nil nil or empty: anywhere
---@param max_size integer|nil nil: of any size
---@return string|nil real_path
---@return string|nil message
---@return profio.core.Code|nil code "io": no such file; "unsupported", "limit": it may not be read
function core.named_file(path, folders, max_size) end

---Opens a file that core.named_file allows, and checks the opened file once more.
---@param path string
---@param folders string[]|nil nil or empty: anywhere
---@param max_size integer|nil nil: of any size
---@param max_unpacked integer|nil most bytes a packed file may unpack to
---@param length integer|nil only this many bytes of the file are used
---@param is_live boolean|nil the file is still being written, as for core.source
---@return profio.core.Source|nil
---@return string|nil message
---@return profio.core.Code|nil code as of core.named_file
---@return profio.core.Source|nil part
function core.named_source(path, folders, max_size, max_unpacked, length, is_live) end

---Returns the bytes of a file or pipe ("-" is standard input); gzip data is unpacked. If it is
---truncated or damaged, `part` has the bytes that could be unpacked.
---@param path string
---@param max_size integer|nil most bytes a pipe or packed file may unpack to
---@param length integer|nil only this many bytes are used
---@param is_live boolean|nil a regular file that is still being written: part:grow() makes more
---    visible
---@return profio.core.Source|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return profio.core.Source|nil part
function core.source(path, max_size, length, is_live) end

---Returns the bytes of a string; gzip data is unpacked.
---@param bytes string
---@param label string what messages call it
---@param max_size integer|nil
---@return profio.core.Source|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return profio.core.Source|nil part
function core.source_data(bytes, label, max_size) end

---Opens and unpacks files at once.
---@param paths string[] regular files
---@param max_size integer|nil most bytes a packed file may unpack to
---@return table<integer, profio.core.Source> sources by the indices of their paths, without those
---    of files that cannot be opened or unpacked completely
function core.sources(paths, max_size) end

---Bytes with an owner. Closing unmaps them; later use by readers raises.
---@class profio.core.Source
local source = {}

function source:close() end

---@return integer bytes
function source:size() end

---@return integer bytes of memory that it holds: of a copy or unpacked data; 0: a mapped file
function source:memory() end

---Returns the path, or the label of a string.
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

---Dictionary encoding of strings, areas and stacks, shared by all parts of a trace.
---@class profio.core.Dictionary
local dictionary = {}

---Returns the frames of a stack, innermost first. Raises for an unknown id.
---@param number integer a value of a column of stacks
---@return { area: string, class: string, file: string, line: integer, value: integer }[]
function dictionary:stack(number) end

-- }======

-- {====== Traces ======

---Returns the names of the core's formats, in order.
---@return string[]
function core.formats() end

---Returns { { name, score }, ... } of the formats with a score above 0, the most certain first.
---@param bytes profio.core.Source
---@return { [1]: string, [2]: integer }[]
function core.detect(bytes) end

---Returns how core.open opens files.
---@param format string
---@param options table<string, any>
---@param strict boolean|nil the first warning is an error
---@param names profio.core.Dictionary
---@param symbols profio.core.Symbols|nil of the executable, for a format that names functions while
---it opens files
---@param program string|nil path of the executable
---@return userdata opening
function core.opening(format, options, strict, names, symbols, program) end

---Opens one file, with its side files.
---@param opening userdata of core.opening
---@param main profio.core.Source the main file
---@param sides { role: string, source: profio.core.Source }[]|nil
---@return profio.core.Part|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.open(opening, main, sides) end

-- }======

-- {====== Readers ======

---A stage: a source of rows in batches, which can be read once.
---@class profio.core.Reader
local reader = {}

function reader:close() end

---@return profio.core.Field[]
function reader:fields() end

---Returns the message of the last error of a reader whose input could not be read, without
---position, or what a reader of the user has raised.
---@param value any sets it
---@return any message
---@return string|nil code unless a reader of the user raised it
function core.unread(value) end

---Returns a reader of the rows that f(put) supplies; f runs as a coroutine.
---@param fields { [1]: string, [2]: string }[]
---@param f fun(put: fun(...))
---@param names profio.core.Dictionary
---@param label string what messages call it
---@param opened profio.core.Source|nil  once it is closed, reading raises
---@return profio.core.Reader
function core.decoder(fields, f, names, label, opened) end

---Returns a reader of an array of arrays of values.
---@param fields profio.core.Field[]
---@param rows any[][]
---@param names profio.core.Dictionary|nil
---@return profio.core.Reader
function core.rows_reader(fields, rows, names) end

---A compiled Lua pattern.
---@class profio.core.Pattern
local pattern = {}

---Compiles a Lua pattern.
---@param text string
---@return profio.core.Pattern|nil
---@return string|nil problem what is wrong with the text
function core.pattern(text) end

---Searches a text, as string.find; raises "interrupted by Ctrl-C" after one that is held back.
---@param text string
---@return integer|nil first
---@return integer|nil last
function pattern:find(text) end

---Rows that satisfy all tests: { column=, op=, negate= } with, for op "eq" value=, "in" values=,
---"between" low= and high=, "match" pattern= (core.pattern); nothing for "missing".
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

---Converts entries (columns op and call, optionally thread, time, flags) to enters and leaves:
---their columns, flags, event, overhead, compiled.
---@param over profio.core.Reader
---@param ranges profio.core.LineRanges|nil to find the calls that a BREAK left
---@return profio.core.Reader
function core.unfilter(over, ranges) end

---Like unfilter, but as a table of events: time, event, area, lane, flags.
---@param over profio.core.Reader
---@param options table|nil { idle = names of functions in which threads wait: the time of these is
---   taken out of their clocks; by_line = true: calls that begin at different lines are areas;
---   details = true: with columns line and params of the entries; ranges = those of
---   core.line_ranges }
---@return profio.core.Reader
function core.events(over, options) end

---The inverse of unfilter: keeps the outer entry of each pair.
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

---Returns the stacks that the dictionary of a reader has now: stack, parent, depth, frame.
---@param of profio.core.Reader
---@return profio.core.Reader
function core.stacks(of) end

---Adds columns computed from others.
---@param over profio.core.Reader
---@param formulas { name: string, steps: any[][], overflows: profio.core.Counter|nil }[]
---@return profio.core.Reader
function core.derive(over, formulas) end

---@class profio.core.Counter
local counter = {}

---Returns how many rows overflowed in one reading.
---@return integer
function counter:value() end

---Returns a counter of overflows for a formula.
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

---Load of lanes or cores by intervals of time: start, stop, lane (or core), busy, load_share.
---@param over profio.core.Reader of time, event, area, and perhaps lane, core
---@param options { from: integer, to: integer, width: integer, by_core: boolean|nil }
---@return profio.core.Reader
function core.load(over, options) end

---Sums of the slow and the typical calls of a function (csrc/kernels/explain/explain.h): group,
---node, parent, area, count, net, elapsed, start, lane, runner.
---@param over profio.core.Reader of time, event, area, and perhaps lane, core
---@param options table area, quantile (0 to 1), lanes (a list; default: all), and those of
---core.calls
---@param again profio.core.Reader another reader of the same events
---@return profio.core.Reader
function core.explain(over, options, again) end

---Concatenates the rows of all readers, with a column of names per constant.
---@param readers (profio.core.Reader|profio.core.Part)[] after the first one a part stands for its
---table of the same name, which is opened when it is read
---@param constants { name: string, values: string[] }[]
---@param id string|nil an int column that counts from 0 in each reader, and is to count on
---@param used integer[]|nil how many values of it each reader uses
---@return profio.core.Reader
function core.chain(readers, constants, id, used) end

---Groups rows: one row per combination of keys. `parts` are readers that together have the same
---rows; they are read in threads if the result does not depend on it.
---@param over profio.core.Reader
---@param keys table[] { column=, bucket=, octave=, name= } or { fn=, columns=, name=, type= }
---@param aggregates { fn: string, column: string|nil, name: string }[]
---@param parts profio.core.Parts|nil
---@return profio.core.Reader
function core.group(over, keys, aggregates, parts) end

---The largest error of a quantile that is an estimate (column `about` names it), relative to it.
---@type number
core.quantile_error = 1 / 256

---@class profio.core.Parts readers of the chunks of a table, in order
---@field [integer] profio.core.Reader
---@field part profio.core.Part the part that they read

---@param over profio.core.Reader
---@param keys { column: string, descending: boolean|nil }[]
---@return profio.core.Reader
function core.sort(over, keys) end

---Computes calls from events: { recursion = "all"|"outermost", partial = "include"|"exclude",
---edges = "exclude"|"include", from =, to =, last =, max_depth = integers, counts = }.
---@param events profio.core.Reader
---@param options table
---@return profio.core.Reader
function core.calls(events, options) end

---Returns the number of processors that the process may use, as nproc does.
---@return integer
function core.processors() end

---Computes statistics of calls: { by = "area"|"context"|"caller", quantiles = { "p50", ... }, parts
---=
---more readers of the same events, rows =, threads = } and the options of calls.
---@param events profio.core.Reader
---@param options table
---@return profio.core.Reader
function core.statistics(events, options) end

---Computes the packed sums of the calls in events: whole numbers from which core.sums_statistics
---returns their statistics. Options as those of core.statistics, and recording = "stated"|"events",
---which is only kept; sums by area and by context are the same.
---@param events profio.core.Reader
---@param options table
---@return string
function core.packed_sums(events, options) end

---Adds up packed sums that were computed with the same options, in any order and grouping.
---@param list string[] at least one
---@return string|nil
---@return string|nil message
---@return string|nil code
function core.merged_sums(list) end

---Returns the statistics in packed sums, with the columns of core.statistics; the rows of all lanes
---come first, then those of each lane, in the order of its value; areas are ordered by name, those
---with a parent after the others.
---@param packed string
---@param options table as those of core.packed_sums, and quantiles = { "p50", ... }
---@param into profio.core.Dictionary which gets the names and areas
---@return profio.core.Reader|nil
---@return string|nil message
---@return string|nil code
function core.sums_statistics(packed, options, into) end

---Computes the calls of events as properly nested opens and closes on tracks; reads all events.
---@param events profio.core.Reader
---@param options profio.core.SpanOptions
---@return profio.core.Spans|nil
---@return string|nil message
---@return string|nil code
function core.store_spans(events, options) end

---@class profio.core.SpanOptions
---@field from integer|nil
---@field to integer|nil
---@field last integer|nil
---@field lines boolean|nil
---@field variables boolean|nil
---@field idle boolean|nil

---@class profio.core.SpanTrack
---@field kind "lane"|"states"|"values"
---@field value any of a lane
---@field variable string|nil
---@field area integer
---@field run integer number of times the clock started again before it
---@field rows integer number of opens and closes

---@class profio.core.Spans
local spans = {}

---Returns the tracks in order of first use.
---@return profio.core.SpanTrack[]
function spans:tracks() end

---Returns the first and the last time of the events.
---@return integer first
---@return integer last
function spans:ends() end

---Returns a reader of the opens and closes of a track: kind, time, frame, name, net, flags,
---depth (of calls, from 1).
---@param track integer from 1
---@param origin integer|nil subtracted from all times
---@return profio.core.Reader
function spans:reader(track, origin) end

---Returns a reader of the frames: frame, area, name.
---@return profio.core.Reader
function spans:frames() end

---Returns the number of frames.
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

-- {====== Consumers ======

---Returns an iterator over values. A missing value is false in the first column, else nil.
---@param over profio.core.Reader
---@param columns string[]|nil
---@return fun(): ...
function core.each(over, columns) end

---Returns an iterator over records, a new table each, without missing values.
---@param over profio.core.Reader
---@param columns string[]|nil
---@return fun(): table
function core.records(over, columns) end

---@param over profio.core.Reader
---@param columns string[]|nil
---@param most integer|nil only the first rows
---@return table[]
function core.rows(over, columns, most) end

---Reads all rows and discards them. Without `all` only columns that stages need are decoded.
---@param over profio.core.Reader
---@param all boolean|nil
---@return integer rows
function core.drain(over, all) end

---Returns the help of a column with the weights of a metric, from which core.unit reads the unit.
---@param text string
---@param metric string its name
---@param unit string
---@return string
function core.help_of_weight(text, metric, unit) end

---Returns the unit of a column of numbers: "ns", what it counts ("bytes"), or an empty text.
---@param over profio.core.Reader
---@param column string
---@return string
function core.unit(over, column) end

---@param over profio.core.Reader
---@param options table output, columns, header, color, max_width, width, unit, percent, keys, depth
---@param out file*|nil
---@return integer|string|nil rows written, or without a file the text and the rows
---@return integer|string|nil
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.write_rows(over, options, out) end

---Writes each row by the template of its kind.
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

---Returns the symbols that symbols:pack has written.
---@param packed string
---@param names profio.core.Dictionary
---@return profio.core.Symbols|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.symbols_packed(packed, names) end

---Returns the properties of an executable.
---@param exe profio.core.Source
---@return table|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.executable(exe) end

---Returns the checksum by which an executable identifies its debug file.
---@param debug profio.core.Source
---@return integer
function core.debug_crc(debug) end

---@class profio.core.Symbols
local symbols = {}

function symbols:close() end

---Splits symbols where the source line changes, as gprof's -l does; call it before any reader.
function symbols:by_line() end

---@return table facts address_size, byte_order, machine, ...
function symbols:facts() end

---@return integer
function symbols:count() end

---@param address integer as linked
---@return table|nil symbol
function symbols:find(address) end

---Compares the calls of a profile with the symbols.
---@param part profio.core.Part a gmon file; the first batch of its arcs is read
---@param bias integer run-time address minus link-time address
---@return integer called different addresses that are called
---@return integer misplaced those at which no function counts its calls
function symbols:check_calls(part, bias) end

---@return table[] in order of address
function symbols:all() end

---@param address integer
---@return string|nil file
---@return integer|nil line
function symbols:line(address) end

---Returns symbols and lines as bytes.
---@return string
function symbols:pack() end

-- }======

return core
