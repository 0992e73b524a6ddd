-- Stores of runs: see README.md. A run is the profile of one trace, with labels; a store has many,
-- and adds them up.

local contents = require "profio.internal.store.contents"
local engines = require "profio.internal.store.engines"
local folders = require "profio.internal.store.folders"
local opening = require "profio.internal.opening.open"
local problem = require "profio.internal.store.problem"
local raise = require "profio.internal.raise"
local run_adding = require "profio.internal.store.run_adding"
local selecting = require "profio.internal.store.selecting"
local traces = require "profio.internal.trace"

local stores = {}

---@class profio.Store
local Store = { __name = "profio.store" }
local methods = {}

-- The class of the results of store:prepare.
local Prepared = { __name = "profio.prepared" }

local function of(self)
   return rawget(self, stores)
end

local function alive(self)
   local state = of(self)
   if state.is_closed then
      error("store is closed", 3)
   end
   return state
end

-- {====== Helpers ======

---Returns the tests of a selection for an engine.
---@param engine table
---@param where table<string, any>|nil conditions, or a list of such tables, all of which must hold
---@return table[]
function stores.tests(engine, where)
   local tests, keys = {}, nil
   raise.expect(where, "table?", "run: the condition")
   local function all_keys()
      keys = keys or engine:keys()
      return keys
   end
   for _, one in ipairs(where and where[1] and where or { where or {} }) do
      local more = selecting.tests(one, all_keys, function(key)
         return engine:values(key, not selecting.attribute(key))
      end)
      table.move(more, 1, #more, #tests + 1, tests)
   end
   return tests
end

-- Calls a function within a transaction; takes back its changes if it or the commit fails. With
-- `is_part` the transaction does not end if it succeeds.
local function transaction(engine, f, is_part)
   engine:begin "write"
   local results = table.pack(pcall(f))
   local done, raised = results[1], results[2]
   if done and not is_part then
      done, raised = pcall(engine.commit, engine)
   end
   if not done then
      engine:rollback()
      error(raised, 0)
   end
   return table.unpack(results, 2, results.n)
end

-- }======

-- {====== Adding ======

local function check_trace(trace)
   if (getmetatable(trace) or {}).__name ~= "profio.trace" then
      error("a trace is added, as in store:add(profio.open(path))", 0)
   end
end

---Reads all of a trace that a run has, to be added by `write`. The trace may be closed then.
---@param trace profio.Trace
---@param options table|nil { labels = { version = "v2", ... } }
---@return table|nil prepared with `run`, the 32 hexadecimal digits of its hash, and `is_known`: the
---store has it already
---@return string|nil message
---@return string|nil code
function methods:prepare(trace, options)
   local state = alive(self)
   options = raise.expect(options or {}, "table", "add: options")
   check_trace(trace)
   local labels = raise.expect(options.labels or {}, "table", "add: labels")
   contents.check_labels(labels)
   return problem.caught(function()
      local run = contents.begun(trace, labels)
      local prepared = setmetatable({ run = selecting.hex(run.hash), stored = run }, Prepared)
      prepared.is_known = run_adding.known(state.engine, { run })[run.hash] ~= nil
      if not prepared.is_known then
         prepared.contents = contents.complete(run, trace)
      end
      return prepared
   end)
end

---Converts a prepared run to plain values, which `unpacked` converts back in another process.
---@param prepared table of prepare
---@param sent table<string, boolean> see contents.pack
---@return table packed without the profile
---@return string|nil contexts the profile
function stores.packed(prepared, sent)
   local packed, contexts
   if prepared.contents then
      packed, contexts = contents.pack(prepared.contents, sent)
   end
   return { stored = prepared.stored, is_known = prepared.is_known, contents = packed }, contexts
end

---Returns a prepared run that `packed` has converted, for `write`.
---@param packed table
---@param contexts string|nil
---@param dictionary profio.core.Dictionary gets the names of the profile
---@param programs table<string, string> see contents.unpack
---@return table prepared
function stores.unpacked(packed, contexts, dictionary, programs)
   return setmetatable({ run = selecting.hex(packed.stored.hash), stored = packed.stored,
      is_known = packed.is_known, contents = packed.contents
         and contents.unpack(packed.contents, contexts, dictionary, programs) }, Prepared)
end

---Frees the profile of a prepared run, which was written.
---@param prepared table
function stores.release(prepared)
   local contexts = prepared.contents and prepared.contents.contexts
   if contexts then
      contexts:close()
   end
end

---Returns whether a transaction can be written in parts while further runs are read, because it
---holds no lock.
---@param self profio.Store
---@return boolean
function stores.has_parts(self)
   return alive(self).engine.has_parts or false
end

---Adds prepared runs: all of them, or none. They are on the disk when it returns. A run that the
---store has by now, with the same labels, changes nothing.
---@param list table[] as of prepare
---@param options table|nil { is_part = true }: only if the store is in ClickHouse; the runs are on
---the disk when the next call without it returns; if any of these calls fails, none of them is
---@return integer|nil count of runs that are new
---@return string|nil message
---@return string|nil code
function methods:write(list, options)
   local engine = alive(self).engine
   local is_part = raise.expect(options or {}, "table", "write: options").is_part
   if is_part and not engine.has_parts then
      error("write: is_part needs a store in ClickHouse", 0)
   end
   for _, prepared in ipairs(raise.expect(list, "table", "write: the list")) do
      if getmetatable(prepared) ~= Prepared then
         error("write expects a list of what store:prepare returned", 0)
      end
   end
   return problem.caught(function()
      return transaction(engine, function()
         return run_adding.write(engine, list)
      end, is_part)
   end)
end

---Adds a trace as a run. A run that the store has already, with the same labels, changes nothing.
---@param trace profio.Trace
---@param options table|nil { labels = { version = "v2", ... } }
---@return string|nil run 32 hexadecimal digits: the hash of its files and options
---@return boolean|string is_new, or message
---@return string|nil code
function methods:add(trace, options)
   local prepared, message, code = self:prepare(trace, options)
   if not prepared then
      return nil, message, code
   end
   local count
   count, message, code = self:write { prepared }
   if not count then
      return nil, message, code
   end
   return prepared.run, count == 1
end

---Adds the runs of another store that this one does not have.
---@param other profio.Store
---@param where table<string, any>|nil only these runs
---@return integer|nil count of added runs
---@return string|nil message
---@return string|nil code
function methods:merge(other, where)
   if getmetatable(other) ~= Store then
      error("merge expects a store, got " .. type(other), 0)
   end
   local state, theirs = alive(self), alive(other)
   if state.path == theirs.path then
      error("merge: a store has its own runs already", 0)
   end
   return problem.caught(function()
      theirs.engine:begin "read" -- all queries see the same runs
      local reading <close> = setmetatable({}, { __close = function() -- luacheck: ignore
         theirs.engine:rollback()
      end })
      return transaction(state.engine, function()
         return run_adding.merge(state.engine, theirs.engine, theirs.path,
            stores.tests(theirs.engine, where))
      end)
   end)
end

-- }======

-- {====== Reading ======

---Returns the runs, in order of their hashes: { run =, time =, time_from =, added =, format =,
---kind =, files =, bytes =, losses =, call_bytes =, path =, profio =, labels = { key = value } }.
---@param where table<string, any>|nil conditions of labels and attributes, as those of view:where
---@return table[]|nil
---@return string|nil message
---@return string|nil code
function methods:runs(where)
   local state = alive(self)
   return problem.caught(function()
      local list = state.engine:runs(stores.tests(state.engine, where))
      for _, run in ipairs(list) do
         run.run, run.hash = selecting.hex(run.hash), nil
      end
      return list
   end)
end

---Returns the labels of the store: { { key =, value =, runs = }, ... }, in order.
---@return table[]|nil
---@return string|nil message
---@return string|nil code
function methods:labels()
   local state = alive(self)
   return problem.caught(function()
      return state.engine:labels()
   end)
end

---Sets, changes or removes labels of runs: of all selected ones, or of none.
---@param labels table<string, string|false> false: the runs lose the label
---@param where table<string, any> conditions as of runs; {} selects all
---@return integer|nil count of selected runs
---@return string|nil message
---@return string|nil code
function methods:label(labels, where)
   local engine = alive(self).engine
   raise.expect(where, "table", "label: the condition")
   local set = {}
   for key, value in pairs(raise.expect(labels, "table", "label: the labels")) do
      set[key] = value or "(removed)"
   end
   contents.check_labels(set)
   return problem.caught(function()
      return transaction(engine, function()
         return engine:label(stores.tests(engine, where), labels)
      end)
   end)
end

---Removes runs. Names and stacks of removed runs stay in the store; a new store into which this one
---is merged does not have them.
---@param where table<string, any> conditions as of runs; {} removes all
---@return integer|nil count
---@return string|nil message
---@return string|nil code
function methods:drop(where)
   local state = alive(self)
   raise.expect(where, "table", "drop: the condition")
   return problem.caught(function()
      return transaction(state.engine, function()
         return state.engine:drop(stores.tests(state.engine, where))
      end)
   end)
end

---Opens the store as a trace, with tables runs, labels, cells and durations and a profile.
---@param where table<string, any>|nil only these runs
---@return profio.Trace|nil
---@return string|nil message
---@return string|nil code
function methods:trace(where)
   return opening.open(alive(self).path, { format = "store", run = where })
end

---Returns the sum of the profiles of the runs.
---@param options table|nil { where = conditions as of runs }, and options of trace:profile
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function methods:profile(options)
   local given = {}
   for name, value in pairs(raise.expect(options or {}, "table", "profile: options")) do
      given[name] = value
   end
   given.where = nil
   local trace <close>, message, code = self:trace(options and options.where)
   if not trace then
      return nil, message, code
   end
   return trace:profile(given)
end

-- Compares runs of the store: calls a function of its trace, which is closed then.
local function compared(self, name, options, usual, ...)
   options = raise.expect(options or {}, "table", name .. ": options")
   local metric = raise.expect(options.metric, "string?", name .. ": the metric")
   local by = raise.expect(options.by or usual, "string", name .. ": by")
   local trace <close>, message, code = self:trace(options.where)
   if not trace then
      return nil, message, code
   end
   return traces.of(trace).stored.compare(name, by, metric, ...)
end

---Returns the weight of a function in each period, or for each value of a label: by, runs, self,
---total, whole, self_share, total_share, and p10_, p50_, p90_share of the runs; with a metric of
---calls (gross_p99, count): by, runs, calls, value, p10, p50, p90, about.
---@param wanted any a name, a list of names, profio.match or profio.no
---@param options { by: string, where: table, metric: string }|nil by: hour, day (the default),
---week, month (UTC), run, a label, or an attribute with texts
---@return profio.View|nil
---@return { notes: string[] }|string|nil notes or message
---@return string|nil code
function methods:trend(wanted, options)
   alive(self)
   if type(wanted) ~= "string" and type(wanted) ~= "table" then
      error("trend expects the name of a function, or profio.match(pattern)", 0)
   end
   return compared(self, "trend", options, "day", wanted)
end

---Returns how much the runs of each label differ from all others: by, runs, whole, distance,
---function, function_share, others_share; of a function value, total_share, relative, score, mark.
---@param options { by: string, where: table, metric: string, function: any }|nil by: run (default)
---@return profio.View|nil
---@return { notes: string[] }|string|nil notes or message
---@return string|nil code
function methods:top(options)
   alive(self)
   local wanted = raise.expect(options or {}, "table", "top: options")["function"]
   return compared(self, "top", options, "run", wanted)
end

---Returns the steps of all functions and of the whole over versions, as rows: profio help store.
---@param options table<string, any>|nil where, metric; by: version (the default), and others as of
---trend; order, normalise, alpha and since as on the command line
---@return profio.View|nil
---@return profio.ChangesResult|string|nil what was compared, with `notes`; or message
---@return string|nil code
function methods:changes(options)
   alive(self)
   return compared(self, "changes", options, "version", options or {})
end

---Writes the runs as files into a folder: a pprof file for each (of histograms and arcs a gmon.out,
---without the names of its program), and runs.csv with their labels.
---profio store add STORE FOLDER adds them again, without the statistics of calls.
---@param folder string is created if it does not exist
---@param where table<string, any>|nil only these runs
---@return integer|nil count of runs
---@return integer|string|nil count of the runs that have statistics of calls, or message
---@return string|nil code
function methods:export(folder, where)
   alive(self)
   raise.expect(folder, "string", "export: the folder")
   return folders.write(self, folder, where)
end

-- }======

---Closes the store. Runs that were added in a transaction without commit are taken back.
function methods:close()
   local state = of(self)
   if not state.is_closed then
      state.is_closed = true
      state.engine:close()
   end
end

raise.publish_methods(methods, "store", function(value)
   return getmetatable(value) == Store
end)

Store.__index = methods
Store.__close, Store.__gc = methods.close, methods.close

function Store:__tostring()
   return ("profio.store (%s)"):format(of(self).path)
end

---Opens a store. See profio.store.
---@param path string
---@param options table|nil { mode = "read" | "write" | "create" }
---@return profio.Store|nil
---@return string|nil message
---@return string|nil code
function stores.open(path, options)
   raise.expect(path, "string", "store: the path")
   local mode = raise.expect(options or {}, "table", "store: options").mode or "create"
   if mode ~= "read" and mode ~= "write" and mode ~= "create" then
      error(("store: mode is one of read, write, create; got %s"):format(tostring(mode)), 0)
   end
   return problem.caught(function()
      return setmetatable({ [stores] = { engine = engines.open(path, mode), path = path } }, Store)
   end)
end

return stores
