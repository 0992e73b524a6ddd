-- profio.open: opens inputs as the parts of one trace, with the files beside them, and finds the
-- symbols of a format with addresses.

local later = require "profio.internal.later"
local core = require "profio.core"
local file_sums = require "profio.internal.several.file_sums"
local inputs = require "profio.internal.opening.inputs"
local listed_folders = require "profio.internal.opening.listed_folders"
local memory_limit = require "profio.internal.several.memory_limit"
local options = require "profio.internal.options"
local os_states = later "profio.internal.calls.os_states"
local recovery = require "profio.internal.opening.recovery"
local registry = require "profio.internal.opening.registry"
local script_part = later "profio.internal.writing.script_part"
local symbols = later "profio.internal.symbols"
local trace = require "profio.internal.trace"
local unknown_format = later "profio.internal.opening.unknown_format"

local opening = {}

-- Options of profio.open for all formats.
local common = {
   { name = "format", type = "text", help = "the format, instead of detecting it" },
   { name = "strict", type = "bool", default = false, help = "make the first warning an error" },
   { name = "max_size", type = "int", help = "most bytes a pipe or packed file may unpack to; for "
      .. "packed data by default 64 GiB, or 1,000 times their size if that is more" },
   { name = "trust_paths", type = "bool", default = false,
      help = "read files beside a trace even if links lead out of its folder" },
   { name = "exe", type = "text", help = "executable with the names of functions and lines" },
   { name = "symbols", type = "text", help = "output of nm, instead of an executable" },
   { name = "load_bias", type = "int", help = "run-time address minus link-time address" },
   { name = "compat", type = "choice", choices = { "gprof" },
      help = "compute as that tool does, including its rounding and omissions" },
   { name = "live", type = "bool", default = false,
      help = "the file is still being written: read complete records; trace:refresh() finds more" },
   { name = "os_states", type = "text", help = "tasks have lanes of their own, made of the states "
      .. "that they enter: usual, or NAME=MEANING,... for names that are not: profio help tasks" },
   { name = "os_running", type = "text",
      help = "the same for variables, separated by commas, whose state is the task that runs" },
   { name = "os_core", type = "int",
      help = "the core on which these tasks run, where the trace does not say it" },
   { name = "all_warnings", type = "bool", default = false,
      help = "keep every warning, not only the first of each kind with its count" },
}

opening.options = common

-- {====== Opening ======

local function close_all(list)
   for _, closable in ipairs(list) do
      closable:close()
   end
end

-- Returns the checked options of the format, without those of profio.open and those that name side
-- files.
local function check_format_options(given, format)
   local declared = table.move(format.options, 1, #format.options, 1, {})
   local roles = inputs.role_options(format)
   table.move(common, 1, #common, #declared + 1, declared)
   table.move(roles, 1, #roles, #declared + 1, declared)
   local theirs = options.check(declared, given, "format '" .. format.name .. "'")
   for _, list in ipairs { common, roles } do
      for _, option in ipairs(list) do
         theirs[option.name] = nil
      end
   end
   return theirs
end

-- Returns these options for one file; a format in Lua gets a copy, which it may change. They are
-- checked only once.
local function format_options(state, given)
   state.checked = state.checked or check_format_options(given, state.format)
   if not state.format.open then
      return state.checked
   end
   local theirs = {}
   for name, value in pairs(state.checked) do
      theirs[name] = value
   end
   return theirs
end

-- Load the symbols for a format with addresses. A stripped executable is only a note; an unreadable
-- one is an error, since the user named it.
local function open_symbols(state, mine)
   if state.symbols or not state.format.addresses or not mine.exe and not mine.symbols then
      return true
   end
   local found, message, code = symbols.open {
      exe = mine.exe, symbols = mine.symbols, dictionary = state.dictionary,
      max_size = mine.max_size, rule = mine.compat == "gprof" and "gprof" or "exact",
   }
   if not found then
      return nil, message, code
   end
   table.move(found.notes, 1, #found.notes, #state.notes + 1, state.notes)
   state.symbols = found
   return true
end

-- Returns whether a part has the tables of the first part, except those that the format declares as
-- differing: the trace does not have these.
local function same_schema(state, part)
   local first = state.first
   if part == first then
      return true
   end
   for name, words in pairs(state.format.differing and state.format.differing(first, part) or {}) do
      if not state.differs[name] then
         state.differs[name] = true
         state.notes[#state.notes + 1] = { code = state.format.name .. "-types-differ",
            kind = "note", message = words }
      end
   end
   return first:is_like(part, state.differs)
end

-- Returns how core.open opens files: the same way for all, unless their length is known from a
-- ring.
local function opening_of(state, input, theirs, mine)
   if state.opening and not input.lengths then
      return state.opening
   end
   local format = state.format
   if format.prepare then
      format.prepare(theirs, state.symbols and state.symbols.facts)
   end
   theirs.all_warnings, theirs.live = mine.all_warnings or nil, mine.live or nil
   theirs.settled = input.lengths and true or nil
   local named = format.names_addresses and state.symbols
   local how = core.opening(format.name, theirs, mine.strict, state.dictionary,
      named and named.symbols, named and named.exe)
   if not input.lengths then
      state.opening = how
   end
   return how
end

-- Opens one source, with the files beside it, as a part.
local function open_part(state, input, source, theirs, mine, given)
   local format = state.format
   if mine.live and not format.follows then
      error(("files of format '%s' cannot be followed while they grow"):format(format.name), 0)
   elseif format.is_store and (input.data or input.path == "-") then
      return nil, source:path() .. ": store: a database cannot be read from a pipe or from data: "
         .. "name its file", "unsupported"
   elseif format.open then
      return script_part.open(format, source, theirs,
         state.dictionary, mine)
   end
   local side_files, message, code = inputs.side_files(source, theirs, input, format, given,
      mine.max_size, state.notes)
   if not side_files and message then
      return nil, message, code
   end
   local has_symbols
   has_symbols, message, code = open_symbols(state, mine)
   if not has_symbols then
      return nil, message, code
   end
   for _, side in ipairs(side_files or {}) do
      state.sources[#state.sources + 1] = side.source
      state.beside[side.source:path()], state.roles[side.source] = true, side.role
   end
   return inputs.accepted(input, format, given,
      core.open(opening_of(state, input, theirs, mine), source, side_files))
end

local function add_part(state, input, source, theirs, mine, given)
   local part, message, code = open_part(state, input, source, theirs, mine, given)
   if not part then
      return nil, message, code
   end
   state.parts[#state.parts + 1], state.paths[#state.paths + 1] = part, input.path
   state.goes_on[#state.paths] = input.goes_on
   if mine.live then
      part:grow() -- the file may have got rows before a file was found that continues it
   end
   state.first = state.first or part
   if not same_schema(state, part) then
      return nil, ("%s: %s: its tables differ from those of %s: open them one by one"):format(
         input.path, state.format.name, state.paths[1]), "format"
   end
   memory_limit.hold(state, part, source, mine)
   return true
end

-- Returns the source of an input and sets the format; returns true for a directory.
local function open_source(state, input, mine)
   local already = not input.data and registry.open_already(input.path)
   local source, message, code = inputs.source(already and { data = "", path = input.path }
      or input, mine, not mine.strict and state.notes or nil)
   if not source and inputs.is_directory(input) then
      local format
      format, message, code = inputs.directory_format(input.path, state.format)
      state.format = format
      return format ~= nil, message, code
   elseif not source then
      return nil, message, code
   end
   state.sources[#state.sources + 1] = source
   state.format = state.format or already
      or not input.data and registry.claiming(input.path, source:size()) or registry.detect(source)
   if not state.format then
      return unknown_format.failure(source, state.notes)
   end
   return source
end

local add_inputs

-- Opens the files of a directory. A file that cannot be read is only a warning, unless `strict` is
-- set or no file can be read.
local function add_found(state, list, mine, given)
   local message, code
   for _, input in ipairs(list) do
      local ok
      ok, message, code = add_inputs(state, { input }, mine, given)
      if not ok and mine.strict then
         return nil, message, code
      elseif not ok then
         state.notes[#state.notes + 1] = { code = state.format.name .. "-unreadable",
            kind = "damage", message = message }
      end
   end
   if #state.parts == 0 then
      return nil, message, code
   end
   return true
end

-- Opens each piece of a file as a part of its own.
local function add_pieces(state, pieces, theirs, mine, given)
   for _, piece in ipairs(pieces) do
      local source, message, code = inputs.source(piece, mine)
      if not source then
         return nil, message, code
      end
      state.sources[#state.sources + 1] = source
      local ok
      ok, message, code = add_part(state, piece, source, theirs, mine, given)
      if not ok then
         return nil, message, code
      end
   end
   return true
end

-- Opens one input; a path may stand for several files, each of which is opened once.
local function add_input(state, input, mine, given)
   local source, message, code = open_source(state, input, mine)
   if not source then
      return nil, message, code
   end
   local theirs = format_options(state, given)
   state.format_options = state.format_options or theirs
   local several
   several, message, code = inputs.expand(input, state.format, theirs, mine, state.notes)
   if several then
      if source ~= true then -- it is opened again, as one of them
         table.remove(state.sources):close()
      end
      local add = inputs.is_directory(input) and add_found or add_inputs
      return add(state, several, mine, given)
   elseif message then
      return nil, message, code
   elseif input.is_expanded and state.known[input.path] then
      return true
   end
   state.known[input.path] = true
   local pieces
   pieces, message, code = inputs.pieces(input, source, state.format, theirs)
   if pieces then
      return add_pieces(state, pieces, theirs, mine, given)
   elseif message then
      return nil, message, code
   end
   return add_part(state, input, source, theirs, mine, given)
end

-- Opens all inputs with one format, except files already read as side files. On failure the caller
-- closes everything.
function add_inputs(state, list, mine, given)
   local i = 1
   while list[i] do
      local input = list[i]
      if input.data or not state.beside[input.path] then
         local ok, message, code = add_input(state, input, mine, given)
         if not ok then
            return nil, message, code
         end
      end
      i = file_sums.add(state, list, i + 1, mine)
   end
   return true
end

-- Sets the load bias: the given one, or the one that the format guesses.
local function find_bias(state, mine)
   state.load_bias = mine.load_bias or 0
   if mine.load_bias or not state.symbols or not state.format.guess_bias then
      return
   end
   local bias, reason = state.format.guess_bias(state.first, state.symbols)
   if bias ~= 0 then
      state.load_bias = bias
      state.notes[#state.notes + 1] = { code = state.format.name .. "-bias-guessed",
         kind = "note", message = ("load bias guessed as 0x%x: %s"):format(bias, reason) }
   end
end

-- Warns if the executable does not match, since it gives wrong names. If it certainly matches no
-- file, addresses stand for functions, except with compat = "gprof".
local function check_executable(state)
   local format = state.format
   if not state.symbols or not format.mismatch then
      return
   end
   if state.sums and format.matches(state.summed_parts, state.symbols, state.load_bias) then
      return
   end
   local list, is_certain = format.mismatch(state.parts, state.symbols, state.load_bias)
   local is_dropped = is_certain and state.options.compat ~= "gprof"
      and not state.format_options.any_executable
   local hint = is_dropped and ": addresses stand for functions; any_executable = true takes its "
      .. "names" or ": is it the right one?"
   for _, found in ipairs(list) do
      state.notes[#state.notes + 1] = { code = format.name .. "-executable-mismatch",
         kind = "note", message = found.words .. hint, path = state.paths[found.part] }
   end
   if is_dropped then
      state.symbols:close()
      state.symbols, state.noted_no_names = nil, true
   end
end

local function close_state(state)
   close_all(file_sums.parts(state))
   close_all(file_sums.sources(state))
end

-- Returns the checked options of profio.open for all formats.
local function common_options(given, state)
   local mine = {}
   for _, option in ipairs(common) do
      mine[option.name] = given[option.name]
   end
   mine = options.check(common, mine, "open")
   if mine.os_states or mine.os_running or mine.os_core then
      state.task_states = os_states.of(mine.os_states, mine.os_running, mine.os_core)
   end
   return mine
end

-- Returns the trace of a state; nil and a message if options need a table that it does not have.
local function trace_of(state)
   local opened = trace.new(state)
   if not state.task_states or opened:has "events" then
      return opened
   end
   opened:close()
   return nil, state.paths[1] .. ": it has no table of events, in which os_states finds states of "
      .. "tasks", "unsupported"
end

---Opens a trace. See profio.open.
---@param what string|table
---@param given table|nil
---@return profio.Trace|nil
---@return string|nil message
---@return string|nil code
function opening.open(what, given)
   given = given or {}
   if type(given) ~= "table" then
      error("open expects a table of options, got " .. type(given), 2)
   end
   local list = inputs.of(what)
   local state = { parts = {}, differs = {}, sources = {}, paths = {}, goes_on = {}, notes = {},
      known = {}, beside = {}, roles = {}, awake = 0, dictionary = core.dictionary() }
   state.format = given.format and registry.named(given.format) or nil
   local mine = common_options(given, state)
   if not mine.live then -- a live writer is still moving records from its ring into the file
      list = recovery.expand(list, state, mine.trust_paths)
      inputs.group_packed(list)
   end
   local called, ok, message, code = listed_folders.list_once(add_inputs, state, list, mine, given)
   inputs.close(list)
   if not called then
      close_state(state)
      error(ok, 0)
   elseif not ok then
      close_state(state)
      return nil, message, code
   end
   state.options = mine
   state.open = opening.open
   state.reopen = function()
      local again = {}
      for name, value in pairs(given) do
         again[name] = value
      end
      again.strict, again.all_warnings, again.format = nil, true, state.format.name
      return opening.open(what, again)
   end
   file_sums.finish(state, mine)
   find_bias(state, mine)
   check_executable(state)
   return trace_of(state)
end

-- }======

return opening
