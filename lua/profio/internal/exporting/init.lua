-- Writes rows, profiles and traces through exports, for the library.

local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local options = require "profio.internal.options"
local outputs = require "profio.internal.writing.outputs"
local raise = require "profio.internal.raise"

local exporting = {}

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
---@param path string|nil nil: return the bytes; "-": standard output
---@param inputs string[] paths of the files that were read
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function exporting.run(kind, takes, what, given, path, inputs)
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
   local file <close> = assert(core.temporary())
   local done, message, code = write(what, given, file)
   if not done then
      return nil, message, code
   end
   assert(file:seek "set")
   return file:read "a"
end

-- Separates the options of an export from those that select the events for the profile.
local function parted(given)
   local own, part = {}, {}
   for name, value in pairs(raise.expect(given or {}, "table", "export: options")) do
      local is_part = name == "from" or name == "to" or name == "lane"
      (is_part and part or own)[name] = value
   end
   return own, part
end

---Exports a trace, or its profile. See trace:export.
---@param trace profio.Trace
---@param kind string
---@param path string|nil
---@param given table|nil options of the export; of events and samples
---with times also from, to, lane
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function exporting.of_trace(trace, kind, path, given)
   local export = exports.named(kind)
   local own, part = parted(given)
   if export.takes == "profile" and (next(part) or not exports.is_whole(export, trace)) then
      local made, message, code = trace:profile(part)
      if not made then
         return nil, message, code
      end
      return made:export(kind, path, own)
   end
   return exporting.run(kind, "trace", trace, given, path, trace:inputs())
end

return exporting
