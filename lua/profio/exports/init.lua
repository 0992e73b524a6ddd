-- The exports of rows, profiles and traces for other programs. To add one, add a file beside this
-- one and its name to this list.
--
-- An export is a table:
--    name     its name on the command line
--    help     one line
--    endings  extensions of such files, or nil; a file callgrind.out.1 belongs to callgrind
--    is_binary  true, or a function of the options: it writes bytes, which a terminal is not for
--    takes    "rows" (a reader of the core), "profile" or "trace"; nil: rows
--    options  its options for --set (profio.Option in internal/options.lua); nil: none
--    fits     function(trace): true, or false and a reason; nil: every trace that has what the
--             export takes, rows or a profile
--    weighs_profile  true: an option metric selects the profile instead of the timeline
--    write_profile  writes a profile, if the export takes a trace
--    is_whole, write_trace  if it takes a profile or rows: function(trace), whether the trace
--             itself is written, and the function that writes it
--    uses     options of the command that it uses (see profio.cli.conflicts); set here
--    write    function(what, options, file): true (rows: how many), or nil, message, code and
--             "EPIPE" if the pipe was closed by its reader. An export that reads further files adds
--             their paths to options.inputs

local catalogue = require "profio.internal.catalogue"
local options = require "profio.internal.options"
local outputs = require "profio.internal.outputs"
local raise = require "profio.internal.raise"

local order = {
   "csv",
   "tsv",
   "ndjson",
   "json",
   "clickhouse",
   "sqlite",
   "btf",
   "pprof",
   "speedscope",
   "cpuprofile",
   "callgrind",
   "dot",
   "chrome",
   "perfetto",
   "folded",
   "firefox",
   "svg",
   "html",
}

-- Returns the options of the command that an export uses (see profio.cli.conflicts): selection and
-- form of rows, or narrowing and comparison of profiles.
local function uses_of(export)
   if export.takes == "rows" then
      return { "rows" }
   end
   local uses = { "span of events" }
   if export.takes == "profile" or export.write_profile then
      table.move({ "functions", "diff" }, 1, 2, 2, uses)
   end
   uses[#uses + 1] = options.find(export.options, "metric") and "metric"
   return uses
end

local function has_profile(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

local exports = catalogue("export", order, {}, function(export)
   assert(type(export.write) == "function", export.name .. " writes nothing")
   export.takes = export.takes or "rows"
   export.fits = export.fits or export.takes ~= "rows" and has_profile or nil
   export.uses = uses_of(export)
end)

---Returns the export of profiles to which the extension of a path belongs, or nil.
---@param path string
---@return string|nil kind
function exports.of_path(path)
   local name = path:lower():match "[^/]*$"
   if name:find "^callgrind%.out" then
      return "callgrind"
   end
   for _, kind in ipairs(order) do
      for _, ending in ipairs(exports.find(kind).endings or {}) do
         if name:sub(-#ending) == ending then
            return kind
         end
      end
   end
   return nil
end

---Returns whether an export writes bytes, which a terminal is not for.
---@param export table
---@param given table its options
---@return boolean
function exports.is_binary(export, given)
   if type(export.is_binary) == "function" then
      return export.is_binary(given)
   end
   return export.is_binary == true
end

---Returns whether an export that takes a profile or rows writes a trace itself.
---@param export table
---@param trace profio.Trace
---@return boolean
function exports.is_whole(export, trace)
   return export.is_whole ~= nil and export.is_whole(trace)
end

-- Writes into a file, which replaces an older one only when it is complete. Files that the export
-- itself has read are inputs too.
local function into_file(write, what, given, path)
   return outputs.write(path, function(file)
      local done, message, code, broken = write(what, given, file)
      if not done then
         return nil, message, code, broken
      end
      outputs.check({ path }, given.inputs)
      return true
   end)
end

local phrases = { rows = "the rows of a view: view:export", profile = "a profile",
   trace = "a trace" }

-- Returns whether an export can write something, and the function that writes it.
local function writer_of(export, takes, what)
   if takes == "profile" and export.write_profile then
      return true, export.write_profile
   elseif takes == "trace" and exports.is_whole(export, what) then
      return true, export.write_trace
   end
   return export.takes == takes, export.write
end

-- Checks the options of an export; rows also have columns.
local function checked_options(export, takes, given)
   local own, columns = {}, nil
   for name, value in pairs(given) do
      if takes == "rows" and name == "columns" then
         columns = raise.expect(value, "table", "export: columns")
      else
         own[name] = value
      end
   end
   own = options.check(export.options or {}, own, "export '" .. export.name .. "'")
   own.columns = columns
   return own
end

---Writes rows, a profile or a trace through an export. Raises if the export takes something else,
---for unknown options, and if the path is a file that was read for it.
---@param kind string
---@param takes "rows"|"profile"|"trace" rows: of a reader of the core
---@param what any
---@param given table|nil options of the export
---@param path string|nil nil: return the bytes
---@param inputs string[] paths of the files that were read
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function exports.run(kind, takes, what, given, path, inputs)
   raise.expect(path, "string?", "export: the path")
   local export = exports.named(kind)
   local can, write = writer_of(export, takes, what)
   if not can then
      error(("export '%s' takes %s, not %s"):format(kind, phrases[export.takes], takes == "rows"
         and "rows" or "a " .. takes), 0)
   end
   given = checked_options(export, takes, raise.expect(given or {}, "table", "export: options"))
   if takes == "trace" and export.fits then
      local fits, reason = export.fits(what)
      if not fits then
         return nil, ("export '%s' does not fit this trace: %s"):format(kind, reason), "unsupported"
      end
   end
   given.inputs, given.notes = table.move(inputs, 1, #inputs, 1, {}), {}
   if path then
      outputs.check({ path }, given.inputs)
      return into_file(write, what, given, path)
   end
   local file <close> = assert(io.tmpfile())
   local done, message, code = write(what, given, file)
   if not done then
      return nil, message, code
   end
   file:seek "set"
   return file:read "a"
end

return exports
