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
--             their paths to options.inputs. From the command, options.worded rewrites a message
--             of the library for its users

local catalogue = require "profio.internal.catalogue"
local later = require "profio.internal.later"
local options = later "profio.internal.options"

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
   local uses = { "span of profile", "span of events" }
   if export.takes == "profile" or export.write_profile then
      table.move({ "functions", "diff" }, 1, 2, 2, uses)
   end
   uses[#uses + 1] = options.find(export.options, "metric") and "metric" or nil
   uses[#uses + 1] = options.find(export.options, "chains") and "chain" or nil
   uses[#uses + 1] = options.find(export.options, "source") and "source" or nil
   return uses
end

local function has_profile(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

local exports = catalogue.list("export", order, {}, function(export)
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

return exports
