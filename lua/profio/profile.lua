-- Profiles: what functions cost, and who called whom. A profile owns its numbers and outlives the
-- trace it was made from.

local core = require "profio.core"
local options = require "profio.options"
local view = require "profio.view"

local profile = {}

---@class profio.Profile
---@field facts table<string, any> numbers of the whole: metrics, samples, rate, functions, ...
local Profile = { __name = "profio.profile" }
local methods = {}

-- What trace:profile takes.
local declared = {
   { name = "compat", type = "choice", choices = { "gprof", "exact" },
      help = "count as gprof 2.40 does, or exactly; else as the trace was opened" },
   { name = "lines", type = "bool", default = false, help = "credit source lines too" },
   { name = "by_line", type = "bool", default = false,
      help = "each source line is a function of its own, as with gprof's -l" },
   { name = "demangle", type = "bool", default = true, help = "show C++ names as written" },
   { name = "arcs", type = "view", help = "calls to take in place of those of table arcs" },
}

-- {====== Making ======

-- The symbols as a kind of arithmetic picks them, whole or cut by lines. Those that the trace was
-- not opened with are opened when needed, and kept.
local function symbols_for(state, is_compat, by_line)
   if not state.symbols then
      return nil
   end
   local rule = is_compat and "gprof" or "exact"
   local opened = state.options.compat == "gprof" and "gprof" or "exact"
   if rule == opened and not by_line then
      return state.symbols
   end
   local key = by_line and rule .. " by line" or rule
   if not state.other_symbols[key] then
      local other = assert(require("profio.symbols").open {
         exe = state.options.exe, symbols = state.options.symbols, dictionary = state.dictionary,
         max_size = state.options.max_size, rule = rule,
      })
      if by_line then
         other.symbols:by_line()
      end
      state.other_symbols[key] = other
   end
   return state.other_symbols[key]
end

local function note_no_names(state)
   if state.symbols or state.noted_no_names then
      return
   end
   state.noted_no_names = true
   for _, note in ipairs(state.notes) do
      if note.code:match "^symbols%-" then
         return -- it was said why
      end
   end
   state.notes[#state.notes + 1] = { code = "symbols-no-executable", kind = "note",
      message = "no executable: addresses stand for functions; give it as exe" }
end

-- The tables a graph is made from, when the trace has them.
local function graph_readers(trace, state, arcs)
   local plain = require("profio.trace").plain_reader
   local readers = {}
   for _, name in ipairs { "histogram", "arcs", "sets" } do
      if state.schema[name] then
         readers[name] = assert(plain(state, name))
      end
   end
   readers.arcs = arcs and arcs:reader() or readers.arcs
   if not readers.histogram and not readers.arcs then
      error(("%s: no table that a profile is made from; there are: %s"):format(trace.path,
         table.concat(trace.tables, ", ")), 0)
   end
   return readers
end

local function new(made, given, pin)
   return setmetatable({ [profile] = { core = made, given = given, pin = pin } }, Profile)
end

---Make the profile of a trace; see trace:profile.
---@param trace profio.Trace
---@param state table of the trace
---@param given table compat, lines, by_line, demangle, arcs
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function profile.of_trace(trace, state, given)
   given = options.check(declared, given, "profile")
   local is_compat = (given.compat or state.options.compat) == "gprof"
   local symbols = symbols_for(state, is_compat, given.by_line)
   note_no_names(state)
   local readers = graph_readers(trace, state, given.arcs)
   local made, message, code = core.profile {
      histogram = readers.histogram, arcs = readers.arcs, sets = readers.sets,
      symbols = symbols and symbols.symbols, bias = state.load_bias, compat = is_compat,
      lines = given.lines or false, demangle = given.demangle ~= false,
      dictionary = state.dictionary,
   }
   if not made then
      return nil, message, code
   end
   return new(made, {}, symbols)
end

-- }======

-- {====== Views ======

-- Reports take options: metric, zeros, include_flat, exclude_flat, include_graph, exclude_graph,
-- include_time, exclude_time (lists of names or numbers of functions). Those that the profile was
-- narrowed by stand below those given.
local function merged(given, more)
   local result = {}
   for _, some in ipairs { given, more or {} } do
      for name, value in pairs(some) do
         result[name] = value
      end
   end
   return result
end

local function listing(name)
   return function(self, more)
      local state = rawget(self, profile)
      local all = merged(state.given, more)
      return view.over(function()
         return state.core[name](state.core, all)
      end, self)
   end
end

---Functions by time: function, calls, self, total, self_share, total_share, file, line.
methods.flat = listing "flat"
---Arcs: caller, callee, calls, self, total.
methods.graph = listing "graph"
---The call graph as gprof prints it, a row for each line.
methods.graph_listing = listing "graph_listing"
---The index by function name, a row for each cell.
methods.index = listing "index"
---Source lines by time: file, line, count, self, self_share, function. Wants lines = true.
methods.lines = listing "lines"
---Source lines in order of file and line, with calls and time. Wants lines = true.
methods.annotations = listing "annotations"
---All functions with their numbers.
methods.functions = listing "functions"

local function arcs_of(name)
   return function(self, func, more)
      local state = rawget(self, profile)
      local all = merged(state.given, more)
      return view.over(function()
         return state.core[name](state.core, func, all)
      end, self)
   end
end

---Who called a function, and what they got of its time: as graph.
methods.callers = arcs_of "callers"
---Whom a function called: as graph.
methods.callees = arcs_of "callees"

-- }======

---The same profile seen with other options of reports: metric, include_graph, ...
---@param more table
---@return profio.Profile
function methods:with(more)
   local state = rawget(self, profile)
   return new(state.core, merged(state.given, more), state.pin)
end

---The numbers of headings, with options of reports taken into account.
---@param more table|nil
---@return table<string, any>
function methods:facts_with(more)
   local state = rawget(self, profile)
   return state.core:facts(merged(state.given, more))
end

---The object of the core, for reports.
---@return userdata
function methods:handle()
   return rawget(self, profile).core
end

---Hand the profile to another program.
---@param kind string "pprof", "folded", "callgrind", ...
---@param path string|nil nil: the bytes are returned
---@param given table|nil options of the export
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, given)
   return require("profio.exports").run(kind, "profile", self, given, path)
end

---Free its numbers. Using it afterwards raises.
function methods:close()
   rawget(self, profile).core:close()
end

Profile.__close = methods.close

function Profile:__index(key)
   if key == "facts" then
      return methods.facts_with(self)
   end
   return methods[key]
end

return profile
