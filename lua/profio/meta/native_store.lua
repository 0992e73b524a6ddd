---@meta profio.store

-- The native half of stores of runs, a module of its own: SQLite, content hashes, and the profiles
-- of runs as cells. Never loaded: for editors.

---@class profio.store
---@field schema string  SQL that creates the tables metrics, frames, stacks and cells
---@field version { sqlite: string, profio: string }
local store = {}

---Opens a file of SQLite 3. Its triggers and views are ignored.
---@param path string
---@param mode "read"|"write"|"create" write: it must exist; create: it may be absent
---@param options { busy: number }|nil busy: seconds to wait for another process (60)
---@return profio.core.Database|nil
---@return string|nil message
---@return profio.core.Code|nil code
function store.sqlite(path, mode, options) end

---Creates a database without a name, in TMPDIR or /tmp. The file has its bytes, which are complete
---when the database is closed.
---@return profio.core.Database|nil
---@return file*|string file or message
---@return profio.core.Code|nil code
function store.scratch() end

---@return profio.core.Hasher
function store.hasher() end

---@class profio.core.Database
local database = {}

---Executes a command of SQL, or several if there are no values. Strings are bound as BLOBs (so
---compare texts with CAST(? AS TEXT)), booleans as 0 and 1.
---@param sql string
---@param ... string|number|boolean|nil values of the parameters
---@return integer|nil changed rows that the last command inserted, changed or deleted
---@return string|nil message
---@return profio.core.Code|nil code
function database:run(sql, ...) end

---Returns the rows of a query, for a generic for loop: integers, floats, strings, and nil for NULL,
---which the first column must not be. A failure after the first row is raised as a table
---{ message =, code = }. The query ends with the loop.
---@param sql string
---@param ... string|number|boolean|nil values of the parameters
---@return (fun(...): ...)|nil
---@return any message or the state of the loop
---@return profio.core.Code|nil code
---@return any closing
function database:rows(sql, ...) end

---Executes a command of SQL once for each row of a reader, with the values of its columns: names
---and areas as TEXT, or BLOB if they are not UTF-8 or contain NUL; bytes as BLOB, addresses and
---handles as signed integers with the same bits, stacks as ids, booleans as 0 and 1, missing values
---and not-a-number as NULL.
---@param sql string
---@param several string|nil the same command for several rows at once
---@param over profio.core.Reader
---@param columns string[]
---@return integer|nil rows
---@return string|nil message
---@return profio.core.Code|nil code
function database:insert(sql, several, over, columns) end

---@return integer id of the row that was inserted last
function database:last_id() end

---@return boolean
function database:in_transaction() end

---Writes a profile as the cells of a run, within a transaction, which is to be rolled back after a
---failure.
---@param run integer
---@param contexts profio.core.Contexts
---@return integer|nil cells
---@return string|nil message
---@return profio.core.Code|nil code
function database:put_cells(run, contexts) end

---Adds up the cells of all rows of a query into a profile of core.empty_contexts, which can only be
---closed after a failure. The order of the rows does not matter.
---@param contexts profio.core.Contexts
---@param sql string of a query with the columns run, metric, data
---@param ... string|number|boolean|nil values of the parameters
---@return profio.core.Contexts|nil
---@return string|nil message
---@return profio.core.Code|nil code
function database:sum_cells(contexts, sql, ...) end

---Returns an object that adds up the weights of functions in the runs that the store has now.
---@param functions table<integer, integer> the number of a function, from 1, by the id of a frame
---@return profio.core.FunctionSums|nil
---@return string|nil message
---@return profio.core.Code|nil code
function database:function_sums(functions) end

function database:close() end

---@class profio.core.FunctionSums
local function_sums = {}

---Adds up all cells of a query.
---@param sql string as of database:sum_cells
---@param ... string|number|boolean|nil values of the parameters
---@return integer|nil whole weight of all stacks
---@return integer|string total of the stacks that have any of the functions; or message
---@return table<integer, integer>|profio.core.Code self of the stacks that end in each function, by
---its number, without zeros; or code
---@return boolean is_limited one of them was limited to 64 bits
function function_sums:read(sql, ...) end

---Computes XXH3 with 128 bits.
---@class profio.core.Hasher
local hasher = {}

---Adds bytes. Sizes are not added: (a, b) equals a .. b.
---@param ... string|profio.core.Source
---@return profio.core.Hasher self
function hasher:add(...) end

---@return string hash 16 bytes, of all bytes so far
function hasher:digest() end

---A client for ClickHouse, which keeps its connections.
---@return profio.core.Http
function store.http() end

---Collects the rows of runs that are to be inserted, for so many servers (shards).
---@param shards integer
---@return profio.core.RunRows
function store.run_rows(shards) end

---Takes the sums of runs, for a profile of core.empty_contexts.
---@param contexts profio.core.Contexts
---@return profio.core.RunSums
function store.run_sums(contexts) end

---@class profio.core.HttpRequest
---@field url string
---@field label string|nil
---@field user string|nil
---@field password string|nil
---@field ca string|nil
---@field timeout integer|nil
---@field is_encrypted boolean|nil
---@field body string|nil
---@field files { name: string, data: string }[]|nil

---@class profio.core.Http
local http = {}

---Sends all requests at once; returns their answers, in the same order, when all are complete. The
---label is a prefix of messages, the time limit in seconds. Files are sent as a form, instead of a
---body.
---@param requests profio.core.HttpRequest[]
---@return string[]|nil
---@return string|nil message
---@return profio.core.Code|nil code
function http:exchange(requests) end

---Begins to send all requests at once.
---@param requests profio.core.HttpRequest[]
---@return profio.core.Exchange
function http:send(requests) end

function http:close() end

---@class profio.core.Exchange
local exchange = {}

---Transfers what can be transferred without waiting.
function exchange:step() end

---Returns the answers, in the order of the requests, when all have arrived. Ends soon after Ctrl-C.
---@return string[]|nil
---@return string|nil message
---@return profio.core.Code|nil code
function exchange:wait() end

function exchange:close() end

---@class profio.core.RunRows
local run_rows = {}

---Collects the cells of a run for a shard, and the frames and stacks that are new, for the shards
---of their hashes.
---@param shard integer from 1
---@param run string 16 bytes
---@param attempt integer
---@param contexts profio.core.Contexts
---@return integer rows of cells
function run_rows:put(shard, run, attempt, contexts) end

---Returns the rows of a table that were collected, in RowBinary, and removes them.
---@param shard integer
---@param name "cells"|"frames"|"stacks"
---@return string
function run_rows:take(shard, name) end

---Removes all rows; frames and stacks are collected again.
function run_rows:forget() end

---@class profio.core.RunSums
local run_sums = {}

---@param index integer of a metric of the profile
---@return integer number that cells have for it
function run_sums:metric(index) end

---Takes rows: hi, lo of a stack, and the sums of the low and the high halves of its weights.
---@param index integer of the metric
---@param rows string
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:add(index, rows) end

---Returns whether rows of a query that groups by lo name each stack: none has hi 0.
---@param rows string
---@return boolean
function run_sums:are_clear(rows) end

---@return string stacks whose rows are needed next, as rows of lo; "" if there are no more
function run_sums:ask() end

---Takes rows of the table stacks.
---@param rows string
---@param has_callers boolean|nil whether the callers of these stacks are needed, too
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:take_stacks(rows, has_callers) end

---@return string hashes of the frames of these stacks
function run_sums:frames() end

---Takes rows of the table frames.
---@param rows string
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:take_frames(rows) end

---Adds the nodes and weights to the profile, which can only be closed after a failure.
---@return profio.core.Contexts|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:finish() end

---Returns the names of the functions whose frames were taken. Their numbers are the indices.
---@return string[]|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:names() end

---Returns the stacks with sums that have such functions, as rows of hi (16 bits) and lo.
---@param wanted table<integer, boolean> by number of a function
---@param has_callers boolean|nil any frame counts, not only the innermost
---@return string|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:keys(wanted, has_callers) end

---Begins with groups without weight.
---@param count integer 1 to 2^20
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:begin(count) end

---Adds rows to a group.
---@param group integer from 1
---@param rows string as for add
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:add_group(group, rows) end

---Adds rows of the table cells to the groups of their runs.
---@param groups table<string, integer> by hash of the run
---@param rows string hash, hi, lo, high and low
---@return true|nil
---@return string|nil message
---@return profio.core.Code|nil code
function run_sums:add_cells(groups, rows) end

---@param group integer from 1
---@return integer weight of the group
---@return table<integer, integer> weight by number of a function, without zeros
---@return boolean is_limited whether one of them was limited to 64 bits
function run_sums:group(group) end

return store
