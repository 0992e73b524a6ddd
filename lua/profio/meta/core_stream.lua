---@meta profio.core

-- Output files; writers of whole files and through a ring, and recovery of rings. Never loaded: for
-- editors.

---@class profio.core
local core = {}

---Opens an output file, like io.open. It gets its name, and replaces an older file, at core.commit;
---if it is only closed, nothing is left of it. Pipes and devices are written in place.
---@param path string
---@return file*|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.output(path) end

---Flushes a file of core.output, gives it its name and closes it.
---@param file file*
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.commit(file) end

---Returns the file that core.output would write.
---@param path string
---@return string|nil absolute with links followed
---@return boolean|string|nil is_in_place it is no regular file; or the message of a failure
---@return profio.core.Code|nil code
function core.output_path(path) end

---Returns device and inode of a regular file as bytes, which are equal for all its names; nil for
---any other path.
---@param path string
---@return string|nil
function core.file_id(path) end

---Returns the size of a regular file and the time of its last change; nil for any other path.
---@param path string
---@return integer|nil bytes
---@return integer|nil seconds since 1970
function core.file_state(path) end

---Returns the failure of a writer after file:write has failed.
---@param file file*
---@param errnum integer the third value that file:write answered
---@return nil
---@return string message with the name of a file of core.output
---@return profio.core.Code code
---@return "EPIPE"|nil when the reader of a pipe left
function core.write_failure(file, errnum) end

---Flush a file: true, or as core.write_failure if that fails, or if an earlier write has failed.
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function core.flush(file) end

---Returns a writer through a ring into a file, or into standard output ("-").
---@param format string
---@param options table<string, any>
---@param names profio.core.Dictionary
---@param path string
---@param side_files { role: string, path: string }[]|nil files that are written beside it
---@param plan table size, full, flush_every, fsync, claim, appends, kept
---@return profio.core.Stream|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.stream(format, options, names, path, side_files, plan) end

---Returns the id of a stack of frames, innermost first; nil for an empty stack.
---@param names profio.core.Dictionary
---@param frames { area: string?, class: string?, file: string?, line: integer?, value: integer? }[]
---@return integer|nil
function core.stack(names, frames) end

---Locks the ring of a path for one writer; core.stream takes the lock over.
---@param path string
---@return profio.core.Claim|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.claim(path) end

---@class profio.core.Claim
local claim = {}

---Releases the lock. Whatever a killed writer has left at the path stays.
function claim:close() end

---Flushes the folder of a path to the disk.
---@param path string
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.sync_folder(path) end

---Returns the contents of the ring at a path, as bytes of a file of its format and of side files by
---role.
---@param path string
---@param folders string[]|nil the file must be in one of them, as for core.named_file
---@param max_size integer|nil
---@return table|nil found { format, full, length, lengths, written, records, lost, is_alive,
---is_restarted, is_synced,
---damage, data, side_files }; { is_closed } of a file that is complete without its ring
---@return string|nil message
---@return profio.core.Code|nil code
function core.recover(path, folders, max_size) end

---Looks at the ring at a path, without a copy of its records.
---@param path string
---@param folders string[]|nil as for core.recover
---@param max_size integer|nil
---@return boolean|nil is_alive a writer has it; nil: there is no ring, or its writer has closed it
---@return integer|nil position grows with each record
function core.ring_state(path, folders, max_size) end

---@class profio.core.Stream
local stream = {}

---Writes everything and closes, ignoring failures.
function stream:close() end

---@return { name: string, fields: profio.core.Field[] }[]
function stream:tables() end

---@param table_name string
---@param record table<string, any>
---@return boolean|nil  false: it was dropped
---@return string|nil message
---@return profio.core.Code|nil code
function stream:put(table_name, record) end

---Returns a function that records a row: it returns nothing, false if the row was dropped, or nil,
---message, code.
---@param table_name string
---@param columns string[]
---@return fun(...): false|nil, string|nil, profio.core.Code|nil
function stream:emitter(table_name, columns) end

---Waits until the records are in the file.
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function stream:flush() end

---Like flush, but also writes a ring that overwrites.
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function stream:dump() end

---@return { tried: integer, written: integer, lost: integer, rounded: integer }
function stream:facts() end

---@return integer|nil bytes
---@return string|nil message
---@return profio.core.Code|nil code
function stream:finish() end

-- {====== Terminals ======

---@param file file*
---@return boolean
function core.is_terminal(file) end

---Returns the columns of the terminal; nil if the file is no terminal.
---@param file file*
---@return integer|nil
function core.terminal_width(file) end

-- }======

---Returns the tables that a format writes with default options.
---@param format string
---@return { name: string, fields: profio.core.Field[] }[]
function core.written(format) end

---Returns a writer into a file, into standard output ("-"), or (path nil) into memory.
---@param format string
---@param options table<string, any>
---@param names profio.core.Dictionary
---@param path string|nil
---@param side_files { role: string, path: string|nil }[]|nil files that may be written beside it
---@param removed string[]|nil older files that `finish` removes unless it writes them
---@return profio.core.Writer|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.writer(format, options, names, path, side_files, removed) end

---@class profio.core.Writer
local writer = {}

---Closes without writing: an older file stays.
function writer:close() end

---@return { name: string, fields: profio.core.Field[] }[]
function writer:tables() end

---@param table_name string
---@param record table<string, any>
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function writer:put(table_name, record) end

---Writes all rows of a reader that has the writer's dictionary.
---@param table_name string
---@param rows profio.core.Reader
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function writer:put_reader(table_name, rows) end

---Writes whole traces of the writer's format and dictionary, including data outside of rows. They
---must stay open until finish.
---@param parts profio.core.Part[]
---@return boolean|nil done  false: only rows are taken
---@return string|nil message
---@return profio.core.Code|nil code
function writer:put_traces(parts) end

---Returns counts of the rows that were put one by one; `rounded` counts values.
---@return { tried: integer, written: integer, lost: integer, rounded: integer }
function writer:facts() end

---Writes the rest and closes.
---@return integer|string|nil written bytes, or the bytes of a writer into memory
---@return string|table<string, string>|nil message, or those of the files beside it by role
---@return profio.core.Code|nil code
function writer:finish() end

---Returns a store in memory for rows of a table.
---@param name string of the table
---@param fields profio.core.Field[]
---@param names profio.core.Dictionary
---@return profio.core.RowStore
function core.row_store(name, fields, names) end

---@class profio.core.RowStore
local row_store = {}

---Sets the next row; raises for unknown columns and wrong types.
---@param record table<string, any>
function row_store:set(record) end

---Adds the row that was set.
function row_store:add() end

---Returns a reader of the rows. None may be added while it is used.
---@return profio.core.Reader
function row_store:reader() end

return core
