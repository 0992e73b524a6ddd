-- Opens the files of the command line as traces, with the options of --set.

local later = require "profio.internal.later"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local messages = require "profio.cli.messages"
local options = require "profio.internal.options"
local profio = require "profio"
local registry = require "profio.internal.opening.registry"
local reports = require "profio.reports"
local runs = require "profio.cli.runs"
local selecting = later "profio.internal.store.selecting"
local sources = later "profio.internal.sources"
local words = later "profio.internal.command.values"

local files = {}

---Returns the files that the command line names for reading.
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

-- Returns the list of options in which some format declares a name. The format is only known when
-- the trace is open, so a value of --set is parsed as any format declares it.
local function declared(name, key)
   for _, format in ipairs(profio.formats()) do
      if options.find(format[key], name) then
         return format[key]
      end
   end
end

-- Returns the report and the export (or the form of rows) on the command line, which have options
-- for --set too.
local function owners_of(given)
   local report = given.report or (given.limits and "statistics")
   local list = { report and reports.find(report) }
   list[#list + 1] = exports.find(given.export or given.output or "")
   return list
end

local function is_owned(given, name)
   for _, owner in ipairs(owners_of(given)) do
      if options.find(owner.options, name) then
         return true
      end
   end
   return false
end

---Returns the options of --set for reading or for writing a format.
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

---Returns the options of --set that belong to an export or a report.
---@param given table
---@param owner table
---@return table<string, any>
function files.options_of(given, owner)
   local values = {}
   for _, text in ipairs(given.set or {}) do
      local name, value = words.assignment(text)
      if options.find(owner.options, name) then
         values[name] = options.parse(owner.options, name, value)
      end
   end
   if given.trust_paths and options.find(owner.options, "trust_paths") then
      values.trust_paths = true
   end
   return options.check(owner.options or {}, values, owner.name)
end

---Returns the options of --set for the form of rows, given by --export or --output.
---@param given table
---@return table<string, any>
function files.options_of_rows(given)
   local form = exports.find(given.export or given.output or "")
   return form and files.options_of(given, form) or {}
end

---Returns the conditions of --run as an option of profio.open.
---@param texts string[]|nil
---@return table[]|nil
function files.selection(texts)
   local list = texts and {}
   for i, text in ipairs(texts or {}) do
      local name = words.parts(text)
      local attribute = selecting.attribute
      list[i] = words.condition(text, { attribute(name) or { name = name,
         type = "name" } })
   end
   return list
end

---Returns the options of profio.open for the files of one side.
---@param given table
---@param side profio.Side
---@return table<string, any>
function files.opening(given, side)
   local opening = files.set_options(given, "options")
   opening.format, opening.strict, opening.exe = given.format, given.strict, side.exe
   opening.symbols, opening.compat = side.symbols, given.compat
   opening.all_warnings, opening.mapping = given.check, side.mapping
   opening.trust_paths, opening.run = given.trust_paths, files.selection(side.run)
   opening.live = given.follow and not given.report and not given.is_over or nil
   if side.load_bias then
      opening.load_bias = words.number(side.load_bias, side.load_bias == given.diff_load_bias
         and "--diff-load-bias" or "--load-bias")
   end
   return opening
end

-- Returns the files that can be opened alone; names the others on `err`.
local function readable(traces, opening, err)
   local good = {}
   for _, path in ipairs(traces) do
      local alone, message = profio.open(path, opening)
      if alone then
         alone:close()
         good[#good + 1] = path
      else
         messages.say(err, message)
      end
   end
   return good
end

-- Raises for a name of --set that is unknown, and for --run with files that are no store. The
-- message lists the options of the format and of the report or export.
local function check_set(given, name, option)
   if option == "run" then
      failure.use("--run picks runs of a store; these files are traces of format '%s'", name)
   end
   for _, text in ipairs(option and given.set or {}) do
      if words.assignment(text) == option then
         local format = registry.named(name)
         local lists = { options.names(given.merge and format.write_options or nil) }
         for i, owner in ipairs(owners_of(given)) do
            lists[i + 1] = options.names(owner.options)
         end
         local names = options.names(format.options)
         for _, more in ipairs(lists) do
            table.move(more, 1, #more, #names + 1, names)
         end
         failure.use("--set: no option '%s'; there are: %s", option, table.concat(names, ", "))
      end
   end
end

---Calls profio.open and reports unknown options as those of --set. Those that the format does not
---have and the report or export has are removed from `opening`: other formats have such names too.
---@param what string|string[]
---@param opening table options of profio.open, changed
---@param given table
---@return profio.Trace|nil
---@return string|nil message
---@return string|nil code
function files.one(what, opening, given)
   local done, trace, message, code = pcall(profio.open, what, opening)
   if not done then
      local name, option = tostring(trace):match "format '(%w+)' has no option '([^']*)'"
      if option and opening[option] ~= nil and is_owned(given, option) then
         opening[option] = nil
         return files.one(what, opening, given)
      end
      check_set(given, name, option)
      error(trace, 0)
   end
   return trace, message, code
end

---Opens the trace of one side; failures end the command. If some of several files cannot be read,
---the others are, unless the mode is strict or an incomplete file would be written.
---@param given table
---@param side profio.Side
---@param err file* files that cannot be read are reported here
---@param writes boolean all files or none must be read
---@return profio.Trace
---@return integer status  whether all files could be read
function files.open(given, side, err, writes)
   local traces, opening = side.traces, files.opening(given, side)
   if #traces == 1 then
      return failure.check(files.one(traces[1], opening, given)), failure.READ
   end
   local trace, message, code = files.one(traces, opening, given)
   if runs.settle(given, side, trace) then
      if trace then
         trace:close()
      end
      return files.open(given, side, err, writes)
   end
   if trace or given.strict then
      return failure.check(trace, message, code), failure.READ
   end
   local good = readable(traces, opening, err)
   if #good == 0 then
      failure.raise(failure.NOTHING)
   elseif writes and #good < #traces then
      failure.raise(failure.NOTHING, ("nothing is written: %d of %d files cannot be read"):format(
         #traces - #good, #traces))
   elseif #good == #traces then -- each alone can be read, but not together
      failure.raise(failure.NOTHING, message)
   end
   return failure.check(profio.open(good, opening)), failure.NOTHING
end

---Checks the folders of --source; one that cannot be read ends the command.
---@param given table
function files.check_sources(given)
   if given.source and given.source[1] then
      failure.check(sources.check(given.source))
   end
end

return files
