-- Checks combinations of options. Each report, export and mode declares in its field `uses` the
-- options that it uses; an option that would be ignored is a usage error (status 2).
--
-- `uses` is a list of names of options (as keys: "diff", "keep") and of the groups below, or a
-- function of the trace that returns such a list. `names` tells what a subject does with the names
-- of addresses: nil, it shows them; "columns", it only depends on whether there are any; false,
-- nothing. It may be a function of the trace and the options of the command line.

local failure = require "profio.internal.command.failure"
local profiles = require "profio.internal.bodies.profile_methods"
local registry = require "profio.internal.opening.registry"
local traces = require "profio.internal.trace"

local conflicts = {}

local groups = {
   -- selection and form of rows
   rows = { "columns", "where", "group", "aggregate", "sort", "top", "output", "unit", "wide",
      "explain", "export", "out" },
   -- a part of the time or of the lanes
   span = { "from", "to", "lane" },
   -- the same for reports of a profile that is built from calls, or from samples with times
   ["span of profile"] = { "from", "to", "lane" },
   -- the same if there are events
   ["span of events"] = { "from", "to", "lane" },
   -- selection of functions of a profile
   functions = { "focus", "ignore", "hide" },
   -- older runs, and options for opening them
   diff = { "diff", "diff_exe", "diff_symbols", "diff_load_bias", "diff_mapping",
      "diff_run" },
}

-- Options for opening files, and those that every subject accepts.
local always = { "run", "format", "mapping", "set", "strict", "trust_paths", "exe", "symbols",
   "load_bias", "load", "progress", "no_progress" }

local NO_SYMBOLS = "no program is given to find names in: give --exe or --symbols"

-- {====== Used options ======

-- Returns whether the trace has what a word of `uses` needs.
local function is_there(word, trace)
   if word == "span of profile" then
      return profiles.span_table(traces.of(trace)) ~= nil
   elseif word == "span of events" then
      return trace:has "events"
   end
   return word ~= "compat" or trace:profile_kind() == "graph"
end

-- Returns the keys of the options that a subject uses, as a set.
local function used_by(subject, trace)
   local set, uses = {}, subject.uses or {}
   if type(uses) == "function" then
      uses = uses(trace)
   end
   for _, word in ipairs(uses) do
      for _, key in ipairs(is_there(word, trace) and (groups[word] or { word }) or {}) do
         set[key] = true
      end
   end
   return set
end

local function add_always(set)
   for _, key in ipairs(always) do
      set[key] = true
   end
end

---Appends a list of `uses` to another one.
---@param first string[]
---@param uses string[]|nil
---@return string[]
function conflicts.joined(first, uses)
   return table.move(uses or {}, 1, #(uses or {}), #first + 1, first)
end

---Returns whether a subject (a report, an export, a mode) uses an option.
---@param subject { uses: (string[]|fun(trace: profio.Trace): string[])|nil }
---@param key string of the option
---@param trace profio.Trace
---@return boolean
function conflicts.uses(subject, key, trace)
   return used_by(subject, trace)[key] == true
end

-- Removes options for text if rows have another form: their times are in ns.
local function without_text(set, given)
   local is_text = given.output == "text" and not given.export
   set.unit = set.unit and is_text or given.from ~= nil or given.to ~= nil
   set.explain = set.explain and is_text
   set.wide = set.wide and is_text
   set.output = set.output and not given.export
end

-- Removes --hide for profiles without callers, because it charges the cost of functions to callers.
local function without_callers(set, trace)
   set.hide = set.hide and trace:has_callers()
end

local symbol_options = { "load_bias", "exe", "symbols" }

-- Removes options for symbols if the trace has no addresses, and the load bias if the format moves
-- them by itself.
local function without_addresses(set, trace, reasons)
   local state = traces.of(trace)
   local stored = state.stored
   local has_addresses = state.format.addresses ~= nil or stored and stored.has_graphs
   for i = 1, not has_addresses and 3 or state.format.names_addresses and 1 or 0 do
      for _, key in ipairs { symbol_options[i], "diff_" .. symbol_options[i] } do
         set[key], reasons[key] = nil, "these files have no addresses to find names for"
      end
   end
end

-- Returns whether names were given, also if they turned out to be those of another program.
local function has_symbols(trace)
   local given = traces.of(trace).options
   return (given.exe or given.symbols) ~= nil
end

-- Removes options for symbols that the subject does not need. An executable may be needed to read
-- the file.
local function without_names(set, names, trace, reasons)
   for _, key in ipairs(names == false and symbol_options or {}) do
      if key ~= "exe" or not traces.of(trace).format.prepare then
         set[key], reasons[key] = nil, reasons[key] or "it shows no names of addresses"
      end
   end
   if names then
      set.load_bias, reasons.load_bias = nil, reasons.load_bias or "it looks up no addresses"
   elseif not has_symbols(trace) then
      set.load_bias, reasons.load_bias = nil, reasons.load_bias or NO_SYMBOLS
   end
end

-- }======

-- {====== Refused options ======

local function name_of(key)
   return key == "out" and "-o" or "--" .. key:gsub("_", "-")
end

conflicts.name_of = name_of

-- Reason for the refusal of an option, or advice, by the key of the option.
local advice = {
   unit = "it is for times in text; other forms have nanoseconds",
   explain = "it is for text",
   wide = "it is for text",
   output = "an export has a form of its own",
   hide = "callers are unknown, so the cost of functions cannot be charged to them",
   compat = "it is for profiles that are built from histograms and arcs",
   strict = "it lists all violations",
   report = "it is a form of the whole trace; --output is the form of a report",
}

-- Returns the names of the subjects that use an option for this trace.
local function users_of(key, subjects, trace)
   local names = {}
   for _, other in ipairs(subjects) do
      if conflicts.uses(other, key, trace) and (not other.fits or other.fits(trace)) then
         names[#names + 1] = other.name
      end
   end
   return names
end

-- Returns advice for a refused option: the missing table of events, or the subjects of its kind
-- that accept it; false if there is none.
local function instead_of(subject, key, trace)
   local is_span = key == "from" or key == "to" or key == "lane"
   if is_span and not trace:has "events" and not profiles.span_table(traces.of(trace)) then
      return "--from, --to and --lane select from events or samples with times, and " .. trace.path
         .. " has neither"
   end
   local names = users_of(key, subject.others and subject.others() or {}, trace)
   return #names > 0 and ("%s that can: %s"):format(subject.kind, table.concat(names, ", "))
end

---Raises if an option is given beside one that needs no file.
---@param key string key of that option
---@param uses table<string, boolean> keys of the options that may be combined with it
---@param given table
function conflicts.check_alone(key, uses, given)
   for _, other in ipairs(given.asked) do
      if other ~= key and not uses[other] then
         failure.use("%s cannot use %s: leave it out", name_of(key), name_of(other))
      end
   end
end

---Raises if an option is given that the subject does not use. The message names the option, the
---subject and a remedy.
---@param subject table title = "report 'flat'"; uses; names; kind = "reports" and others, a
---function that returns all subjects of that kind, which are suggested
---@param given table the options of the command line; `asked` has the keys of those that were given
---@param trace profio.Trace
function conflicts.check(subject, given, trace)
   local set, reasons = used_by(subject, trace), {}
   add_always(set)
   without_text(set, given)
   without_addresses(set, trace, reasons)
   local names = subject.names
   if type(names) == "function" then
      names = names(trace, given)
   end
   without_names(set, names, trace, reasons)
   without_callers(set, trace)
   for _, key in ipairs(given.asked) do
      if not set[key] or subject.refuses == key then
         failure.use("%s cannot use %s: %s", subject.title, name_of(key), reasons[key]
            or advice[key] or instead_of(subject, key, trace) or "leave it out")
      end
   end
end

---Raises if an option for symbols is given that a trace cannot use.
---@param title string of what is done with it
---@param given table the options of the command line
---@param trace profio.Trace
function conflicts.check_symbols(title, given, trace)
   local set, reasons = {}, {}
   add_always(set)
   without_addresses(set, trace, reasons)
   without_names(set, nil, trace, reasons)
   for _, key in ipairs(given.asked) do
      if reasons[key] then
         failure.use("%s cannot use %s: %s", title, name_of(key), reasons[key])
      end
   end
end

---Raises if a load bias is given for the older runs and no names that it could move.
---@param given table the options of the command line
---@param old profio.Trace
function conflicts.check_old(given, old)
   if given.diff_load_bias and not has_symbols(old) then
      failure.use("--diff cannot use --diff-load-bias: %s", NO_SYMBOLS)
   end
end

---Returns whether the rows of a table have names of addresses.
---@param trace profio.Trace
---@param name string
---@return boolean
function conflicts.has_names(trace, name)
   local state = traces.of(trace)
   local format = state.stored and state.stored.has(name) and registry.named "gmon" or state.format
   if format.names_addresses then -- of stacks
      for _, field in ipairs((state.schema[name] or {}).fields or {}) do
         if field.type == "stack" then
            return true
         end
      end
   end
   return format.addresses ~= nil and format.addresses[name] ~= nil
end

-- }======

---Raises if an option is given that a form of output does not use.
---@param given table
---@param keys string[] of the options
---@param title string "compare: --output junit"
function conflicts.check_unused(given, keys, title)
   for _, key in ipairs(keys) do
      local value = given[key]
      if value and (type(value) ~= "table" or value[1]) then
         failure.use("%s cannot use %s: leave it out", title, conflicts.name_of(key))
      end
   end
end

return conflicts
