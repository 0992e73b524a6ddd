-- Applies --focus, --ignore and --hide to profiles, and to the reports of a graph with --compat.

local failure = require "profio.internal.command.failure"
local function_spec = require "profio.cli.function_spec"

local narrowing = {}

local words = { "focus", "ignore", "hide" }

-- {====== Functions ======

-- Returns the name of the function to which a piece (one line of it) belongs.
local function whole_name(name)
   return name:match "^(.-) %([^()]+ @ %x+%)$" or name
end

-- Returns all functions of a profile.
local function functions_of(made)
   local list = made:functions():rows("number", "function", "symbol", "file", "line")
   for _, row in ipairs(list) do
      row["function"] = whole_name(row["function"])
   end
   return list
end

-- }======

-- {====== Calls along FROM/TO ======

-- Returns the functions of the profiles of both sides, before they are narrowed.
local function all_functions(context)
   if not context.functions then
      context.functions = {}
      for _, trace in ipairs { context.trace, context.old } do
         local list = functions_of(failure.check(trace:profile()))
         table.move(list, 1, #list, #context.functions + 1, context.functions)
      end
   end
   return context.functions
end

-- Returns whether a profile of the command has a function that a text means.
local function is_function(context, text)
   return function_spec.find(text, all_functions(context))[1] ~= nil
end

-- Returns FROM and TO of --ignore FROM/TO; nil: the text is none, or a function has this name.
local function pair_of(context, text)
   local pair = context.pairs[text]
   if pair == nil then
      local from, to = function_spec.pair(text)
      pair = from and not (context.trace:profile_kind() == "graph" and is_function(context, text))
         and { from, to } or false
      context.pairs[text] = pair
   end
   if pair then
      return pair[1], pair[2]
   end
end

---Returns the arcs of a trace without the calls of --ignore FROM/TO.
---@param context profio.Context
---@param trace profio.Trace
---@return profio.View|nil  nil: all of them, or FROM/TO is the name of a function, as in profiles
---that are not built from arcs
function narrowing.arcs(context, trace)
   local ignored = {}
   for _, text in ipairs(trace:has "arcs" and context.given.ignore or {}) do
      local from, to = pair_of(context, text)
      if from then
         ignored[#ignored + 1] = { from, to, text }
         context.missed[#context.missed + 1] = { text = text, from = from, to = to }
      end
   end
   return ignored[1] and trace:table "arcs":filter(function(from, to)
      for _, pair in ipairs(ignored) do
         if pair[1] == from and pair[2] == to then
            context.met[pair[3]] = true
            return false
         end
      end
      return true
   end, "from_function", "to_function") or nil
end

-- }======

-- {====== Options of profiles ======

-- Returns whether an option narrows only the reports of a graph: with --compat, where flat=, graph=
-- or time= say so, and for arcs of --ignore. Otherwise it narrows the profile itself.
local function is_of_reports(context, made, word, text)
   return made:kind() == "graph"
      and (made.facts.compat or function_spec.place(text) ~= nil
         or word == "ignore" and pair_of(context, text) ~= nil)
end

-- Notes whether functions were found, and if not, which functions exist. With --diff it is enough
-- if one of the profiles has them.
local function note_found(context, word, text, is_found, functions)
   if is_found then
      context.met[text] = true
      return
   end
   local names = {}
   for i, row in ipairs(functions) do
      names[i] = whole_name(row["function"])
   end
   context.missed[#context.missed + 1] = { word = word, text = text, names = names }
end

-- Applies one --focus, --ignore or --hide to a profile.
local function narrowed(context, made, word, text)
   local test = function_spec.test((select(2, function_spec.place(text))))
   local is_any, frames = false, {}
   made = made[word](made, function(frame)
      local is_one = test { ["function"] = whole_name(frame["function"]),
         symbol = frame.symbol, file = frame.file, line = frame.line }
      is_any, frames[#frames + 1] = is_any or is_one, frame
      return is_one
   end)
   note_found(context, word, text, is_any, frames)
   return made
end

-- Reports of a difference show sums, to which flat=, graph=, time= and gprof's arithmetic do not
-- apply.
local function check_difference(context, made, word, text)
   if not pair_of(context, text) and is_of_reports(context, made, word, text) then
      failure.use("--%s: with --diff the profiles themselves are narrowed: give a function, "
         .. "without flat=, graph= or time=, and no --compat", word)
   end
end

---Applies --focus, --ignore and --hide to the profiles of both sides; report_options applies the
---rest to reports. A function need not be on both sides.
---@param context profio.Context
---@param made profio.Profile[] new, and with --diff old
---@return profio.Profile new
---@return profio.Profile|nil old
function narrowing.narrow(context, made)
   for _, word in ipairs(words) do
      for _, text in ipairs(context.given[word] or {}) do
         for i, one in ipairs(made) do
            if made[2] then
               check_difference(context, one, word, text)
            end
            if not is_of_reports(context, one, word, text) then
               made[i] = narrowed(context, one, word, text)
            end
         end
      end
   end
   return made[1], made[2]
end

-- }======

-- {====== Reports ======

local prefixes = { focus = "include_", ignore = "exclude_" }

local function add_all(list, more)
   return table.move(more, 1, #more, #list + 1, list)
end

local function numbers_of(functions)
   local numbers = {}
   for i, row in ipairs(functions) do
      numbers[i] = row.number
   end
   return numbers
end

local function add_to_lists(options, prefix, place, numbers)
   for _, each in ipairs(place and { place } or { "flat", "graph", "time" }) do
      options[prefix .. each] = add_all(options[prefix .. each] or {}, numbers)
   end
end

-- Adds the functions of one option to the lists in the profile's options. A focus that matches no
-- function excludes all.
local function add_named(context, options, made, word, functions)
   local found, places = 0, {}
   for _, text in ipairs(context.given[word] or {}) do
      local place, rest = function_spec.place(text)
      if is_of_reports(context, made, word, text)
         and (word == "focus" or not pair_of(context, text)) then
         local numbers = function_spec.find(rest, functions)
         note_found(context, word, text, #numbers > 0, functions)
         add_to_lists(options, prefixes[word], place, numbers)
         found, places[#places + 1] = found + #numbers, place or false
      end
   end
   for _, place in ipairs(word == "focus" and found == 0 and places or {}) do
      add_to_lists(options, prefixes.ignore, place, numbers_of(functions))
   end
end

-- Hidden functions have no entry in reports, but their time counts.
local function add_hidden(context, options, made, functions)
   local hidden
   for _, text in ipairs(made.facts.compat and context.given.hide or {}) do
      local numbers, names = function_spec.find(text, functions)
      note_found(context, "hide", text, #numbers > 0, functions)
      options.exclude_graph = add_all(options.exclude_graph or {}, numbers)
      hidden = add_all(hidden or {}, names)
   end
   return hidden
end

---Sets the options of a graph's reports that narrow them.
---@param context profio.Context
---@param options table options of profile:flat() and others, changed
---@param made profio.Profile
---@return string[]|nil hidden names of functions whose rows are not shown
function narrowing.report_options(context, options, made)
   if made:kind() ~= "graph" then
      return nil
   end
   local functions = functions_of(made)
   add_named(context, options, made, "focus", functions)
   add_named(context, options, made, "ignore", functions)
   return add_hidden(context, options, made, functions)
end

-- }======

return narrowing
