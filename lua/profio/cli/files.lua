-- The FILEs of the command as traces, and the options that --set gives.

local exports = require "profio.exports"
local failure = require "profio.cli.failure"
local options = require "profio.options"
local profio = require "profio"
local registry = require "profio.registry"
local reports = require "profio.reports"
local sources = require "profio.sources"
local wording = require "profio.cli.wording"
local words = require "profio.cli.words"

local files = {}

---The files that the command line names, and that are read if they can be.
---@param given table
---@return string[]
function files.named(given)
   local list = table.move(given.files, 1, #given.files, 1, {})
   for _, key in ipairs { "exe", "symbols", "mapping", "limits", "script", "load", "source", "diff",
      "diff_exe", "diff_symbols", "diff_mapping" } do
      local value = given[key] or {}
      value = type(value) == "table" and value or { value }
      table.move(value, 1, #value, #list + 1, list)
   end
   return list
end

-- What --set says, for reading and for writing. The format is known when the trace is open, so a
-- value is read as what any format declares under that name.
local function declared(name, key)
   for _, format in ipairs(profio.formats()) do
      for _, option in ipairs(format[key] or {}) do
         if option.name == name then
            return format[key]
         end
      end
   end
end

-- Whether an export or a report has an option.
local function has_option(owner, name)
   for _, option in ipairs(owner.options or {}) do
      if option.name == name then
         return true
      end
   end
   return false
end

-- The report, and the export or the form of rows, that the command line names: --set gives options
-- of them too.
local function owners_of(given)
   local report = given.report or (given.limits and "statistics")
   local list = { report and reports.find(report) }
   list[#list + 1] = exports.find(given.export or given.output or "")
   return list
end

local function is_owned(given, name)
   for _, owner in ipairs(owners_of(given)) do
      if has_option(owner, name) then
         return true
      end
   end
   return false
end

---The options of --set: for reading a format, or for writing one.
---@param given table
---@param key "options"|"write_options"
---@return table<string, any>
function files.set_options(given, key)
   local other = key == "options" and "write_options" or "options"
   local values = {}
   for _, text in ipairs(given.set or {}) do
      local name, value = words.assignment(text)
      local list = declared(name, key)
      local is_others = given.merge and declared(name, other) and (not list or key == "options")
      if not is_others and (list or not is_owned(given, name)) then
         values[name] = options.parse(list or {}, name, value)
      end
   end
   return values
end

---The options of --set that an export of the whole, or a report, has.
---@param given table
---@param owner table
---@return table<string, any>
function files.options_of(given, owner)
   local values = {}
   for _, text in ipairs(given.set or {}) do
      local name, value = words.assignment(text)
      if has_option(owner, name) then
         values[name] = options.parse(owner.options, name, value)
      end
   end
   if given.trust_paths and has_option(owner, "trust_paths") then
      values.trust_paths = true
   end
   return options.check(owner.options or {}, values, owner.name)
end

---The options of --set that the form of rows has, which --export or --output names.
---@param given table
---@return table<string, any>
function files.options_of_rows(given)
   local form = exports.find(given.export or given.output or "")
   return form and files.options_of(given, form) or {}
end

-- The options of profio.open for the files of one side.
local function opening_of(given, side)
   local opening = files.set_options(given, "options")
   opening.format, opening.strict, opening.exe = given.format, given.strict, side.exe
   opening.symbols, opening.compat = side.symbols, given.compat
   opening.all_warnings, opening.mapping = given.check, side.mapping
   opening.trust_paths = given.trust_paths
   opening.live = given.follow and not given.report or nil
   if side.load_bias then
      opening.load_bias = words.number(side.load_bias, side.load_bias == given.diff_load_bias
         and "--diff-load-bias" or "--load-bias")
   end
   return opening
end

-- Those of several FILEs that can be opened alone; each of the others is named on `err`.
local function readable(traces, opening, err)
   local good = {}
   for _, path in ipairs(traces) do
      local alone, message = profio.open(path, opening)
      if alone then
         alone:close()
         good[#good + 1] = path
      else
         wording.say(err, message)
      end
   end
   return good
end

-- The names of some options.
local function names_of(list)
   local names = {}
   for i, option in ipairs(list or {}) do
      names[i] = option.name
   end
   return names
end

-- Raises for a name of --set that nothing has: with the names that the format and the report or the
-- export have.
local function check_set(given, message)
   local name, option = message:match "format '(%w+)' has no option '([^']*)'"
   for _, text in ipairs(option and given.set or {}) do
      if words.assignment(text) == option then
         local format = registry.named(name)
         local names, lists = names_of(format.options),
            { names_of(given.merge and format.write_options) }
         for i, owner in ipairs(owners_of(given)) do
            lists[i + 1] = names_of(owner.options)
         end
         for _, more in ipairs(lists) do
            table.move(more, 1, #more, #names + 1, names)
         end
         failure.use("--set: no option '%s'; there are: %s", option, table.concat(names, ", "))
      end
   end
end

-- profio.open, whose raises are in the words of --set.
local function open(what, opening, given)
   local done, trace, message, code = pcall(profio.open, what, opening)
   if not done then
      if type(trace) == "string" then
         check_set(given, trace)
      end
      error(trace, 0)
   end
   return trace, message, code
end

---Open the trace of one side; failures end the command. Of several FILEs those that can be read are
---read, unless it is strict, or a file would be written with what is left.
---@param given table
---@param side profio.Side
---@param err file* where the files that cannot be read are named
---@param writes boolean whether all of them or none are wanted
---@return profio.Trace
---@return integer status  of opening: not all of several FILEs could be read
function files.open(given, side, err, writes)
   local traces, opening = side.traces, opening_of(given, side)
   if #traces == 1 then
      return failure.check(open(traces[1], opening, given)), failure.READ
   end
   local trace, message, code = open(traces, opening, given)
   if trace or given.strict then
      return failure.check(trace, message, code), failure.READ
   end
   local good = readable(traces, opening, err)
   if #good == 0 then
      failure.raise(failure.NOTHING)
   elseif writes and #good < #traces then
      failure.raise(failure.NOTHING, ("nothing is written: %d of %d files cannot be read"):format(
         #traces - #good, #traces))
   elseif #good == #traces then -- each alone is fine, together they are not
      failure.raise(failure.NOTHING, message)
   end
   return failure.check(profio.open(good, opening)), failure.NOTHING
end

---Check the folders of --source; one that cannot be read ends the command.
---@param given table
function files.check_sources(given)
   failure.check(sources.check(given.source or {}))
end

return files
