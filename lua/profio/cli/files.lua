-- The FILEs of the command: which of them is the executable, and the trace they make.

local command_options = require "profio.cli.options"
local core = require "profio.core"
local exports = require "profio.exports"
local failure = require "profio.cli.failure"
local options = require "profio.options"
local profio = require "profio"
local registry = require "profio.registry"
local reports = require "profio.reports"
local words = require "profio.cli.words"

local files = {}

-- How executables begin: ELF, PE, Mach-O of both sizes and orders, Mach-O of many machines.
local beginnings = { "\127ELF", "MZ", "\254\237\250\206", "\254\237\250\207", "\206\250\237\254",
   "\207\250\237\254", "\202\254\186\190" }

local function is_executable(path)
   if path == "-" or not core.is_plain_file(path) then
      return false
   end
   local file = io.open(path, "rb")
   local head = file and file:read(4) or ""
   if file then
      file:close()
   end
   for _, beginning in ipairs(beginnings) do
      if head:sub(1, #beginning) == beginning then
         return true
      end
   end
   return false
end

-- What is read when no FILE is named: what a program leaves behind in the current directory, or the
-- database that DCPI's tools take.
local function default()
   local database = os.getenv "DCPIDB"
   if database and database ~= "" and not core.is_plain_file "gmon.out" then
      return database
   elseif not core.is_plain_file "gmon.out" then
      failure.use("no FILE is given, and there is no gmon.out here\n%s", command_options.usage)
   end
   return "gmon.out"
end

---Part the FILEs: traces, and the executable among them.
---@param paths string[]
---@param exe string|nil what --exe said
---@return string[] traces
---@return string|nil exe
function files.part(paths, exe)
   local traces = {}
   for _, path in ipairs(paths) do
      if not is_executable(path) then
         traces[#traces + 1] = path
      elseif exe and exe ~= path then
         failure.use("two executables: %s and %s", exe, path)
      else
         exe = path
      end
   end
   if #traces == 0 then
      traces[1] = default()
   end
   return traces, exe
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

-- Whether an export or a report (or nil) has an option.
local function has_option(owner, name)
   for _, option in ipairs(owner and owner.options or {}) do
      if option.name == name then
         return true
      end
   end
   return false
end

-- The export or the report that the command line names: --set gives options of it too.
local function owner_of(given)
   if given.export then
      return exports.find(given.export)
   end
   local name = given.report or (given.limits and "statistics")
   return name and reports.find(name) or nil
end

---The options of --set: for reading a format, or for writing one.
---@param given table
---@param key "options"|"write_options"
---@return table<string, any>
function files.set_options(given, key)
   local other = key == "options" and "write_options" or "options"
   local owner = owner_of(given)
   local values = {}
   for _, text in ipairs(given.set or {}) do
      local name, value = words.assignment(text)
      local list = declared(name, key)
      local is_others = given.merge and declared(name, other) and (not list or key == "options")
      if not is_others and (list or not has_option(owner, name)) then
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
   return options.check(owner.options or {}, values, owner.name)
end

-- The options of profio.open that the command line gives.
local function opening_of(given, exe)
   local opening = files.set_options(given, "options")
   opening.format, opening.strict, opening.exe = given.format, given.strict, exe
   opening.symbols, opening.compat = given.symbols, given.compat
   opening.all_warnings, opening.mapping = given.check, given.mapping
   opening.live = given.follow
   if given.load_bias then
      opening.load_bias = words.number(given.load_bias, "--load-bias")
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
         err:write("profio: ", message, "\n")
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
         local format, owner = registry.named(name), owner_of(given)
         local names = names_of(format.options)
         for _, more in ipairs { names_of(given.merge and format.write_options),
            names_of(owner and owner.options) } do
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

---Open the trace that the command names; failures end the command. Of several FILEs those that
---can be read are read, unless it is strict.
---@param given table
---@param err file* where the files that cannot be read are named
---@return profio.Trace
---@return integer status  of opening: not all of several FILEs could be read
function files.open(given, err)
   local traces, exe = files.part(given.files, given.exe)
   given.exe = exe -- for --diff
   local opening = opening_of(given, exe)
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
   elseif #good == #traces then -- each alone is fine, together they are not
      failure.raise(failure.NOTHING, message)
   end
   return failure.check(profio.open(good, opening)), failure.NOTHING
end

---Open the trace of --diff, with the options of the others; a failure ends the command.
---@param given table
---@return profio.Trace
function files.open_old(given)
   local traces, exe = files.part({ given.diff }, given.exe)
   return failure.check(profio.open(traces[1], opening_of(given, exe)))
end

return files
