---@meta profio.core

-- Output files; writers of whole files and through a ring, and what killed ones leave. Never
-- required: for editors.

---@class profio.core
local core = {}

---A file to write into, like one of io.open. It gets its name, and replaces an older file, at
---core.commit; closed in another way it leaves nothing. Pipes and devices are written in place.
---@param path string
---@return file*|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.output(path) end

---Write what is buffered, give a file of core.output its name and close it.
---@param file file*
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
---@return "EPIPE"|nil
function core.commit(file) end

---The file that core.output would write.
---@param path string
---@return string|nil absolute with links followed
---@return boolean|string|nil is_in_place it is no regular file; or the message of a failure
---@return profio.core.Code|nil code
function core.output_path(path) end

---Returns the failure of a writer after file:write has failed.
---@param file file*
---@param errnum integer the third value that file:write answered
---@return nil
---@return string message with the name of a file of core.output
---@return profio.core.Code code
---@return "EPIPE"|nil when the reader of a pipe left
function core.write_failure(file, errnum) end

---A writer through a ring into a file, or into standard output ("-").
---@param format string
---@param options table<string, any>
---@param names profio.core.Dictionary
---@param path string
---@param sides { role: string, path: string }[]|nil files that are written beside it
---@param plan table size, full, flush_every, fsync, claim, appends, kept
---@return profio.core.Stream|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.stream(format, options, names, path, sides, plan) end

---The number of a stack of frames, the innermost first; nil of none.
---@param names profio.core.Dictionary
---@param frames { area: string?, class: string?, file: string?, line: integer?, value: integer? }[]
---@return integer|nil
function core.stack(names, frames) end

---The right to write the ring at a path, which one writer has at a time; core.stream takes it over.
---@param path string
---@return profio.core.Claim|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.claim(path) end

---@class profio.core.Claim
local claim = {}

---Give the right back. What a killed writer has left at the path stays.
function claim:close() end

---Write the names in the folder of a path onto the disk.
---@param path string
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.sync_folder(path) end

---What the ring at a path holds, as bytes of a file of its format and of those beside it by role.
---@param path string
---@return table|nil found { format, full, length, lengths, written, records, lost, is_alive,
---is_restarted, is_synced,
---damage, data, sides }; { is_closed } of a file that is complete without its ring
---@return string|nil message
---@return profio.core.Code|nil code
function core.recover(path) end

---@class profio.core.Stream
local stream = {}

---Write everything and close, whatever comes of it.
function stream:close() end

---@return { name: string, fields: profio.core.Field[] }[]
function stream:tables() end

---@param table_name string
---@param record table<string, any>
---@return boolean|nil  false: it was dropped
---@return string|nil message
---@return profio.core.Code|nil code
function stream:put(table_name, record) end

---A function that records a row for the values of these columns: it answers nothing, false when
---the row was dropped, or nil, message, code.
---@param table_name string
---@param columns string[]
---@return fun(...): false|nil, string|nil, profio.core.Code|nil
function stream:emitter(table_name, columns) end

---Wait until what was recorded is in the file.
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function stream:flush() end

---The same, also of a ring that overwrites.
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

---The places of a line of the terminal that a file is; nil when it is none.
---@param file file*
---@return integer|nil
function core.terminal_width(file) end

-- }======

---The tables that a format writes when no option says otherwise.
---@param format string
---@return { name: string, fields: profio.core.Field[] }[]
function core.written(format) end

---A writer into a file, into standard output ("-"), or (path nil) into memory.
---@param format string
---@param options table<string, any>
---@param names profio.core.Dictionary
---@param path string|nil
---@param sides { role: string, path: string|nil }[]|nil files that may be written beside it
---@return profio.core.Writer|nil
---@return string|nil message
---@return profio.core.Code|nil code
function core.writer(format, options, names, path, sides) end

---@class profio.core.Writer
local writer = {}

---Leave without writing: the old file stays.
function writer:close() end

---@return { name: string, fields: profio.core.Field[] }[]
function writer:tables() end

---@param table_name string
---@param record table<string, any>
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function writer:put(table_name, record) end

---All rows of a reader of the writer's dictionary.
---@param table_name string
---@param rows profio.core.Reader
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function writer:put_reader(table_name, rows) end

---Whole traces of the writer's format and dictionary, with what rows do not hold. They stay open
---until finish.
---@param parts profio.core.Part[]
---@return boolean|nil done  false: only rows are taken
---@return string|nil message
---@return profio.core.Code|nil code
function writer:put_traces(parts) end

---Returns counts of the rows that were put one by one; `rounded` counts values.
---@return { tried: integer, written: integer, lost: integer, rounded: integer }
function writer:facts() end

---Write what is left and close.
---@return integer|string|nil written bytes, or the bytes of a writer into memory
---@return string|table<string, string>|nil message, or those of the files beside it by role
---@return profio.core.Code|nil code
function writer:finish() end

return core
