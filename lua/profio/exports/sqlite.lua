-- A database of SQLite 3: all tables of a trace, or the rows of one table, report or view. The
-- module profio.store, which is built if SQLite is there, inserts the rows without a loop in Lua.
--
-- SQLite needs a file that it can change, so the database is built in a nameless file in TMPDIR and
-- then copied to the output.

local core = require "profio.core"
local native_store = require "profio.internal.store.native"
local trace_facts = require "profio.internal.trace_facts"

local sqlite = {
   name = "sqlite",
   help = "a database of SQLite 3 with all tables of the trace, or the rows of one",
   endings = { ".db", ".sqlite", ".sqlite3" },
   is_binary = true,
   options = {
      { name = "name", type = "text",
        help = "name of the table for rows; default: that of the table or report, in Lua rows" },
   },
}

local BLOCK <const> = 1 << 16 -- bytes that are copied at once
local ROWS <const> = 16       -- that are inserted at once: twice as fast as one by one
local MOST <const> = 32766    -- parameters of a statement

local types = { num = "REAL", name = "TEXT", area = "TEXT", bytes = "BLOB" } -- others: INTEGER

---A trace as a whole is written as such, and not as rows.
---@return boolean
function sqlite.is_whole()
   return true
end

-- {====== Tables ======

local function quoted(name)
   return '"' .. name:gsub('"', '""') .. '"'
end

-- Returns the fields of the columns that are written, in order, and their names.
local function fields_of(reader, columns)
   local by_name, list, names = {}, {}, columns or {}
   for i, field in ipairs(reader:fields()) do
      by_name[field.name] = field
      if not columns then
         names[i] = field.name
      end
   end
   for i, name in ipairs(names) do
      list[i] = by_name[name] or error(("no column '%s'"):format(name), 0)
   end
   return list, names
end

-- Returns the definition of the name of a column, and adds the name to `taken`. SQLite does not
-- distinguish case: a name that another column has gets a number, and the schema a comment.
local function column_of(name, taken)
   local free, number = name, 1
   while taken[free:lower()] do
      number = number + 1
      free = ("%s_%d"):format(name, number)
   end
   taken[free:lower()] = true
   local note = number > 1 and (" /* column %s of the table */"):format(name:gsub("%*/", "* /"))
   return quoted(free) .. (note or "")
end

-- Returns the SQL that creates a table, that which inserts a row, and that which inserts ROWS of
-- them, or nil if they are too long.
local function sql_of(name, fields, key)
   local columns, marks, taken = {}, {}, {}
   for _, field in ipairs(fields) do
      taken[field.name] = field.name == field.name:lower() or nil
   end
   for i, field in ipairs(fields) do
      taken[field.name] = nil
      columns[i] = column_of(field.name, taken) .. " " .. (types[field.type] or "INTEGER")
         .. (field.name == key and " PRIMARY KEY" or "")
      marks[i] = "?"
   end
   local values = ("(%s)"):format(table.concat(marks, ", "))
   local insert = ("INSERT INTO %s VALUES"):format(quoted(name))
   return ("CREATE TABLE %s(%s)"):format(quoted(name), table.concat(columns, ", ")),
      insert .. values, #fields * ROWS <= MOST and insert .. values:rep(ROWS, ", ") or nil
end

-- A database that is being built: its connection, and the names of its tables.
local Database = {}
Database.__index = Database

-- Returns a name that no table has yet; SQLite does not distinguish case.
local function free_name(self, name)
   while self.taken[name:lower()] do
      name = "profio_" .. name
   end
   return name
end

-- Adds a table with the rows of a reader; `key` is the column of the primary key, or nil. Returns
-- the number of rows, or nil, message, code.
local function add(self, name, reader, columns, key)
   local fields, names = fields_of(reader, columns)
   local create, insert, several = sql_of(name, fields, key)
   local done, message, code = self.db:run(create)
   if not done then
      return nil, message, code
   end
   self.taken[name:lower()] = true
   for _, field in ipairs(fields) do
      self.stacks_of = self.stacks_of or field.type == "stack" and reader
   end
   return self.db:insert(insert, several, reader, names)
end

-- Adds the stacks to which rows refer, if they do.
local function add_stacks(self)
   if not self.stacks_of then
      return 0
   end
   local rows = core.with_area(core.stacks(self.stacks_of), "frame")
   return add(self, free_name(self, "stacks"), rows,
      { "stack", "parent", "depth", "frame", "file", "line" }, "stack")
end

-- }======

-- {====== Files ======

-- Copies a file.
local function copy(from, file)
   for block in from:lines(BLOCK) do
      local ok, _, number = file:write(block)
      if not ok then
         return core.write_failure(file, number)
      end
   end
   return true
end

local function begin(self)
   return self.db:run "BEGIN"
end

local function commit(self)
   return self.db:run "COMMIT"
end

-- Builds a database by `fill`, which adds tables and returns the number of rows, or nil, message,
-- code; and writes it into a file.
local function write(file, fill)
   local native, reason = native_store()
   if not native then
      return nil, "export sqlite: " .. reason, "unsupported"
   end
   local db <close>, from, failure = native.scratch()
   if not db then
      return nil, from, failure
   end
   local bytes <close>, count = from, nil
   local self = setmetatable({ db = db, taken = {} }, Database)
   for _, step in ipairs { begin, fill, add_stacks, commit } do
      local done, message, code = step(self)
      if not done then
         return nil, message, code
      end
      count = step == fill and done or count
   end
   db:close()
   local copied, message, code, broken = copy(bytes, file)
   return copied and count, message, code, broken
end

---Writes the rows of a reader as a table.
---@param reader userdata
---@param given table see sqlite.options; columns, and title, the name of the table or report
---@param file file*
---@return integer|nil rows
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" if the pipe was closed by its reader
function sqlite.write(reader, given, file)
   return write(file, function(self)
      return add(self, given.name or given.title or "rows", reader, given.columns)
   end)
end

---Writes all tables of a trace, and its header fields and warnings as table info.
---@param trace profio.Trace
---@param given table
---@param file file*
---@return integer|nil rows
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" if the pipe was closed by its reader
function sqlite.write_trace(trace, given, file)
   if given.name then
      error("option 'name' is for the rows of one table, not for a whole trace", 0)
   end
   return write(file, function(self)
      local sum = 0
      for _, name in ipairs(trace.tables) do
         local count, message, code = add(self, name, trace:table(name):reader())
         if not count then
            return nil, message, code
         end
         sum = sum + count
      end
      local done, message, code = add(self, free_name(self, "info"),
         trace_facts.reader(trace, given.worded or tostring))
      return done and sum, message, code
   end)
end

-- }======

return sqlite
