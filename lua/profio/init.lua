-- profio: read, write and query the traces of any profiler.
--
--    local profio = require "profio"
--    local trace <close> = assert(profio.open "gmon.out")
--    for from, to, count in trace.arcs:each("from", "to", "count") do print(from, to, count) end

require "profio.internal.interpreter"

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local later = require "profio.internal.later"
local compare = later "profio.internal.compare"
local opening = later "profio.internal.opening.open"
local raise = require "profio.internal.raise"
local registry = later "profio.internal.opening.registry"
local store = later "profio.internal.store"
local writer = later "profio.internal.writing.writer"

local profio = {
   version = core.version,
   _VERSION = core.version,
   between = conditions.between,
   match = conditions.match,
   no = conditions.no,
   missing = conditions.missing,
}

---Open a trace: a path ("-" is standard input), { data = string }, or a list of them. Several files
---of one format are one trace, and so are the files of a directory that a format recognises. Files
---beside a trace are found, or given by their role: as an option with a path or { data = string },
---or beside the data: { data = a, memo = b }. Raises on wrong arguments.
---@param what string|table
---@param given table|nil format, strict, exe, ..., the options and side files of the format
---@return profio.Trace|nil
---@return string|nil message  with path, format and byte offset
---@return string|nil code  io, format, truncated, unsupported or limit
function profio.open(what, given)
   return opening.open(what, given)
end

---Register a format that is written in Lua; it is used like those of the core.
---  name      its name for --format
---  score     function(bytes, size, path): 0 to 100, how certain it is that a file has this format;
---            bytes: the first 64 KiB; path: or "(data)", "-"
---  tables    { name = { {column, type, help}, ... } }; types are int, num, addr, handle, bool,
---            name, area and bytes
---  main      the main table; options: as those of open; help: one line
---  open      function(source, options): { name = function(put) } with a function for each table,
---            or nil, message, code. put(value, ...) writes a row. Lines such as "main;work 12" are
---            written all at once by the second argument, if the first column has names and the
---            others are integers: put_lines(text, at, count) writes a row for each line from byte
---            `at` on that is a text with a semicolon and `count` whole numbers (1 to 8), the last
---            one first, and returns the position of the next line, which is another one or has no
---            end; how many rows it wrote; and the sum of the last numbers. It returns earlier when
---            a batch is full. source has path(), size(), read(offset, count), lines() and
---            warn(message, { kind = "damage" or "note", code =, offset = })
---  profile   from which columns trace:profile() is built, if there is no table `events`:
---            { table =, metrics = { { name =, unit = "ns" or "count", column = } } } (without
---            column: rows are counted), and either folded = a column of names "main;f;g", or
---            function = a column of names with, optionally, caller =, file =, line =; or
---            function(part) that returns such a table; part:fact(name) is a field of `info`,
---            which open returns beside the functions. timed = {} if the table has a column time,
---            so that from and to select rows; lanes = a column, lasts = a metric in it, optionally
---  encode    optional: function(rows, options, put) writes a file from start to end. rows has a
---            view of each table, rows.NAME, and the methods of the view of the main one, as
---            rows:each("time", "area"). put takes strings, the bytes. It fails by an error; one
---            that is a table { message =, code = } is returned as nil, message, code
---  check     optional: function(table_name, record) for records of writer:write: an error refuses
---            them. write_options: as options, those of encode
---Rows of table `events` have time, event (enter leave suspend resume write) and area; other events
---cause a warning.
---A format with `encode` is written like those of the core, by profio.create, trace:save and
---profio merge, but not through a ring. The file appears when `encode` has returned. Records of
---writer:write are kept in memory until then; rows of a trace are read when `encode` asks.
---@param format table
function profio.register(format)
   registry.register(format)
end

---Create a file of a format. See profio.writer.
---@param path string|nil  nil: close returns the bytes
---@param given table { format =, options of that format }
---@return profio.Writer|nil
---@return string|nil message
---@return string|nil code
function profio.create(path, given)
   return writer.create(path, given or {})
end

---Open a store of runs, in a file of SQLite 3. See profio help store.
---@param path string
---@param given table|nil { mode = "create" (default: it is created if it does not exist), "write"
---or "read" }
---@return profio.Store|nil
---@return string|nil message
---@return string|nil code
function profio.store(path, given)
   return store.open(path, given)
end

---Compare runs of an old version of a program with runs of a new one. Each side is a trace, a
---profile or a list of these; each of them is one run, and of a store each of its runs. The formats
---may differ. Fails if the runs must not be compared: profio help compare.
---@param base profio.Trace|profio.Profile|table the old runs
---@param new profio.Trace|profio.Profile|table the new runs
---@param given table|nil by = "function" (default), "area", "context", "line", "file" or "stack";
---metric, method, adjust, alpha, normalise, exact, single, anyway
---@return profio.Comparison|nil
---@return string|nil message
---@return string|nil code
function profio.compare(base, new, given)
   return compare.of(base, new, given)
end

---Returns all formats: { { name =, help =, options =, warnings =, writes = }, ... }
---@return table[]
function profio.formats()
   return registry.all()
end

raise.publish(profio)

return profio
