-- Which options go together. Each report, export and mode declares in its field `uses` the options
-- that it uses; an option that would be ignored is wrong use, which ends with status 2.
--
-- `uses` is a list of names of options (as keys: "diff", "keep") and of the groups below. It may be
-- a function of the trace that returns such a list.

local failure = require "profio.cli.failure"

local together = {}

local groups = {
   -- what picks and shows rows
   rows = { "columns", "where", "group", "aggregate", "sort", "top", "output", "unit", "explain",
      "export", "out" },
   -- a part of the time or of the lanes
   span = { "from", "to", "lane" },
   -- the same of reports that show a profile, if that is made from calls
   ["span of calls"] = { "from", "to", "lane" },
   -- the same where there are events
   ["span of events"] = { "from", "to", "lane" },
   -- what narrows a profile to some of its functions
   functions = { "focus", "ignore", "hide" },
   -- older runs, with what opens them
   diff = { "diff", "diff_exe", "diff_symbols", "diff_load_bias", "diff_mapping" },
}

-- Options that open files, and those that every subject accepts.
local always = { "format", "mapping", "set", "strict", "trust_paths", "exe", "symbols", "load_bias",
   "load", "progress", "no_progress" }

-- {====== What is used ======

-- Whether the trace has what a word of `uses` stands for.
local function is_there(word, trace)
   if word == "span of calls" then
      return trace:profile_kind() == "calls"
   elseif word == "span of events" then
      return trace.events ~= nil
   end
   return word ~= "compat" or trace:profile_kind() == "graph"
end

-- The keys of the options that a subject uses, as a set.
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

---A list of `uses` with more in front.
---@param first string[]
---@param uses string[]|nil
---@return string[]
function together.joined(first, uses)
   return table.move(uses or {}, 1, #(uses or {}), #first + 1, first)
end

---Whether a subject (a report, an export, a mode) uses an option.
---@param subject { uses: (string[]|fun(trace: profio.Trace): string[])|nil }
---@param key string of the option
---@param trace profio.Trace
---@return boolean
function together.uses(subject, key, trace)
   return used_by(subject, trace)[key] == true
end

-- Rows in another form than text have their times in ns and no room for explanations.
local function without_text(set, given)
   local is_text = given.output == "text" and not given.export
   set.unit = set.unit and is_text or given.from ~= nil or given.to ~= nil
   set.explain = set.explain and is_text
   set.output = set.output and not given.export
end

-- Removes --hide for profiles without callers, because it charges the cost of functions to callers.
local function without_callers(set, trace)
   set.hide = set.hide and trace:has_callers()
end

-- Names of functions come from addresses, which not all formats have.
local function without_addresses(set, format)
   for _, key in ipairs(format.addresses and {} or { "exe", "symbols", "load_bias" }) do
      set[key], set["diff_" .. key] = nil, nil
   end
end

-- }======

-- {====== Refusing ======

local function name_of(key)
   return key == "out" and "-o" or "--" .. key:gsub("_", "-")
end

together.name_of = name_of

-- Reason for the refusal of an option, or advice, by the key of the option.
local advice = {
   unit = "it is for times in text; other forms have nanoseconds",
   explain = "it is for text",
   output = "an export has a form of its own",
   exe = "these files have no addresses to find names for",
   hide = "nothing is known of callers, to whom the cost of functions could go",
   compat = "it is for profiles made from histograms and arcs",
   strict = "it lists all violations",
}
for _, key in ipairs { "symbols", "load_bias", "diff_exe", "diff_symbols", "diff_load_bias" } do
   advice[key] = advice.exe
end

-- The names of those of some subjects that use an option of this trace.
local function users_of(key, subjects, trace)
   local names = {}
   for _, other in ipairs(subjects) do
      if together.uses(other, key, trace) and (not other.fits or other.fits(trace)) then
         names[#names + 1] = other.name
      end
   end
   return names
end

-- Returns advice for a refused option: an option of that name which the subject itself has, the
-- missing table of events, or the subjects of its kind that accept it; false if there are none.
local function instead_of(subject, key, trace)
   for _, option in ipairs(subject.options or {}) do
      if option.name == key and key == "source" then
         return "give --set source=DIR"
      end
   end
   if (key == "from" or key == "to" or key == "lane") and not trace.events then
      return "it picks from events, of which " .. trace.path .. " has no table"
   end
   local names = users_of(key, subject.others and subject.others() or {}, trace)
   return #names > 0 and ("%s that can: %s"):format(subject.kind, table.concat(names, ", "))
end

---Raises when an option is given beside one that needs no file.
---@param key string of that option
---@param uses table<string, boolean> keys of the options that go with it
---@param given table
function together.check_alone(key, uses, given)
   for _, other in ipairs(given.asked) do
      if other ~= key and not uses[other] then
         failure.use("%s cannot use %s: leave it out", name_of(key), name_of(other))
      end
   end
end

---Raises when an option is given that the subject does not use. The message names the option, the
---subject and what to do.
---@param subject table title = "report 'flat'"; uses; kind = "reports" and others, a function that
---returns all of that kind: these are suggested
---@param given table the options of the command line; asked has the keys of those that were given
---@param trace profio.Trace
---@param format table of the trace
function together.check(subject, given, trace, format)
   local set = used_by(subject, trace)
   add_always(set)
   without_text(set, given)
   without_addresses(set, format)
   without_callers(set, trace)
   for _, key in ipairs(given.asked) do
      if not set[key] or subject.refuses == key then
         failure.use("%s cannot use %s: %s", subject.title, name_of(key), advice[key]
            or instead_of(subject, key, trace) or "leave it out")
      end
   end
end

-- }======

return together
