-- Histograms and arcs in a store: bins, arcs and basic blocks by address. They are added up before
-- anything is divided or propagated, so that the sum of many runs is exactly what their files give
-- when they are read together.
--
-- A run has a row for its arcs, and one for its histograms and its blocks if it has any. A row has
-- a kind (packed by details.lua: the table, how many rows its run has, what its addresses refer to,
-- and for histograms their headers) and counts (core.counts). Rows of one kind are added up; groups
-- are what can be one profile: the same program, loaded at the same place.

local combined = require "profio.internal.store.combined"
local core = require "profio.core"
local details = require "profio.internal.store.details"
local native_store = require "profio.internal.store.native"
local opening = require "profio.internal.opening.open"
local problem = require "profio.internal.store.problem"
local symbols_of = require "profio.internal.symbols"
local trace_symbols = require "profio.internal.bodies.trace_symbols"
local tables = require "profio.internal.table_readers"
local traces = require "profio.internal.trace"
local writer = require "profio.internal.writing.writer"

local graphs = {}

-- The columns of the counts of each table: the pair, of which one word may be left out, and the
-- count.
local columns = {
   histogram = { { "set", "int" }, { "bin", "int" }, { "count", "int" } },
   arcs = { { "from", "addr" }, { "to", "addr" }, { "count", "int" } },
   blocks = { { "address", "addr" }, { "count", "int" } },
}

local set_shape = { low = "integer", high = "integer", bins = "integer", declared = "integer",
   rate = "integer", dimension = "string?", abbreviation = "string?" }

-- low and high: the range of the first histogram, from which the load bias can be guessed.
local kind_shape = { table = "string", rows = "integer?", program = "string?", bias = "integer",
   width = "integer", order = "string", low = "integer?", high = "integer?" }

-- {====== Adding ======

-- Returns the state of a trace with one file: that of the trace, or of its sum; and this sum, which
-- the caller closes.
local function single(state)
   if #state.parts == 1 then
      return state, nil
   end
   local bytes = problem.check(writer.save(state, nil,
      { counter_bits = 64 }))
   local sum = problem.check(opening.open({ data = bytes }, { format = "gmon",
      counter_bits = 64, address_size = state.parts[1]:fact "address_size",
      byte_order = state.parts[1]:fact "byte_order" }))
   return traces.of(sum), sum
end

local function names_of(fields)
   local names = {}
   for i, field in ipairs(fields) do
      names[i] = field[1]
   end
   return names
end

-- Returns the packed counts of a table, and their number.
local function packed(state, name)
   local counts <close> = core.counts(state.dictionary)
   problem.check(counts:read(problem.check(tables.plain(state, name)), names_of(columns[name]),
      name == "histogram"))
   local size = counts:size()
   return counts:pack(), size
end

local last = {} -- the program of the trace that was added last, by what identifies it

-- Returns the hash and the packed symbols of the program of a trace, or nil. Many runs of one
-- program are added one after the other, so the last one is kept.
local function program_of(state, identity)
   if not state.symbols then
      return nil
   elseif last.identity ~= identity then
      local found = trace_symbols.picked(state, false)
      local bytes = found.symbols:pack()
      last = { identity = identity, bytes = bytes,
         hash = native_store().hasher():add(bytes):digest() }
   end
   return last.hash, last.bytes
end

---Returns what a store keeps of the histograms and arcs of a trace. Raises failures.
---@param state table of the trace
---@param identity string|nil identifies its program
---@return { rows: { kind: string, data: string }[], programs: table<string, string> }
function graphs.of_trace(state, identity)
   local hash, bytes = program_of(state, identity)
   local part = state.parts[1]
   local kind = { program = hash, bias = state.load_bias, width = part:fact "address_size",
      order = part:fact "byte_order",
      extended = (state.format_options or {}).extended_precision or nil }
   local one, sum = single(state)
   local closing <close> = sum -- luacheck: ignore
   local sets = core.rows(problem.check(tables.plain(one, "sets")), { "low", "high", "bins",
      "declared", "rate", "dimension", "abbreviation" })
   kind.low, kind.high = sets[1] and sets[1].low, sets[1] and sets[1].high
   local rows = {}
   for _, name in ipairs { "histogram", "arcs", "blocks" } do
      local data, size = packed(one, name)
      if name == "arcs" or size > 0 or name == "histogram" and #sets > 0 then
         rows[#rows + 1] = { kind = name, data = data }
      end
   end
   kind.rows = #rows
   for _, row in ipairs(rows) do
      kind.table, kind.sets = row.kind, row.kind == "histogram" and sets or nil
      row.kind = details.pack(kind)
   end
   return { rows = rows, programs = hash and { [hash] = bytes } or {} }
end

---Returns the packed symbols of a program of a store. Raises if the store does not have them.
---@param engine table
---@param known table<string, string> programs that were read so far, by hash; is extended
---@param hash string
---@return string
function graphs.symbols(engine, known, hash)
   known[hash] = known[hash] or engine:program(hash)
      or problem.raise("a program of the store is missing or damaged", "format")
   return known[hash]
end

-- Raises if a run does not have as many rows as it states; nil: it was added before it did.
local function check_count(digits, count, stated)
   if stated and count ~= stated then
      problem.raise(("run %s has %d rows of histograms and arcs instead of %d"):format(digits,
         count, stated), "format")
   end
end

---Returns the rows of a run in another store. Raises failures.
---@param engine table
---@param tests table[] select the run
---@param known table<string, string> programs that were read so far, by hash; is extended
---@return table as of graphs.of_trace
function graphs.of_run(engine, tests, known)
   local rows, programs, stated, of = {}, {}, nil, nil
   for digits, kind, data in engine:graphs(tests) do
      local is_whole, facts = details.unpack(kind)
      if not is_whole or type(facts) ~= "table" or type(data) ~= "string" then
         problem.raise(("the histograms and arcs of run %s are damaged"):format(digits), "format")
      end
      local hash = facts.program
      if hash then
         programs[hash] = graphs.symbols(engine, known, hash)
      end
      rows[#rows + 1], stated, of = { kind = kind, data = data }, facts.rows, digits
   end
   check_count(of, #rows, stated)
   return { rows = rows, programs = programs }
end

-- }======

-- {====== Adding up ======

-- Returns the facts of a kind. Raises if they are damaged.
local function facts_of(kind, hash)
   local is_whole, facts = details.unpack(kind)
   if not is_whole or not combined.fits(facts, kind_shape) or not columns[facts.table]
      or facts.width ~= 4 and facts.width ~= 8
      or facts.order ~= "little" and facts.order ~= "big"
      or facts.table == "histogram" and not combined.fits(facts.sets, { set_shape })
   then
      problem.raise(("the histograms and arcs of run %s are damaged"):format(hash), "format")
   end
   return facts
end

-- Returns what identifies the group of a kind, whose fields `program` and `bias` are set to those
-- that are used: "exe" is the executable that is given for reading.
local function group_of(naming, facts)
   local program, bias = facts.program, facts.bias
   if naming:applies(program) then
      if not program then
         bias = facts.low and facts.high
            and symbols_of.guess_bias(naming.exe.facts, facts.low, facts.high) or 0
      end
      program = "exe"
   end
   bias = program == "exe" and naming.given.load_bias or bias
   return { program = program, bias = bias, extended = facts.extended, width = facts.width,
      order = facts.order }
end

-- Returns where the rows of a kind are added: counts, and a number that is added to their sets.
local function target_of(sums, naming, kind, hash)
   local facts = facts_of(kind, hash)
   local group = group_of(naming, facts)
   local key = details.pack(group)
   if not sums.groups[key] then
      group.key, group.sets = key, {}
      for name in pairs(columns) do
         group[name] = core.counts(sums.dictionary)
      end
      sums.groups[key] = group
      table.insert(sums.list, group)
   end
   group = sums.groups[key]
   local offset = #group.sets
   for _, set in ipairs(facts.table == "histogram" and facts.sets or {}) do
      group.sets[#group.sets + 1] = set
   end
   return { counts = group[facts.table], offset = facts.table == "histogram" and offset or 0,
      rows = facts.rows }
end

-- Returns sums of which nothing is added yet.
local function empty_sums(naming, dictionary)
   return { groups = {}, list = {}, targets = {}, naming = naming, dictionary = dictionary,
      count = 0 }
end

-- Counts a row of a run, whose rows follow each other; nil: there are no more.
local function count_row(sums, hash, stated)
   if hash ~= sums.hash then
      check_count(sums.hash, sums.count, sums.stated)
      sums.hash, sums.count = hash, 0
   end
   sums.count, sums.stated = sums.count + 1, stated
end

-- Adds a row of a run to sums.
local function add_row(sums, hash, kind, data)
   local target = sums.targets[kind]
   if not target then
      target = target_of(sums, sums.naming, kind, hash)
      sums.targets[kind] = target
   end
   local ok, message, code = nil, "they are damaged", "format"
   if type(data) == "string" then
      ok, message, code = target.counts:add(data, target.offset)
   end
   if not ok then
      problem.raise(("the histograms and arcs of run %s cannot be added: %s"):format(hash,
         message), code)
   end
   count_row(sums, hash, target.rows)
end

-- Returns the groups of sums, in an order that depends only on their contents.
local function groups_of(sums)
   count_row(sums, nil)
   table.sort(sums.list, function(a, b)
      return a.key < b.key
   end)
   return sums.list
end

-- Returns the groups of the selected runs.
local function added_up(engine, tests, naming, dictionary)
   local sums = empty_sums(naming, dictionary)
   for hash, kind, data in engine:graphs(tests) do
      add_row(sums, hash, kind, data)
   end
   return groups_of(sums)
end

-- Returns the sum of a group as the bytes of a gmon.out with wide counters.
local function encoded(group, dictionary)
   local sink = problem.check(core.writer("gmon", { address_size = group.width,
      byte_order = group.order, counter_bits = 64, inputs = 2, -- sorted
      extended_precision = group.extended }, dictionary, nil, {}))
   for i, set in ipairs(group.sets) do
      set.set = i - 1
      problem.check(sink:put("sets", set))
   end
   for name, fields in pairs(columns) do
      problem.check(sink:put_reader(name, group[name]:reader(fields, dictionary)))
      group[name] = nil
   end
   return problem.check(sink:finish())
end

-- }======

-- {====== Names ======

-- Decides which names are used: those of an executable that is given for reading belong to the runs
-- whose program has the same build identifier, and to those without a program.
local Naming = {}
Naming.__index = Naming

local function naming_of(engine, given)
   local naming = setmetatable({ engine = engine, given = given, programs = {} }, Naming)
   if given.exe or given.symbols then
      naming.exe = problem.check(symbols_of.open { exe = given.exe, symbols = given.symbols,
         dictionary = core.dictionary(), max_size = given.max_size })
   end
   return naming
end

-- Returns the packed symbols of a stored program.
function Naming:packed(hash)
   return graphs.symbols(self.engine, self.programs, hash)
end

-- Returns whether the executable that is given belongs to runs of a program (nil: of none).
function Naming:applies(hash)
   if not self.exe or not hash then
      return self.exe ~= nil
   end
   self.same = self.same or {}
   if self.same[hash] == nil then
      local stored <close> = problem.check(symbols_of.unpack(self:packed(hash), core.dictionary()))
      local id = stored.facts.build_id
      self.same[hash] = id ~= nil and id == self.exe.facts.build_id
         or self.exe.symbols:pack() == self:packed(hash)
   end
   return self.same[hash]
end

-- }======

-- Opens the sum of a group as a trace, with the names of its program.
local function opened(group, naming, path, dictionary)
   local given = naming.given
   local options = { format = "gmon", counter_bits = 64, address_size = group.width,
      byte_order = group.order, load_bias = group.bias, any_executable = true,
      extended_precision = group.extended }
   if group.program == "exe" or not group.program then
      options.exe = group.program and given.exe
      options.symbols = group.program and given.symbols
      options.compat, options.max_size = given.compat, given.max_size
   elseif given.compat == "gprof" then
      problem.raise("gprof chooses symbols by other rules than those that are stored: give the "
         .. "executable (--exe)", "unsupported")
   end
   local trace = problem.check(opening.open({ data = encoded(group, dictionary),
      path = path }, options))
   if group.program and group.program ~= "exe" then
      local state = traces.of(trace)
      state.symbols = problem.check(symbols_of.unpack(naming:packed(group.program),
         state.dictionary))
   end
   return trace
end

---Returns the sums of the selected runs as traces of gmon, one for each program and place where it
---was loaded, in an order that does not depend on the order of the runs. Raises failures.
---@param engine table
---@param tests table[]
---@param path string of the store, for messages
---@param given table options of profio.open: exe, symbols, load_bias, compat, max_size
---@return profio.Trace[]
---@return string|nil unused the executable or text of nm that is given, if it is that of no run
function graphs.opened(engine, tests, path, given)
   local naming, dictionary = naming_of(engine, given), core.dictionary()
   local list, is_used = {}, false
   for i, group in ipairs(added_up(engine, tests, naming, dictionary)) do
      list[i] = opened(group, naming, path, dictionary)
      is_used = is_used or group.program == "exe"
   end
   return list, naming.exe and not is_used and (naming.exe.exe or "the text of nm") or nil
end

---Calls a function with the histograms and arcs of each of the selected runs as a trace, which is
---closed then. Raises failures.
---@param engine table
---@param tests table[]
---@param path string of the store, for messages
---@param given table options of profio.open, as of graphs.opened
---@param f fun(hash: string, trace: profio.Trace)
function graphs.each_run(engine, tests, path, given, f)
   local naming, dictionary, sums, last_hash = naming_of(engine, given), core.dictionary(), nil, nil
   local function finish()
      for _, group in ipairs(sums and groups_of(sums) or {}) do
         local trace <close> = opened(group, naming, path, dictionary)
         f((last_hash:gsub("%x%x", function(pair)
            return string.char(tonumber(pair, 16))
         end)), trace)
      end
   end
   for hash, kind, data in engine:graphs(tests) do
      if hash ~= last_hash then
         finish()
         sums, last_hash = empty_sums(naming, dictionary), hash
      end
      add_row(sums, hash, kind, data)
   end
   finish()
end

---Returns the tables that a trace of gmon has, as part:tables does.
---@return table[]
function graphs.tables()
   local sink = problem.check(core.writer("gmon", {}, core.dictionary(), nil, {}))
   local trace <close> = problem.check(opening.open({ data = sink:finish() },
      { format = "gmon", address_size = 8 }))
   local list = {}
   for _, described in ipairs(traces.of(trace).parts[1]:tables()) do
      if described.name ~= "raw" then
         described.rows = nil
         list[#list + 1] = described
      end
   end
   return list
end

return graphs
